"""One JSON-RPC 2.0 message, read strictly.

``read`` accepts exactly one object in strict UTF-8 without a byte-order mark, without duplicate or
unknown envelope members, at most 64 levels deep, with finite numbers and whole characters only.
Batches are refused: every revision of MCP this program speaks on HTTP does without them.

>>> read(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
Request(id=1, method='ping', params=None)
"""

import json
import math
from enum import Enum
from typing import Any, NamedTuple

import msgspec

from sightline.contract.canonical import canonical_json
from sightline.contract.limits import MAX_ID_BYTES, MAX_JSON_DEPTH

__all__ = [
    "CANCELLED",
    "INTERNAL_ERROR",
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "METHOD_NOT_FOUND",
    "PARSE_ERROR",
    "Error",
    "Fault",
    "Id",
    "Malformed",
    "Message",
    "Notification",
    "Params",
    "Request",
    "Response",
    "error_bytes",
    "id_key",
    "is_id",
    "notification_bytes",
    "parse",
    "read",
    "result_bytes",
]

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800

Id = str | int | float
#: Parsed JSON of a peer. Its shape is unknown until a method or a schema has looked at it.
Params = dict[str, Any] | list[Any] | None

_MEMBERS = frozenset({"jsonrpc", "id", "method", "params", "result", "error"})
#: Numbers from here on have more digits than an id may have bytes.
_TOO_LONG = 10**MAX_ID_BYTES
_CONTAINERS = (dict, list)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode
_NOT_PLAIN = object()


class Request(NamedTuple):
    id: Id
    method: str
    params: Params


class Notification(NamedTuple):
    method: str
    params: Params


class Response(NamedTuple):
    """An answer to a request we never sent. It is well-formed, and ignored."""

    id: Id


Message = Request | Notification | Response


class Error(NamedTuple):
    """A JSON-RPC error object."""

    code: int
    message: str
    data: dict[str, Any] | None = None


class Fault(Enum):
    """Why bytes are not a message."""

    PARSE = PARSE_ERROR
    INVALID = INVALID_REQUEST


class Malformed(Exception):
    """Bytes that are not a message. ``id`` is the request's, where it could be read."""

    def __init__(self, fault: Fault, id: Id | None = None) -> None:
        super().__init__(fault.name)
        self.fault = fault
        self.id = id


def read(body: bytes | bytearray | memoryview) -> Message:
    """The one message in ``body``, or ``Malformed``."""
    envelope = parse(bytes(body))
    if not isinstance(envelope, dict):
        raise Malformed(Fault.INVALID)
    id_ = envelope.get("id")
    good_id: Id | None = id_ if is_id(id_) else None
    if envelope.get("jsonrpc") != "2.0" or not envelope.keys() <= _MEMBERS:
        raise Malformed(Fault.INVALID, good_id)
    if "id" in envelope and good_id is None:
        raise Malformed(Fault.INVALID)
    if "method" in envelope:
        return _call(envelope, good_id)
    return _response(envelope, good_id)


def is_id(value: object) -> bool:
    """Whether a parsed value can name a request: a string or a number, neither empty nor huge."""
    if isinstance(value, str):
        return 0 < len(value.encode()) <= MAX_ID_BYTES
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and -_TOO_LONG < value < _TOO_LONG)


def id_key(id: Id) -> str:
    """How an id is compared: as a string, so that 8 and "8" are the same request.

    Whole numbers keep every digit: two large ids are not the same because a double would round
    them to the same value.
    """
    if isinstance(id, str):
        return id
    return canonical_json(id) if isinstance(id, float) else str(id)


def result_bytes(id: Id, result: msgspec.Raw | dict[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", "id": _spelled(id), "result": result})


def error_bytes(id: Id | None, error: Error) -> bytes:
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    return _encode({"jsonrpc": "2.0", "id": None if id is None else _spelled(id), "error": body})


def notification_bytes(method: str, params: dict[str, Any]) -> bytes:
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _spelled(id: Id) -> Id | msgspec.Raw:
    """Numbers as they are compared, which also spells 1.0 as 1 and takes any number of digits."""
    return id if isinstance(id, str) else msgspec.Raw(id_key(id).encode())


def _call(envelope: dict[str, Any], id: Id | None) -> Request | Notification:
    method, params = envelope["method"], envelope.get("params")
    if not isinstance(method, str) or not method.strip():
        raise Malformed(Fault.INVALID, id)
    if "result" in envelope or "error" in envelope:
        raise Malformed(Fault.INVALID, id)
    if "params" in envelope and not isinstance(params, _CONTAINERS):
        raise Malformed(Fault.INVALID, id)
    return Notification(method, params) if id is None else Request(id, method, params)


def _response(envelope: dict[str, Any], id: Id | None) -> Response:
    if "result" not in envelope and "error" not in envelope:
        raise Malformed(Fault.INVALID, id)  # a request that lacks its method
    if id is None or "params" in envelope or ("result" in envelope) == ("error" in envelope):
        raise Malformed(Fault.INVALID)  # its id would name a request of the client's own
    if "error" in envelope:
        match envelope["error"]:
            case {"code": int() | float() as code, "message": str(message)} if (
                message.strip() and not isinstance(code, bool)
            ):
                pass
            case _:
                raise Malformed(Fault.INVALID)
    return Response(id)


def parse(body: bytes) -> Any:  # noqa: ANN401 - JSON of unknown shape
    """Strict JSON: nothing that two readers could understand in two ways."""
    value = _parse_plain(body)
    if value is _NOT_PLAIN:
        value = _parse_any(body)
    if body.count(b"{") + body.count(b"[") > MAX_JSON_DEPTH and _depth(value) > MAX_JSON_DEPTH:
        raise Malformed(Fault.PARSE)
    return value


def _parse_plain(body: bytes) -> Any:  # noqa: ANN401
    """The value of JSON that is spelled as this program would spell it, but for blanks.

    The quick decoder keeps the last of several equal members and cannot tell. But bytes that are
    written again exactly as they were read held every member once.
    """
    try:
        value = _decode(body)
        spelled = _encode(value)
        if spelled == body or spelled == msgspec.json.format(body, indent=-1):
            return value
        return _NOT_PLAIN
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return _NOT_PLAIN


def _parse_any(body: bytes) -> Any:  # noqa: ANN401
    try:
        value = _decoder.decode(body.decode("utf-8"))
        if b"\\u" in body:
            _encode(value)  # refuses half a surrogate pair, which is not a character
    except (ValueError, RecursionError):
        raise Malformed(Fault.PARSE) from None
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate member")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("number out of range")
    return number


def _no_constant(text: str) -> Any:  # noqa: ANN401
    raise ValueError(f"{text} is not JSON")


_decoder = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant
)


def _depth(value: object) -> int:
    """How deeply objects and arrays are nested, counted without recursion."""
    deepest, level = 0, [value]
    while level:
        containers = [item for item in level if isinstance(item, dict | list)]
        deepest += bool(containers)
        level = [
            child
            for container in containers
            for child in (container.values() if isinstance(container, dict) else container)
        ]
    return deepest
