"""How each family spells a failure: the table of the contract, one row per kind."""

import json
from typing import Any

import msgspec
import pytest

from sightline.calls import families
from sightline.contract import failures as f
from sightline.contract import limits
from sightline.contract.failures import Failure
from sightline.contract.settings import Content, Family
from sightline.protocol.jsonrpc import Error
from sightline.protocol.revisions import STDIO_REVISIONS
from tests.vectors import load

VECTORS = load("gateway")
OLDEST, *_, NEWEST = STDIO_REVISIONS

#: The public codes of the index tools.
INDEX_CODES = set(
    """
    INVALID_REQUEST NOT_FOUND NO_INDEX CAPABILITY_MISSING QUEUE_OVERLOADED TOOL_TIMEOUT CANCELLED
    INTERNAL UNAUTHORIZED FORBIDDEN DOWNLOAD_VERIFY_FAILED ARCHIVE_UNSAFE ARCHIVE_TOO_LARGE
    """.split()
)
LSP_CODES = set(
    """
    INVALID_PARAMS WORKSPACE_DENIED URI_INVALID CURSOR_INVALID CURSOR_STALE CURSOR_EXPIRED
    SNAPSHOT_TOO_LARGE NOT_FOUND CAP_EXCEEDED PROVIDER_UNAVAILABLE INTERNAL CANCELLED
    """.split()
)


def leaves(top: type[Failure] = Failure) -> list[type[Failure]]:
    below = top.__subclasses__()
    found = [leaf for child in below for leaf in leaves(child)]
    # InvalidArguments is raised itself and has a more special kind below it.
    return found + ([top] if not below or top is f.InvalidArguments else [])


def make(kind: type[Failure]) -> Failure:
    extra: dict[str, Any] = {"waiting_for": "ty"} if kind is f.NotReady else {}
    extra |= {"timeout_ms": 2_000} if kind is f.TimedOut else {}
    return kind(**extra)


def test_every_kind_has_a_row() -> None:
    assert set(leaves()) == set(families.CODES)


@pytest.mark.requirement("ST-6-codes")
def test_only_public_codes_are_used() -> None:
    rows = families.CODES.values()
    assert {code for (_, code), _, _ in rows} == LSP_CODES
    assert {code for _, code, _ in rows if code} <= INDEX_CODES
    assert {code for _, _, code in rows if code} <= set(families.CONTEXT_MESSAGES)


@pytest.mark.requirement("GW-6.3-data-code", "GW-3.0-errors")
@pytest.mark.parametrize("kind", leaves(), ids=lambda kind: kind.__name__)
def test_the_lsp_family(kind: type[Failure]) -> None:
    failure = make(kind)
    error = families.failed("lsp", failure)
    assert isinstance(error, Error) and error.data is not None
    assert error.code in (-32602, -32603, -32800)
    code = error.data["code"]
    assert code.startswith("MCP_LSP_GATEWAY/")
    openings = {-32602: "Invalid params: ", -32603: "", -32800: "Request cancelled: "}
    opening = "Internal error: " if kind is f.Bug else openings[error.code]
    assert error.message == f"{opening}{failure.advice} [{code}]"
    assert error.data.keys() <= {"code", "details"}
    assert error.data.get("details", {}) == failure.details


@pytest.mark.requirement("GW-6.2-base-codes")
@pytest.mark.parametrize(
    ("row", "kind"),
    list(
        zip(
            VECTORS["error_shapes"],
            [
                f.WorkspaceDenied,
                f.UriInvalid,
                f.NotFound,
                f.Unavailable,
                f.TimedOut,
                f.TooLarge,
                f.TooMany,
                f.TooMany,
                f.TooMany,
                f.TooMany,
                f.CursorInvalid,
                f.CursorStale,
                f.CursorExpired,
                f.SnapshotTooLarge,
                f.Bug,
            ],
            strict=True,
        )
    ),
    ids=lambda value: value["when"] if isinstance(value, dict) else "",
)
def test_known_shapes(row: dict[str, Any], kind: type[Failure]) -> None:
    error = families.failed("lsp", make(kind))
    assert isinstance(error, Error) and error.data is not None
    assert (error.code, error.data["code"]) == (row["jsonrpc_code"], row["code"])


@pytest.mark.requirement("ST-5.2-error-members")
@pytest.mark.parametrize("kind", leaves(), ids=lambda kind: kind.__name__)
def test_the_index_family(kind: type[Failure]) -> None:
    outcome = families.failed("index", make(kind))
    if kind is f.UnknownTool:
        assert isinstance(outcome, Error)
        return
    assert isinstance(outcome, msgspec.Raw)
    body = text_of(outcome)
    assert isinstance(body["message"], str) and body["code"] in INDEX_CODES
    assert body.keys() <= {"message", "code", "timeoutMs", "details", "hint"}
    assert isinstance(body["hint"], str)


