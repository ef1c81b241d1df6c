"""The same questions asked of a peer, cclsp, on the same language server, by the official client.

Its answers are text for models: shorter than ours, because they hold no ids, no end of a range and
no columns of a cursor. It is asked by the name of a symbol where it takes one.
"""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

from tools import node

__all__ = ["VERSION", "ask"]

VERSION = "0.7.0"
_LIMIT_S = 60
_FAIL = {"file_path": "click/core.py", "symbol_name": "fail", "symbol_kind": "method"}
#: Our tool, and what cclsp is asked in its place.
_QUESTIONS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "vscode.lsp.references": ("find_references", _FAIL | {"include_declaration": False}),
    "vscode.lsp.definition": ("find_definition", _FAIL),
    "vscode.lsp.hover": (
        "get_hover",
        {"file_path": "click/core.py", "line": 811, "character": 9},
    ),
    "vscode.lsp.workspaceSymbols": ("find_workspace_symbols", {"query": "prompt"}),
    "vscode.lsp.diagnostics.document": ("get_diagnostics", {"file_path": "click/types.py"}),
}


def ask(home: Path, project: Path) -> dict[str, int]:
    """The bytes of each answer, by our tool's name."""
    return asyncio.run(_ask(home, project))


async def _ask(home: Path, project: Path) -> dict[str, int]:
    ty = Path(sys.executable).with_name("ty")
    settings = home / "cclsp.json"
    servers = [{"extensions": ["py"], "command": [str(ty), "server"], "rootDir": "."}]
    settings.write_text(json.dumps({"servers": servers}), encoding="utf-8")
    program = node.install("cclsp") / "cclsp/dist/index.js"
    environment = {"CCLSP_CONFIG_PATH": str(settings), "HOME": str(home), "PATH": "/usr/bin:/bin"}
    with (home / "cclsp.log").open("w", encoding="utf-8") as log:
        parameters = StdioServerParameters(
            command=str(node.node()), args=[str(program)], env=environment, cwd=str(project)
        )
        async with (
            stdio_client(parameters, errlog=log) as (read, write),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            sizes: dict[str, int] = {}
            for tool, (name, arguments) in _QUESTIONS.items():
                async with asyncio.timeout(_LIMIT_S):
                    result = await session.call_tool(name, arguments)
                text = "".join(getattr(each, "text", "") for each in result.content)
                sizes[tool] = len(text.replace(str(home), "/home/you").encode())
            return sizes
