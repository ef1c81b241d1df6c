"""The clients that are known to work, as a page of evidence.

python -m tests.oracles.clients      visits a server with each and writes docs/evidence/clients.md
"""

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from tests.oracles.claude import Claude
from tests.oracles.sample import home_and_workspace
from tests.oracles.visits import (
    Seen,
    Target,
    check,
    stdio_target,
    visit_with_python,
    visit_with_typescript,
)
from tests.support.http import HttpServer
from tests.support.program import command
from tools import node
from tools.evidence import write_page

_INTRODUCTION = """\
# Clients

Each client visits a small Python workspace. The official SDK clients connect, list the tools, ask
for a definition and for references in pages of two, are refused a document outside the workspace
and read the code of that error, ping, make a call with a progress token, and close; the answers
are compared with the expected ones. "Probe first" means that the client asks for the stateless
revision before it falls back to `initialize`. Claude Code checks the health of its configured
servers.

Weakness: one version of each client, on one system; Claude Code makes no tool call here.

| client | version | transport | opening | seen |
|---|---|---|---|---|
"""
Visit = Callable[..., Seen]


def main() -> int:
    modules = node.install("protocol")
    manifest = modules / "@modelcontextprotocol/client/package.json"
    typescript = json.loads(manifest.read_text(encoding="utf-8"))["version"]
    visitors: list[tuple[str, str, Visit]] = [
        ("official Python SDK", version("mcp"), visit_with_python),
        ("official TypeScript SDK", typescript, visit_with_typescript),
    ]
    rows: list[str] = []
    for name, number, visit in visitors:
        for transport in ("HTTP", "stdio"):
            for probe in (False, True):
                seen = _visit(visit, transport, probe=probe)
                opening = "probe first" if probe else "initialize"
                found = f"{len(seen.tools)} tools, {len(seen.pages)} pages, all as expected"
                rows.append(f"| {name} | {number} | {transport} | {opening} | {found} |")
    rows += _claude()
    page = _INTRODUCTION + "\n".join(rows) + "\n"
    write_page("clients.md", "python -m tests.oracles.clients", page)
    print("\n".join(rows))
    return 0


def _visit(visit: Visit, transport: str, *, probe: bool) -> Seen:
    with home_and_workspace() as (home, root):
        if transport == "stdio":
            target, status = stdio_target(home, *command("stdio", root))
            seen = visit(target, root, probe=probe)
            assert status.read_text() == "0\n"
        else:
            with _serving(home, root) as server:
                seen = visit(Target.of(server), root, probe=probe)
        check(seen, root)
        return seen


def _serving(home: Path, root: Path) -> HttpServer:
    return HttpServer.start([str(root)], home)


def _claude() -> list[str]:
    with home_and_workspace() as (home, root), _serving(home, root) as server:
        claude = Claude(home)
        claude.add_http("HTTP", server.url, server.token)
        claude.add_stdio("stdio", command("stdio", root))
        claude.add_http("HTTP-wrong-token", server.url, "not-the-token")
        number = claude.version()
        states = claude.states()
    return [
        f"| Claude Code | {number} | {name.replace('-', ' ')} | its own | {_state(state)} |"
        for name, state in states.items()
    ]


def _state(said: str) -> str:
    if "Connected" in said:
        return "connected"
    return "refused, and told that the token is why" if "HTTP 401" in said else said


if __name__ == "__main__":
    sys.exit(main())
