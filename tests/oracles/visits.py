"""One visit to a server, made by an official client over either transport.

The visit: connect, list the tools, a definition, references page by page, an error, a ping, a
call that asks for progress, and a clean close. Both clients are told the same and tell the same.
"""

import asyncio
import contextlib
import json
import os
import subprocess
import warnings
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPDeprecationWarning

from sightline.contract.settings import Settings
from sightline.server.compose import catalogue_for
from tests.support.http import HttpServer
from tests.support.program import environment
from tools import node

__all__ = [
    "Seen",
    "Target",
    "check",
    "heard",
    "stdio_target",
    "visit_with_python",
    "visit_with_typescript",
]

_VISIT_S = 90
_TRIES = 60


@dataclass(frozen=True)
class Target:
    """Where a client connects: the address of a server, or a command that starts one."""

    url: str | None = None
    token: str | None = None
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None

    @classmethod
    def of(cls, server: HttpServer) -> "Target":
        return cls(url=server.url, token=server.token)


@dataclass(frozen=True)
class Seen:
    """What a client saw."""

    server: str
    revision: str
    instructed: bool
    tools: list[str]
    definition: Any
    content: list[Any]
    pages: list[list[Any]]
    error: dict[str, Any]
    progress: list[Any]
    after_progress: Any


def place(root: Path) -> dict[str, Any]:
    """The use of ``area`` in main.py."""
    return {"uri": (root / "main.py").as_uri(), "position": {"line": 2, "character": 7}}


def another_place(root: Path) -> dict[str, Any]:
    """The second use in the same line: a question that was not asked before."""
    return {"uri": (root / "main.py").as_uri(), "position": {"line": 2, "character": 18}}


def heard(root: Path) -> Path:
    """The file that a client makes when it was told of progress."""
    return root.parent / "heard"


def outside() -> dict[str, Any]:
    """A place that no workspace of the tests contains."""
    return {"uri": "file:///elsewhere/main.py", "position": {"line": 0, "character": 0}}


def visit_with_typescript(target: Target, root: Path, *, probe: bool = False) -> Seen:
    """``probe``: first ask for the stateless revision, as some clients do."""
    modules = node.install("protocol")
    config = {
        "url": target.url,
        "token": target.token,
        "command": target.command,
        "env": dict(target.env),
        "cwd": str(target.cwd) if target.cwd else None,
        "place": place(root),
        "another": another_place(root),
        "outside": outside(),
        "heard": str(heard(root)),
        "probe": probe,
    }
    done = subprocess.run(
        [node.node(), Path(__file__).with_name("client.mjs"), modules, json.dumps(config)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_VISIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said.pop("ping") == {}
    problems = said.pop("problems")
    assert problems == []
    return Seen(after_progress=said.pop("afterProgress"), **said)


def visit_with_python(target: Target, root: Path, *, probe: bool = False) -> Seen:
    return asyncio.run(_visit(target, root, probe=probe))


async def _visit(target: Target, root: Path, *, probe: bool) -> Seen:
    async with asyncio.timeout(_VISIT_S), _connected(target, probe=probe) as client:
        assert client.server_info is not None
        listed = await client.list_tools()
        definition = await _patiently(client, "vscode.lsp.definition", place(root))
        pages: list[list[Any]] = []
        asked: dict[str, Any] = place(root) | {"includeDeclaration": True, "pageSize": 2}
        cursor: str | None = None
        while cursor is not None or not pages:
            more = {} if cursor is None else {"cursor": cursor}
            page = await _patiently(client, "vscode.lsp.references", asked | more)
            pages.append(page["structuredContent"]["items"])
            cursor = page["structuredContent"]["nextCursor"]
        try:
            await client.call_tool("vscode.lsp.definition", outside())
            error: dict[str, Any] = {}
        except MCPError as refused:
            error = {"code": refused.code, "message": refused.message, "data": refused.error.data}
        with warnings.catch_warnings(action="ignore", category=MCPDeprecationWarning):
            await client.send_ping()  # gone in the next revision, alive in this one
        reports: list[Any] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            reports.append({"progress": progress, "total": total, "message": message})
            heard(root).touch()

        after = await _patiently(client, "vscode.lsp.definition", another_place(root), report)
        return Seen(
            server=client.server_info.name,
            revision=client.protocol_version,
            instructed=bool(client.instructions),
            tools=[tool.name for tool in listed.tools],
            definition=definition["structuredContent"],
            content=definition["content"],
            pages=pages,
            error=error,
            progress=reports,
            after_progress=after["structuredContent"],
        )


@contextlib.asynccontextmanager
async def _connected(target: Target, *, probe: bool) -> AsyncIterator[Client]:
    mode = "auto" if probe else "legacy"
    if target.url is not None:
        headers = {"Authorization": f"Bearer {target.token}"}
        async with create_mcp_http_client(headers=headers) as http:
            transport = streamable_http_client(target.url, http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client
        return
    parameters = StdioServerParameters(
        command=target.command[0],
        args=list(target.command[1:]),
        env=dict(target.env),
        cwd=target.cwd,
    )
    with open(os.devnull, "w") as nowhere:
        async with Client(stdio_client(parameters, nowhere), mode=mode) as client:
            yield client


async def _patiently(
    client: Client, tool: str, arguments: dict[str, Any], report: Any = None
) -> dict[str, Any]:
    """The result as the wire has it, once the server says no more that a retry helps."""
    for _ in range(_TRIES):
        try:
            result = await client.call_tool(tool, arguments, progress_callback=report)
        except MCPError as error:
            data: Any = error.error.data
            if not data.get("details", {}).get("retryable"):
                raise
        else:
            whole: dict[str, Any] = result.model_dump(by_alias=True, mode="json")
            return whole
    raise AssertionError("the server is still not ready")


def location(root: Path, name: str, line: int, start: int) -> dict[str, Any]:
    span = {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": start + 4},
    }
    return {"uri": (root / name).as_uri(), "range": span}


def check(seen: Seen, root: Path) -> None:
    """Whether a client saw what the sample workspace has."""
    assert (seen.server, seen.revision, seen.instructed) == ("sightline", "2025-11-25", True)
    assert seen.tools == [tool.info.name for tool in catalogue_for(Settings())]
    found = {
        "locations": [location(root, "shapes.py", 0, 4)],
        "summary": "Found 1 definition.",
    }
    assert (seen.definition, seen.content) == (found, [])
    references = [
        location(root, "main.py", 0, 19),
        location(root, "main.py", 2, 6),
        location(root, "main.py", 2, 18),
        location(root, "other.py", 0, 19),
        location(root, "other.py", 2, 6),
        location(root, "shapes.py", 0, 4),
    ]
    assert seen.pages == [references[0:2], references[2:4], references[4:6]]
    assert seen.error["code"] == -32602
    assert seen.error["data"]["code"] == "MCP_LSP_GATEWAY/WORKSPACE_DENIED"
    assert "[MCP_LSP_GATEWAY/WORKSPACE_DENIED]" in seen.error["message"]
    assert seen.after_progress == found


def stdio_target(home: Path, *server: str) -> tuple[Target, Path]:
    """A target whose server leaves its exit status in a file when it ends by itself."""
    status = home / "status"
    wrapped = ("/bin/sh", "-c", '"$@"; echo $? > "$STATUS"', "sh", *server)
    env = environment(home) | {"STATUS": str(status)}
    return Target(command=wrapped, env=env, cwd=home), status
