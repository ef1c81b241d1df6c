"""Every hard cap, in one place. docs/CONTRACT.md section 5 lists the same numbers.

A cap is never weakened by configuration: a larger setting is clamped down to the maximum here.
"""

from typing import Final

KIB: Final = 1024
MIB: Final = 1024 * KIB

# Messages
MAX_REQUEST_BYTES: Final = 1 * MIB
MAX_RESPONSE_BYTES: Final = 512 * KIB
MIN_RESPONSE_BYTES_SETTING: Final = 16 * KIB
MIN_ANSWER_BYTES_SETTING: Final = 4 * KIB
MAX_CONTEXT_RESPONSE_BYTES: Final = 4 * MIB
MAX_JSON_DEPTH: Final = 64
MAX_ID_BYTES: Final = 256
#: Reserved in every answer for the JSON-RPC envelope and the id, so that where a page is cut does
#: not depend on which id the client chose. An id of control characters takes six bytes for each.
ENVELOPE_RESERVE_BYTES: Final = 2 * KIB

# Lists
MAX_ITEMS_NONPAGED: Final = 200
MAX_PAGE_SIZE: Final = 200
DEFAULT_PAGE_SIZE: Final = 100
MAX_REFERENCES_ITEMS_TOTAL: Final = 20_000
MAX_REFERENCES_RAW: Final = 80_000
MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL: Final = 20_000
MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL: Final = 5_000
MAX_DOCUMENT_SYMBOL_NODES: Final = 20_000
MAX_SCHEMA_ISSUES: Final = 10

# Texts
MAX_SUMMARY_CODE_POINTS: Final = 1_024
MAX_HOVER_FRAGMENTS: Final = 8
MAX_HOVER_FRAGMENT_CODE_POINTS: Final = 8_192
MAX_QUERY_CODE_POINTS: Final = 512
MAX_SEARCH_QUERY_CODE_POINTS: Final = 16_384
MAX_LOG_LINE_CHARS: Final = 2_048
MAX_LOG_FIELD_CHARS: Final = 256
MAX_DOCUMENT_BYTES: Final = 16 * MIB

# Time, in milliseconds
REQUEST_TIMEOUT_MS: Final = 2_000
MIN_REQUEST_TIMEOUT_MS: Final = 250
CODE_TIMEOUT_MS: Final = 30_000
INDEX_TIMEOUT_MS: Final = 120_000
INDEX_BUILD_TIMEOUT_MS: Final = 600_000
CONTEXT_TIMEOUT_MS: Final = 30_000
PROGRESS_INTERVAL_MS: Final = 250
TERMINATE_GRACE_MS: Final = 2_000

# Work and state
MAX_CALLS_IN_FLIGHT: Final = 256
MAX_SESSIONS: Final = 64
#: Connections of those who have shown the token, and as many of others.
MAX_CONNECTIONS: Final = 256
SESSION_IDLE_S: Final = 3_600
MAX_TOKENS: Final = 32
#: Language servers that run at a time, what one may take, and how long one may be idle.
MAX_SERVERS: Final = 16
SERVER_MEMORY_MB: Final = 4_096
SERVER_IDLE_S: Final = 900
RETAINED_SET_BYTES: Final = 32 * MIB
RETAINED_TOTAL_BYTES: Final = 128 * MIB
RETAINED_IDLE_S: Final = 600
ANSWER_CACHE_ENTRY_BYTES: Final = 1 * MIB
ANSWER_CACHE_TOTAL_BYTES: Final = 32 * MIB
#: Context caches: one file, all documents of a cache, and what loaded caches may take together.
MAX_CONTEXT_DOCUMENT_BYTES: Final = 64 * MIB
MAX_CONTEXT_CACHE_BYTES: Final = 256 * MIB
CONTEXT_LOADED_BYTES: Final = 512 * MIB
MAX_CONTEXT_TIMEOUT_S: Final = 24 * 3600
#: What all progress messages of one call may take together on an event stream.
PROGRESS_BYTES_PER_CALL: Final = 128 * KIB
