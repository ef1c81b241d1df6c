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
from typing import Any

from sightline import __version__
from sightline.cli.clients.lines import Line
from sightline.cli.exits import CommandError, Exit

__all__ = ["Visit", "visit"]

_ANSWER_S = 30.0
_PAUSE_S = 0.1
Question = tuple[str, dict[str, Any]]
#: Questions that any project can be asked, in the catalogue's order of families.
_ANYWHERE: tuple[Question, ...] = (
    ("vscode.lsp.workspaceSymbols", {"query": "main", "pageSize": 5}),
    ("index_status", {}),
    ("context.list_caches", {}),
)


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
    opened = await _ask(line, 0, "initialize", asked)
    await line.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
    listed = await _ask(line, 1, "tools/list", {})
    tools = [str(tool["name"]) for tool in listed["tools"]]
    connected = time.monotonic()
    about = [("vscode.lsp.documentSymbols", {"uri": Path(example).as_uri()})] if example else []
    tool, result, elsewhere = await _first_answer(line, tools, [*about, *_ANYWHERE], wait_s)
    content = result.get("content", [])
    payload = result.get("structuredContent")
    if payload is None and content:
        payload = json.loads(content[0]["text"])
    return Visit(
        version=str(opened["serverInfo"]["version"]),
        revision=str(opened["protocolVersion"]),
        tools=tools,
        tool=tool,
        about=os.path.basename(example) if example and tool and "documentSymbols" in tool else "",
        summary=str((payload or {}).get("summary", "")),
        size=len(json.dumps(payload, ensure_ascii=False)),
        has_text=bool(content),
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
    try:
        async with asyncio.timeout(_ANSWER_S):
            answer = await line.say(
                {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            )
    except TimeoutError:
        raise CommandError(f"no answer to {method} in {_ANSWER_S:.0f} s", Exit.NOT_READY) from None
    except ValueError:
        raise CommandError("what answers is not an MCP server") from None
    if answer is None or "error" in answer:
        error = (answer or {}).get("error", {})
        said = str(error.get("message", f"no answer to {method}"))
        if error.get("data", {}).get("details", {}).get("retryable"):
            raise _NotYet(said)
        if "WORKSPACE_DENIED" in said:
            raise _NotServed(said)
        missing = "PROVIDER_UNAVAILABLE" in said
        raise CommandError(_for_people(said), Exit.MISSING if missing else Exit.REFUSED)
    result: dict[str, Any] = answer["result"]
    if result.get("isError"):
        raise CommandError(str(result["content"][0]["text"]))
    return result


def _for_people(message: str) -> str:
    """A message without what is for programs: the kind of the error and its code."""
    return re.sub(r" \[[A-Z_/]+\]$", "", message).removeprefix("Internal error: ")


def _plain(name: str) -> str:
    """A tool's name without its style."""
    return name.replace("_", ".")