def test_a_hint_is_a_step_and_no_second_message() -> None:
    """A hint that told a cause could tell another one than the message does."""
    due = {kind for kind, (_, code, _) in families.CODES.items() if code}
    assert families.INDEX_HINTS.keys() == due
    steps = {"ask", "call", "drop", "fix", "narrow", "pass", "report", "retry", "run", "search",
             "try"}  # fmt: skip
    for kind, hint in families.INDEX_HINTS.items():
        assert hint.partition(" ")[0] in steps, kind


@pytest.mark.requirement("ST-8.1-code")
def test_a_time_limit_of_the_index_family() -> None:
    outcome = families.failed("index", f.TimedOut(timeout_ms=120_000))
    assert isinstance(outcome, msgspec.Raw)
    body = text_of(outcome)
    assert (body["code"], body["timeoutMs"]) == ("TOOL_TIMEOUT", 120_000)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (f.CursorInvalid, "cursor_invalid"),
        (f.CursorStale, "cursor_stale"),
        (f.CursorExpired, "cursor_expired"),
        (f.SnapshotTooLarge, "snapshot_too_large"),
    ],
)
def test_a_bad_cursor_of_the_index_family(kind: type[Failure], reason: str) -> None:
    outcome = families.failed("index", kind())
    assert isinstance(outcome, msgspec.Raw)
    body = text_of(outcome)
    assert (body["code"], body["details"]) == ("INVALID_REQUEST", {"reason": reason})


@pytest.mark.requirement("ST-7.1-code")
def test_a_cancelled_call_in_each_family() -> None:
    lsp = families.failed("lsp", f.Cancelled())
    assert isinstance(lsp, Error) and lsp.data == {"code": "MCP_LSP_GATEWAY/CANCELLED"}
    assert lsp.code == -32800
    index = families.failed("index", f.Cancelled())
    assert isinstance(index, msgspec.Raw) and text_of(index)["code"] == "CANCELLED"
    context = families.failed("context", f.Cancelled())
    assert isinstance(context, msgspec.Raw)
    assert text_of(context)["error"]["code"] == "internal_error"


@pytest.mark.parametrize("kind", leaves(), ids=lambda kind: kind.__name__)
def test_the_context_family_is_frozen(kind: type[Failure]) -> None:
    outcome = families.failed("context", make(kind))
    if isinstance(outcome, Error):
        assert outcome.code in (-32602, -32603)
        return
    error = text_of(outcome)["error"]
    assert error == {"code": error["code"], "message": families.CONTEXT_MESSAGES[error["code"]]}


@pytest.mark.requirement("GW-3.0-envelope", "GW-3.0-not-mirrored", "GS-6.1-content")
@pytest.mark.parametrize(
    ("content", "texts"),
    [("empty", []), ("summary", ["Found 1."]), ("mirror", ['{"a":"ü"}'])],
)
def test_an_answer_of_the_lsp_family(content: Content, texts: list[str]) -> None:
    result = succeeded("lsp", content, NEWEST)
    assert list(result) == ["isError", "structuredContent", "content"]
    assert result["isError"] is False and result["structuredContent"] == {"a": "ü"}
    assert [entry["text"] for entry in result["content"]] == texts
    assert all(entry["type"] == "text" for entry in result["content"])


def test_a_revision_without_structured_content_gets_text() -> None:
    for content in ("empty", "summary", "mirror"):
        result = succeeded("lsp", content, OLDEST)
        assert "structuredContent" not in result
        assert json.loads(result["content"][0]["text"]) == {"a": "ü"}


@pytest.mark.parametrize("family", ["index", "context"])
def test_other_families_answer_with_text_as_well(family: Family) -> None:
    result = succeeded(family, "empty", NEWEST)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"] == {"a": "ü"}


def test_limits() -> None:
    def of(family: Family, tool: str = "x") -> families.Limits:
        return families.limits_of(
            family, tool, request_timeout_ms=1_000, max_response_bytes=20_000, context_ms=30_000
        )

    assert of("lsp") == families.Limits(1_000, 20_000, goes_on=True)
    assert of("index") == families.Limits(120_000, 20_000, goes_on=False)
    assert of("index", "index_build") == families.Limits(600_000, 20_000, goes_on=False)
    assert of("context") == families.Limits(30_000, 4 * limits.MIB, goes_on=False)


def succeeded(family: Family, content: Content, revision: Any) -> dict[str, Any]:
    raw = families.succeeded(
        family, '{"a":"ü"}'.encode(), "Found 1.", content=content, revision=revision
    )
    result: dict[str, Any] = json.loads(raw)
    return result


def text_of(outcome: msgspec.Raw) -> dict[str, Any]:
    result = json.loads(bytes(outcome))
    assert result["isError"] is True and "structuredContent" not in result
    (entry,) = result["content"]
    assert entry["type"] == "text"
    body: dict[str, Any] = json.loads(entry["text"])
    return body
