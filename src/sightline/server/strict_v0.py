"""The original context server over standard input and output, line for line.

``sightline stdio --tools context --strict-v0`` is for clients that were tested against
``mcp-context-server`` 0.1.0 and nothing else. It keeps that server's own rules of messages: a list
may stand for a request, a request without an id is answered without one, parse errors carry no id,
and some errors are plain sentences. Everybody else is better served by the strict protocol of
``stdio``. One message at a time, in order; the end of input ends the server.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from sightline.calls.families import CONTEXT_MESSAGES
from sightline.context.caches import Caches
from sightline.context.output import Output, compact, quoted
from sightline.context.problems import (
    CacheProblem,
    ManifestInvalid,
    ManifestMissing,
    ManifestUnreadable,
    NoSuchCache,
    RootUnreadable,
)
from sightline.context.reader import Field, Reader, Refused
from sightline.context.stopping import Stop
from sightline.context.words import WHITE_SPACE
from sightline.contract.limits import MAX_CONTEXT_CACHE_BYTES, MAX_REQUEST_BYTES
from sightline.server.strict_v0_arguments import CALL, INSPECT, RESOLVE, BadArguments, arguments

__all__ = ["StrictServer"]

_CHUNK = 1 << 16
#: With a time limit of 0 the original still answers what takes a moment only.
_LEAST_S = 0.25

_CODES: dict[type[CacheProblem], str] = {
    NoSuchCache: "cache_missing",
    RootUnreadable: "io_error",
    ManifestMissing: "cache_invalid",
    ManifestInvalid: "cache_invalid",
    ManifestUnreadable: "io_error",
}

_CACHE: Output = {
    "description": "Cache directory name (relative to CONTEXT_CACHE_ROOT)",
    "type": "string",
}
_INITIALIZE: Output = {
    "capabilities": {"tools": {}},
    "protocolVersion": "2024-11-05",
    "serverInfo": {"name": "mcp-context-server", "version": "0.1.0"},
}
_TOOLS: Output = {
    "tools": [
        {
            "description": "Resolve context from a cache using a query and token budget",
            "inputSchema": {
                "properties": {
                    "budget": {
                        "description": "Maximum token budget for selected context",
                        "minimum": 0,
                        "type": "integer",
                    },
                    "cache": _CACHE,
                    "query": {
                        "description": "Search query for context selection",
                        "type": "string",
                    },
                },
                "required": ["cache", "query", "budget"],
                "type": "object",
            },
            "name": "context.resolve",
        },
        {
            "description": "List available context caches under the server's cache root",
            "inputSchema": {"properties": {}, "type": "object"},
            "name": "context.list_caches",
        },
        {
            "description": "Inspect cache structure, metadata, and validity",
            "inputSchema": {
                "properties": {"cache": _CACHE},
                "required": ["cache"],
                "type": "object",
            },
            "name": "context.inspect_cache",
        },
    ]
}


class Request(NamedTuple):
    jsonrpc: str
    id: int | str | None
    method: str
    params: Any


class _Error(Exception):
    """A JSON-RPC error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class _ToolError(Exception):
    """A tool result that is an error. The text is the result's."""


