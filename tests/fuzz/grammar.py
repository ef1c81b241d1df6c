"""Everything the program may say, as a grammar small enough to read."""

import json
import re
from typing import Any

from sightline.contract.limits import MAX_RESPONSE_BYTES
from tests.fuzz.generate import MARK

__all__ = ["OutOfContract", "check_answer", "check_refusal"]

#: Error numbers and the messages each may carry.
_MESSAGES = {
    -32700: r"Parse error",
    -32600: r"Invalid Request(: id is in flight)?|Not initialized|Already initialized",
    -32601: r"Method not found",
    -32602: r"Invalid params: [^\n]{10,700} \[MCP_LSP_GATEWAY/[A-Z_]+\]",
    -32603: r"(?!Internal error)[^\n]{10,300} \[MCP_LSP_GATEWAY/[A-Z_]+\]",
    -32800: r"Request cancelled: [^\n]{10,100} \[MCP_LSP_GATEWAY/CANCELLED\]",
}
_CODES = set(
    """
    INVALID_PARAMS WORKSPACE_DENIED URI_INVALID CURSOR_INVALID CURSOR_STALE CURSOR_EXPIRED NOT_FOUND
    CAP_EXCEEDED PROVIDER_UNAVAILABLE CANCELLED
    """.split()
)
_STATUSES = {202, 400, 401, 403, 404, 405, 406, 408, 413, 415, 431}
_RESULT_MEMBERS = {
    frozenset(),
    frozenset({"tools"}),
    frozenset({"protocolVersion", "capabilities", "serverInfo", "instructions", "_meta"}),
    frozenset({"isError", "structuredContent", "content"}),
    frozenset({"isError", "content"}),
}


class OutOfContract(AssertionError):
    """Something was said that the grammar does not know."""


def check_answer(body: bytes) -> Any:
    """One JSON-RPC message from the program, parsed."""
    _require(len(body) <= MAX_RESPONSE_BYTES, "too long", body)
    _require(b"\n" not in body and b"\r" not in body, "more than one line", body)
    answer = json.loads(body)
    spoken = json.dumps({name: value for name, value in answer.items() if name != "id"})
    _require(MARK not in spoken, "repeats what it was sent", body)
    if "method" in answer:
        _require(answer.keys() == {"jsonrpc", "method", "params"}, "notification", body)
        _require(answer["method"] == "notifications/progress", "notification", body)
        return answer
    _require(answer["jsonrpc"] == "2.0" and "id" in answer, "envelope", body)
    if "result" in answer:
        _require(answer.keys() == {"jsonrpc", "id", "result"}, "members", body)
        _require(answer["id"] is not None, "a result without an id", body)
        _require(frozenset(answer["result"]) in _RESULT_MEMBERS, "result", body)
        return answer
    _require(answer.keys() == {"jsonrpc", "id", "error"}, "members", body)
    _check_error(answer["error"], body)
    return answer


def _check_error(error: Any, body: bytes) -> None:
    _require(error.keys() <= {"code", "message", "data"}, "error members", body)
    pattern = _MESSAGES.get(error["code"])
    _require(pattern is not None, "error number", body)
    assert pattern is not None
    _require(re.fullmatch(pattern, error["message"]) is not None, "error message", body)
    if error["code"] in (-32602, -32603, -32800):
        data = error["data"]
        _require(data.keys() <= {"code", "details"}, "error data", body)
        code = data["code"].removeprefix("MCP_LSP_GATEWAY/")
        _require(code in _CODES, "error code", body)
        _require(f"[MCP_LSP_GATEWAY/{code}]" in error["message"], "code in the message", body)


def check_refusal(status: int, headers: dict[str, str], body: bytes) -> None:
    """An HTTP answer that is not 200."""
    _require(status in _STATUSES, f"status {status}", body)
    _require(body == b"" and headers.get("content-length") == "0", "a body", body)
    _require(headers.keys() <= {"content-length", "connection", "allow", "www-authenticate"},
             f"headers {sorted(headers)}", body)  # fmt: skip


def _require(holds: bool, what: str, body: bytes) -> None:
    if not holds:
        raise OutOfContract(f"{what}: {body[:500]!r}")
