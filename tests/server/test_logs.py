"""The log: JSON lines, redacted, bounded, never a reason to fail."""

import io
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.limits import MAX_LOG_FIELD_CHARS, MAX_LOG_LINE_CHARS
from sightline.server.logs import Log, redact
from tests.vectors import load

VECTORS = load("gateway")
TOKEN = "hE3lo-4nd_g00d-bye-0123456789abcdefABCDEF012"


def written(event: str = "event", **fields: object) -> dict[str, Any]:
    stream = io.StringIO()
    log = Log(stream, debug=True, now=lambda: datetime(2025, 1, 2, 3, 4, 5, 678_000, UTC))
    log.info(event, **fields)
    (line,) = stream.getvalue().splitlines()
    entry: dict[str, Any] = json.loads(line)
    return entry


def test_one_json_object_per_line() -> None:
    assert written("call", tool="x", ms=1.5, ok=True, nothing=None) == {
        "ts": "2025-01-02T03:04:05.678Z",
        "level": "info",
        "event": "call",
        "tool": "x",
        "ms": 1.5,
        "ok": True,
        "nothing": None,
    }


@pytest.mark.requirement("GA-safe-logs")
@given(st.dictionaries(st.sampled_from(["a", "b", "c"]), st.text(max_size=5_000)))
def test_any_text_stays_on_one_bounded_line(fields: dict[str, str]) -> None:
    stream = io.StringIO()
    Log(stream).info("event", **fields)
    text = stream.getvalue()
    assert text.count("\n") == 1 and text.endswith("\n")
    assert len(text) <= MAX_LOG_LINE_CHARS + 1
    assert text.isascii() and text.rstrip("\n").isprintable()
    entry = json.loads(text)
    assert all(len(str(entry.get(name, ""))) <= MAX_LOG_FIELD_CHARS for name in fields)


@pytest.mark.requirement("GA-safe-logs")
def test_a_line_of_many_fields_is_cut_at_a_fixed_length() -> None:
    few = {f"field{number}": "x y " * 60 for number in range(7)}
    assert written(**few).keys() >= few.keys(), "each field is within its own limit"
    stream = io.StringIO()
    Log(stream).info("event", **few, **{f"more{number}": "x y " * 60 for number in range(9)})
    assert len(stream.getvalue()) <= MAX_LOG_LINE_CHARS + 1
    entry = json.loads(stream.getvalue())
    assert (entry["event"], entry["cut"]) == ("event", True)


@pytest.mark.requirement("GA-safe-logs", "GA-nothing-logged")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Authorization: Bearer {TOKEN}", "Authorization: Bearer [redacted]"),
        ("bearer short", "bearer [redacted]"),
        ("MCP-Session-Id: abc", "MCP-Session-Id: [redacted]"),
        ("MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: [redacted]"),
        (f"token={TOKEN}", "token=[redacted]"),
        ("cannot open /home/user/secret/file.py", "cannot open file.py"),
        ("file:///home/user/file.py:3", "file.py:3"),
        ("('/home/user/file.py')", "('file.py')"),
        ("nothing to hide in a/b.py", "nothing to hide in a/b.py"),
    ],
)
def test_redaction(text: str, shown: str) -> None:
    assert redact(text) == shown
    assert written(detail=text)["detail"] == shown


@pytest.mark.parametrize("row", VECTORS["redact_string"])
def test_known_redaction(row: dict[str, str]) -> None:
    assert redact(row["in"]) == row["out"]


@pytest.mark.parametrize(
    "key", ["authorization", "Authorization", "cookie", "token", "tokens", "MCP-Session-Id"]
)
def test_secret_fields_are_masked_whole(key: str) -> None:
    assert written(**{key: "x"})[key] == "[redacted]"


def test_debug_lines_are_only_written_when_asked_for() -> None:
    stream = io.StringIO()
    Log(stream).debug("event")
    assert stream.getvalue() == ""
    Log(stream, debug=True).debug("event")
    assert json.loads(stream.getvalue())["level"] == "debug"


@pytest.mark.requirement("GW-6.3-INTERNAL")
def test_a_bug_is_logged_by_its_type_and_place_alone() -> None:
    stream = io.StringIO()
    try:
        raise KeyError("PLANTED /home/user/secret")
    except KeyError as error:
        Log(stream).bug(error)
    entry = json.loads(stream.getvalue())
    assert (entry["event"], entry["type"]) == ("bug", "KeyError")
    assert entry["where"].startswith("test_logs.py:")
    assert "PLANTED" not in stream.getvalue() and "/" not in entry["where"]


def test_a_closed_stream_is_no_reason_to_fail() -> None:
    stream = io.StringIO()
    stream.close()
    Log(stream).warning("event")
