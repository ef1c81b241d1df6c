"""What a client does first, done by us: connect, list the tools, make one call.

The conversation is the client's own: its name, its revision. What it is told is told the user.
"""

import asyncio
import itertools
import json
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from sightline import __version__
from sightline.cli.clients.lines import Line
from sightline.cli.exits import CommandError, Exit

__all__ = ["Visit", "visit"]

_ANSWER_S = 30.0
_PAUSE_S = 0.1
_NO_SERVER = "what answers is not an MCP server"
_T = TypeVar("_T")
Question = tuple[str, dict[str, Any]]
#: Questions that any project can be asked, in the catalogue's order of families.
_ANYWHERE: tuple[Question, ...] = (
    ("vscode.lsp.workspaceSymbols", {"query": "main", "pageSize": 5}),
    ("index_status", {}),
    ("context.list_caches", {}),
    ("read", {"of": ["."], "budget": 200}),
)


class _Server(Struct):
    version: str


class _Opened(Struct):
    serverInfo: _Server  # noqa: N815 - the wire's spelling
    protocolVersion: str  # noqa: N815


class _Tool(Struct):
    name: str


class _Listed(Struct):
    tools: list[_Tool]


class _Content(Struct):
    text: str = ""


class _Called(Struct):
    content: list[_Content] = []
    structuredContent: dict[str, Any] | None = None  # noqa: N815
    isError: bool = False  # noqa: N815


class _Details(Struct):
    retryable: bool


class _Data(Struct):
    details: _Details


class _Error(Struct):
    message: str = ""
    data: object = None


@dataclass(frozen=True)
class Visit:
    """What was seen."""

    version: str
    revision: str
    tools: list[str]
    #: The tool that was called; ``None`` if no question fits the catalogue.
    tool: str | None
    #: The file it was asked about.
    about: str
    summary: str
    size: int
    #: Whether the answer came as text too.
    has_text: bool
    connect_s: float
    call_s: float
    #: Whether the file was asked about and lies in none of the server's roots.
    elsewhere: bool = False


async def visit(
    line: Line, name: str, revision: str, *, example: str | None, wait_s: float
) -> Visit:
    """Connects, lists the tools and makes one call, waiting while the server asks for it.

    ``example`` is a file to ask about. A server that does not serve it is asked something else.
    """
    began = time.monotonic()
    asked = {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": name, "version": __version__},
    }
    opened = _read(await _ask(line, 0, "initialize", asked), _Opened)
    await _say(line, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = _read(await _ask(line, 1, "tools/list", {}), _Listed)
    tools = [tool.name for tool in listed.tools]
    connected = time.monotonic()
    about = [("vscode.lsp.documentSymbols", {"uri": Path(example).as_uri()})] if example else []
    tool, result, elsewhere = await _first_answer(line, tools, [*about, *_ANYWHERE], wait_s)
    called = _read(result, _Called)
    payload = called.structuredContent
    if payload is None and called.content:
        text = called.content[0].text
        # What is asked by name is answered in words, of which the first line says what it is about.
        payload = {"summary": text.partition("\n")[0]} if tool == "read" else _payload(text)
    return Visit(
        version=opened.serverInfo.version,
        revision=opened.protocolVersion,
        tools=tools,
        tool=tool,
        about=os.path.basename(example) if example and tool and "documentSymbols" in tool else "",
        summary=str((payload or {}).get("summary", "")),
        size=len(json.dumps(payload, ensure_ascii=False)),
        has_text=bool(called.content),
        connect_s=connected - began,
        call_s=time.monotonic() - connected,
        elsewhere=elsewhere,
    )


async def _first_answer(
    line: Line, tools: list[str], questions: list[Question], wait_s: float
) -> tuple[str | None, dict[str, Any], bool]:
    """The answer to the first question that the catalogue has a tool for, and whether one before
    it was about a file that is not served."""
    elsewhere = False
    listed = {_plain(tool): tool for tool in tools}
    numbers = itertools.count(2)
    for name, arguments in questions:
        tool = listed.get(_plain(name))
        if tool is None:
            continue
        params = {"name": tool, "arguments": arguments}
        until = time.monotonic() + wait_s
        while True:
            try:
                answer = await _ask(line, next(numbers), "tools/call", params)
                return tool, answer, elsewhere
            except _NotServed:
                elsewhere = True
                break
            except CommandError as missing:
                # A project without code that a server is for can still be searched.
                if missing.code is not Exit.MISSING or "uri" in arguments:
                    raise
                break
            except _NotYet as busy:
                if time.monotonic() > until:
                    raise CommandError(str(busy), Exit.NOT_READY) from None
                await asyncio.sleep(_PAUSE_S)
    return None, {}, elsewhere


class _NotServed(Exception):
    """The file lies in none of the server's roots."""


class _NotYet(Exception):
    """The server asks for patience."""


async def _ask(line: Line, number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    answer = await _say(line, message)
    if answer is None or "error" in answer:
        error = _read((answer or {}).get("error", {}), _Error)
        said = error.message or f"no answer to {method}"
        if _is_retryable(error.data):
            raise _NotYet(said)
        if "WORKSPACE_DENIED" in said:
            raise _NotServed(said)
        missing = "PROVIDER_UNAVAILABLE" in said
        raise CommandError(_for_people(said), Exit.MISSING if missing else Exit.REFUSED)
    result = answer.get("result")
    if not isinstance(result, dict):
        raise CommandError(_NO_SERVER)
    called = _read(result, _Called)
    if called.isError:
        raise CommandError(called.content[0].text if called.content else f"{method} failed")
    return result


async def _say(line: Line, message: dict[str, Any]) -> dict[str, Any] | None:
    try:
        async with asyncio.timeout(_ANSWER_S):
            return await line.say(message)
    except TimeoutError:
        raise CommandError(
            f"no answer to {message['method']} in {_ANSWER_S:.0f} s", Exit.NOT_READY
        ) from None
    except (ValueError, RecursionError):
        raise CommandError(_NO_SERVER) from None


def _is_retryable(data: object) -> bool:
    """What an error tells besides its message is for each server to choose."""
    try:
        return msgspec.convert(data, _Data).details.retryable
    except msgspec.ValidationError:
        return False


def _read(value: object, shape: type[_T]) -> _T:
    """What a server said, in the shape that MCP asks for. Whatever else is in it is its own."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError:
        raise CommandError(_NO_SERVER) from None


def _payload(text: str) -> dict[str, Any]:
    try:
        return _read(json.loads(text), dict[str, Any])
    except (ValueError, RecursionError):
        raise CommandError(_NO_SERVER) from None


def _for_people(message: str) -> str:
    """A message without its code, which is for programs."""
    return re.sub(r" \[[A-Z_/]+\]$", "", message)


def _plain(name: str) -> str:
    """A tool's name without its style."""
    return name.replace("_", ".")