class StrictServer:
    def __init__(self, caches: Caches, timeout_s: float) -> None:
        self._caches = caches
        self._timeout_s = max(timeout_s, _LEAST_S)
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="resolve")
        self._initialized = False

    def serve(self, read_fd: int, write_fd: int) -> None:
        """Answers every line until the input ends or nobody reads the answers."""
        try:
            for line in _lines(read_fd):
                answer = self.answer(line)
                while answer:
                    answer = answer[os.write(write_fd, answer) :]
        except BrokenPipeError:
            pass
        finally:
            self._worker.shutdown(cancel_futures=True)

    def answer(self, line: bytes | None) -> bytes:
        """The line that answers a line, or nothing. ``None`` is a line that was too long."""
        try:
            request = _request(line)
        except (Refused, UnicodeDecodeError):
            return _line(None, error=_Error(-32700, "Parse error"))
        if request is None:
            return b""
        if request.jsonrpc != "2.0":
            return _line(request.id, error=_Error(-32600, "Invalid Request"))
        if not self._initialized and request.method != "initialize":
            if request.id is None:
                return b""
            return _line(request.id, error=_Error(-32600, "Server not initialized"))
        try:
            result = self._result(request)
        except _Error as error:
            return _line(request.id, error=error)
        if request.method == "initialize":
            self._initialized = True
        return b"" if result is None else _line(request.id, result=result)

    def _result(self, request: Request) -> bytes | None:
        match request.method:
            case "initialize":
                return compact(_INITIALIZE)
            case "notifications/initialized":
                return None
            case "ping":
                return b"{}"
            case "tools/list":
                return compact(_TOOLS)
            case "tools/call":
                return self._call(request.params)
            case _:
                raise _Error(-32601, f"Method not found: {request.method}")

    def _call(self, params: object) -> bytes:
        if params is None:
            raise _Error(-32602, "Missing params for tools/call")
        try:
            name, given = arguments(params, "ToolCallParams", CALL)
        except BadArguments as bad:
            raise _Error(-32602, f"Invalid tools/call params: {bad}") from None
        try:
            text = self._tool(name, given)
        except _ToolError as error:
            return _content(str(error), b',"isError":true')
        except CacheProblem as problem:
            code = _CODES.get(type(problem), "internal_error")
            return _content(_error_text(code), b',"isError":true')
        return _content(text, b"")

    def _tool(self, name: str, given: object) -> str:
        match name:
            case "context.resolve":
                self._require(given, name)
                values = self._arguments(given, name, "ResolveContextParams", RESOLVE)
                return self._resolve(*values)
            case "context.list_caches":
                return self._caches.listing().decode()
            case "context.inspect_cache":
                self._require(given, name)
                values = self._arguments(given, name, "InspectCacheParams", INSPECT)
                return self._caches.inspect(*values).decode()
            case "health":
                return '{"status":"ok"}'
            case _:
                raise _ToolError(f"Unknown tool: {name}")

    def _require(self, given: object, name: str) -> None:
        if given is None:
            raise _ToolError(f"Missing arguments for {name}")

    def _arguments(self, given: object, tool: str, name: str, expected: Any) -> list[Any]:  # noqa: ANN401
        try:
            return arguments(given, name, expected)
        except BadArguments as bad:
            raise _ToolError(f"Invalid arguments for {tool}: {bad}") from None

    def _resolve(self, cache: str, query: str, budget: int) -> str:
        if budget < 0:
            raise _ToolError(_error_text("invalid_budget"))
        self._caches.locate(cache)
        stop = Stop()
        work = self._worker.submit(self._selected, cache, query, budget, stop.check)
        try:
            return work.result(self._timeout_s)
        except CacheProblem:
            raise
        except Exception:  # too late, or whatever went wrong: the original says no more than this
            stop.set()
            raise _ToolError(_error_text("internal_error")) from None

    def _selected(self, cache: str, query: str, budget: int, pause: Callable[[], None]) -> str:
        pieces: list[str] = []
        size = 0
        for piece in self._caches.resolve(cache, query, budget, pause).compact():
            pause()
            pieces.append(piece)
            size += len(piece)
            if size > MAX_CONTEXT_CACHE_BYTES:
                raise OverflowError("the answer is larger than it may be")
        return "".join([*pieces, "\n"])


def _request(line: bytes | None) -> Request | None:
    """The request in a line; ``None`` for a blank one."""
    if line is None:
        raise Refused("the line is too long")
    text = line.decode("utf-8").strip(WHITE_SPACE)
    if not text:
        return None
    reader = Reader(text.encode())
    request = Request(*reader.struct("JsonRpcRequest", _REQUEST))
    reader.end()
    return request


def _id(reader: Reader) -> int | str:
    value = reader.value()
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63:
        return value
    raise Refused("an id is an integer or a string")


_REQUEST = (
    Field("jsonrpc", Reader.text),
    Field("id", lambda r: r.optional(_id), optional=True),
    Field("method", Reader.text),
    Field("params", lambda r: r.optional(Reader.value), optional=True),
)


def _line(
    id: int | str | None, *, result: bytes | None = None, error: _Error | None = None
) -> bytes:
    shown = b"" if id is None else b',"id":%b' % compact(id)
    if error is not None:
        body = b'"error":{"code":%d,"message":%b}' % (error.code, quoted(str(error)).encode())
    else:
        body = b'"result":%b' % (result or b"")
    return b'{"jsonrpc":"2.0"%b,%b}\n' % (shown, body)


def _content(text: str, flag: bytes) -> bytes:
    return b'{"content":[{"text":%b,"type":"text"}]%b}' % (quoted(text).encode(), flag)


def _error_text(code: str) -> str:
    return compact({"error": {"code": code, "message": CONTEXT_MESSAGES[code]}}).decode() + "\n"


def _lines(descriptor: int) -> Iterator[bytes | None]:
    """The lines of a stream with their ends; ``None`` for one longer than a message may be."""
    buffer = bytearray()
    skipping = False
    while chunk := os.read(descriptor, _CHUNK):
        buffer += chunk
        while (end := buffer.find(b"\n")) >= 0:
            line = bytes(buffer[: end + 1])
            del buffer[: end + 1]
            yield None if skipping or len(line) > MAX_REQUEST_BYTES else line
            skipping = False
        if len(buffer) > MAX_REQUEST_BYTES:
            skipping = True
            buffer.clear()
    if buffer or skipping:
        yield None if skipping else bytes(buffer)
