"""How each family of tools spells a failure and wraps an answer. Nobody else knows these words.

``lsp`` fails with a JSON-RPC error whose message carries the code, because clients show models
nothing else. ``index`` fails with an ``isError`` result whose text is JSON. ``context`` has a
frozen error schema: a code and a canonical message, never more. ``code`` answers and fails in
plain text: what is wrong, then the next step.
"""

import json
from typing import Any, NamedTuple

import msgspec

from sightline.contract import failures as f
from sightline.contract import limits
from sightline.contract.failures import Failure
from sightline.contract.settings import Content, Family
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Error
from sightline.protocol.revisions import Revision

__all__ = ["CODES", "CONTEXT_MESSAGES", "INDEX_HINTS", "Limits", "failed", "limits_of", "succeeded"]

_NAMESPACE = "MCP_LSP_GATEWAY/"
_PARAMS, _INTERNAL = jsonrpc.INVALID_PARAMS, jsonrpc.INTERNAL_ERROR
_CANCELLED = jsonrpc.CANCELLED
#: What a message begins with. -32603 is also the number of conditions that a user can change, such
#: as a language server that is not installed: their messages say what is wrong and nothing before.
_OPENINGS = {_PARAMS: "Invalid params: ", _CANCELLED: "Request cancelled: "}
_BUG_OPENING = "Internal error: "

#: The error table of docs/CONTRACT.md section 6: per failure, the ``lsp`` number and code, the
#: ``index`` code and the ``context`` code. ``None``: this failure cannot happen in that family.
CODES: dict[type[Failure], tuple[tuple[int, str], str | None, str | None]] = {
    f.InvalidArguments: ((_PARAMS, "INVALID_PARAMS"), "INVALID_REQUEST", None),
    f.UnknownTool: ((_PARAMS, "INVALID_PARAMS"), None, None),
    f.UriInvalid: ((_PARAMS, "URI_INVALID"), "NOT_FOUND", None),
    f.WorkspaceDenied: ((_PARAMS, "WORKSPACE_DENIED"), "FORBIDDEN", "cache_missing"),
    f.NotFound: ((_INTERNAL, "NOT_FOUND"), "NOT_FOUND", "cache_missing"),
    f.NotReady: ((_INTERNAL, "CAP_EXCEEDED"), "NO_INDEX", "internal_error"),
    f.NoIndex: ((_INTERNAL, "PROVIDER_UNAVAILABLE"), "NO_INDEX", "cache_missing"),
    f.TimedOut: ((_INTERNAL, "CAP_EXCEEDED"), "TOOL_TIMEOUT", "internal_error"),
    f.Cancelled: ((_CANCELLED, "CANCELLED"), "CANCELLED", "internal_error"),
    f.Overloaded: ((_INTERNAL, "CAP_EXCEEDED"), "QUEUE_OVERLOADED", "internal_error"),
    f.TooLarge: ((_INTERNAL, "CAP_EXCEEDED"), "INVALID_REQUEST", "invalid_budget"),
    f.TooMany: ((_INTERNAL, "CAP_EXCEEDED"), "INVALID_REQUEST", "invalid_budget"),
    f.CursorInvalid: ((_PARAMS, "CURSOR_INVALID"), "INVALID_REQUEST", None),
    f.CursorStale: ((_PARAMS, "CURSOR_STALE"), "INVALID_REQUEST", None),
    f.CursorExpired: ((_PARAMS, "CURSOR_EXPIRED"), "INVALID_REQUEST", None),
    f.SnapshotTooLarge: ((_PARAMS, "SNAPSHOT_TOO_LARGE"), "INVALID_REQUEST", None),
    f.Unavailable: ((_INTERNAL, "PROVIDER_UNAVAILABLE"), "CAPABILITY_MISSING", "internal_error"),
    f.CacheMissing: ((_PARAMS, "NOT_FOUND"), None, "cache_missing"),
    f.CacheInvalid: ((_PARAMS, "NOT_FOUND"), None, "cache_invalid"),
    f.CacheUnreadable: ((_INTERNAL, "INTERNAL"), None, "io_error"),
    f.InvalidBudget: ((_PARAMS, "INVALID_PARAMS"), "INVALID_REQUEST", "invalid_budget"),
    f.DownloadUnverified: ((_INTERNAL, "INTERNAL"), "DOWNLOAD_VERIFY_FAILED", None),
    f.ArchiveUnsafe: ((_INTERNAL, "INTERNAL"), "ARCHIVE_UNSAFE", None),
    f.ArchiveTooLarge: ((_INTERNAL, "INTERNAL"), "ARCHIVE_TOO_LARGE", None),
    f.Bug: ((_INTERNAL, "INTERNAL"), "INTERNAL", "internal_error"),
}

#: The frozen messages of the ``context`` family.
CONTEXT_MESSAGES = {
    "cache_missing": "Cache does not exist",
    "cache_invalid": "Cache exists but is invalid",
    "invalid_query": "Query is invalid",
    "invalid_budget": "Budget is invalid",
    "io_error": "I/O error occurred",
    "internal_error": "Internal error",
}

