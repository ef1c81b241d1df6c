"""The caps are the contract's numbers."""

import pytest

from sightline.contract import limits
from tests.vectors import load

CAPS = load("gateway")["caps"]


@pytest.mark.requirement("GW-5.1-numbers", "GW-1.4-bounded")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_request_bytes", limits.MAX_REQUEST_BYTES),
        ("max_response_bytes", limits.MAX_RESPONSE_BYTES),
        (
            "response_cap_setting_range",
            [limits.MIN_RESPONSE_BYTES_SETTING, limits.MAX_RESPONSE_BYTES],
        ),
        ("request_timeout_ms", limits.REQUEST_TIMEOUT_MS),
        ("timeout_setting_range", [limits.MIN_REQUEST_TIMEOUT_MS, limits.REQUEST_TIMEOUT_MS]),
        ("max_page_size", limits.MAX_PAGE_SIZE),
        ("default_page_size", limits.DEFAULT_PAGE_SIZE),
        ("max_items_nonpaged", limits.MAX_ITEMS_NONPAGED),
        ("refs_total", limits.MAX_REFERENCES_ITEMS_TOTAL),
        ("refs_raw", limits.MAX_REFERENCES_RAW),
        ("wsym_total", limits.MAX_WORKSPACE_SYMBOLS_ITEMS_TOTAL),
        ("diag_files_total", limits.MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL),
        ("docsym_nodes_visited", limits.MAX_DOCUMENT_SYMBOL_NODES),
        ("max_sessions", limits.MAX_SESSIONS),
        ("max_tokens", limits.MAX_TOKENS),
        ("schema_issues_max", limits.MAX_SCHEMA_ISSUES),
        ("query_max_codepoints", limits.MAX_QUERY_CODE_POINTS),
        ("hover_fragments", limits.MAX_HOVER_FRAGMENTS),
        ("hover_fragment_codepoints", limits.MAX_HOVER_FRAGMENT_CODE_POINTS),
        ("log_line_chars", limits.MAX_LOG_LINE_CHARS),
    ],
)
def test_known_caps(name: str, value: object) -> None:
    assert value == CAPS[name]


def test_every_known_cap_is_compared() -> None:
    compared = {row[0] for row in test_known_caps.pytestmark[0].args[1]}  # type: ignore[attr-defined]
    assert compared == set(CAPS)


def test_the_longest_reference_list_can_be_kept() -> None:
    """20,000 references with paths as long as Linux allows would not fit; long real ones do."""
    assert limits.MAX_REFERENCES_ITEMS_TOTAL * 1_024 < limits.RETAINED_SET_BYTES