#: The next step that an ``index`` error hints at. What happened is in its message alone: a hint
#: that said so, too, could say something else.
INDEX_HINTS: dict[type[Failure], str] = {
    f.InvalidArguments: f.InvalidArguments.default_advice,
    f.UriInvalid: "pass the path of a file that exists, relative to a root; search finds paths",
    f.WorkspaceDenied: f.WorkspaceDenied.default_advice,
    f.NotFound: "search again; show_file takes the path or the id of a hit",
    f.NotReady: "retry in a moment",
    f.NoIndex: "call index_build, or wait for the build that runs",
    f.TimedOut: "ask for less, or ask again: files that were read by then stay indexed",
    f.Cancelled: "call again if the answer is still wanted",
    f.Overloaded: "retry when some calls have ended",
    f.TooLarge: "ask for less",
    f.TooMany: "narrow the question",
    f.CursorInvalid: "drop the cursor and ask for the first page again",
    f.CursorStale: "drop the cursor and ask for the first page again",
    f.CursorExpired: "ask for the first page again",
    f.SnapshotTooLarge: "narrow the question",
    f.Unavailable: "run sightline doctor",
    f.InvalidBudget: f.InvalidBudget.default_advice,
    f.DownloadUnverified: "try again, or report it",
    f.ArchiveUnsafe: "report it; nothing was unpacked",
    f.ArchiveTooLarge: "report it; nothing was unpacked",
    f.Bug: "report it with what the log says",
}


class Limits(NamedTuple):
    timeout_ms: int
    response_bytes: int
    #: Whether the work goes on after the time limit, so that the retry is quick.
    goes_on: bool


def limits_of(
    family: Family,
    tool: str,
    *,
    request_timeout_ms: int,
    max_response_bytes: int,
    context_ms: int,
    code_ms: int = limits.CODE_TIMEOUT_MS,
    index_ms: int = limits.INDEX_TIMEOUT_MS,
    index_build_ms: int = limits.INDEX_BUILD_TIMEOUT_MS,
) -> Limits:
    """The hard limits of one tool under the current settings."""
    if family == "lsp":
        return Limits(request_timeout_ms, max_response_bytes, goes_on=True)
    if family == "code":
        return Limits(code_ms, max_response_bytes, goes_on=True)
    if family == "context":
        return Limits(context_ms, limits.MAX_CONTEXT_RESPONSE_BYTES, goes_on=False)
    timeout = index_build_ms if tool == "index_build" else index_ms
    return Limits(timeout, max_response_bytes, goes_on=False)


def succeeded(
    family: Family, payload: bytes, summary: str, *, content: Content, revision: Revision
) -> bytes:
    """The ``result`` of a call that has an answer. ``payload`` is its encoded JSON, or its text."""
    if family == "code":
        return b'{"isError":false,"content":[%b]}' % _text(payload.decode())
    if family == "lsp" and revision.structured and content != "mirror":
        texts = [_text(summary)] if content == "summary" and summary else []
    else:
        texts = [_text(payload.decode())]
    # A text may end its line; inside a message that would break the message's own line.
    structured = b'"structuredContent":%b,' % payload.rstrip(b"\n") if revision.structured else b""
    return b'{"isError":false,%b"content":[%b]}' % (structured, b",".join(texts))


def failed(family: Family, failure: Failure) -> msgspec.Raw | Error:
    """How a client of this family is told."""
    (number, code), index_code, context_code = CODES[type(failure)]
    if family == "lsp" or isinstance(failure, f.UnknownTool):
        return _lsp_error(number, _NAMESPACE + code, failure)
    if family == "code":
        return _is_error(_in_words(failure))
    if family == "index":
        return _is_error(
            json.dumps(_index_error(index_code or "INTERNAL", failure), ensure_ascii=False)
        )
    if context_code is None:
        return _lsp_error(number, _NAMESPACE + code, failure)
    body = {"error": {"code": context_code, "message": CONTEXT_MESSAGES[context_code]}}
    return _is_error(json.dumps(body, separators=(",", ":")) + "\n")


def _lsp_error(number: int, code: str, failure: Failure) -> Error:
    data: dict[str, Any] = {"code": code}
    if failure.details:
        data["details"] = failure.details
    opening = _BUG_OPENING if isinstance(failure, f.Bug) else _OPENINGS.get(number, "")
    return Error(number, f"{opening}{failure.advice} [{code}]", data)


def _in_words(failure: Failure) -> str:
    """A failure as a model reads it: one or more lines, nothing to parse.

    >>> _in_words(f.NotReady(waiting_for="ty to load the project"))
    'still loading; retry in a moment (waiting for ty to load the project)'
    """
    opening = _BUG_OPENING if isinstance(failure, f.Bug) else ""
    awaited = failure.details.get("waitingFor")
    return f"{opening}{failure.advice}" + (f" (waiting for {awaited})" if awaited else "")


def _index_error(code: str, failure: Failure) -> dict[str, Any]:
    body: dict[str, Any] = {"message": failure.advice, "code": code}
    if isinstance(failure, f.TimedOut):
        body["timeoutMs"] = failure.timeout_ms
    if isinstance(failure, f.CursorFailure):
        body["details"] = {"reason": failure.reason}
    elif failure.details:
        body["details"] = failure.details
    body["hint"] = INDEX_HINTS.get(type(failure), INDEX_HINTS[f.Bug])
    return body


def _is_error(text: str) -> msgspec.Raw:
    return msgspec.Raw(b'{"isError":true,"content":[%b]}' % _text(text))


def _text(text: str) -> bytes:
    return msgspec.json.encode({"type": "text", "text": text})
