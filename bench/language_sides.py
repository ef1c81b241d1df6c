"""The sides of the comparison: Sightline with one language server, and bare clients of it."""

import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from bench.bare import BareClient
from bench.kernel import loads
from bench.language_cases import CASES, Case
from sightline.lsp.install.store import Store
from sightline.lsp.project.projects import Projects
from sightline.lsp.registry import Operation, builtin
from sightline.lsp.start.launcher import Launcher, Start
from sightline.lsp.typescript.held_open import LANGUAGE, named_by
from sightline.lsp.wire.capabilities import CAPABILITIES
from sightline.workspace.roots import RootSet, open_root
from sightline.workspace.tree import scan
from tests.languages.samples import only
from tests.support.engine import INSTALLED
from tests.support.stdio import StdioServer

__all__ = [
    "TOOLS",
    "all_diagnostics",
    "arguments",
    "ask",
    "bare",
    "call",
    "connected",
    "measured",
    "position",
    "start",
]

_ANSWER_S = 600
TOOLS: dict[Operation, str] = {
    "definition": "definition",
    "references": "references",
    "hover": "hover",
    "documentSymbols": "documentSymbols",
    "workspaceSymbols": "workspaceSymbols",
    "documentDiagnostics": "diagnostics.document",
    "workspaceDiagnostics": "diagnostics.workspace",
}


def chosen(cases: list[Case]) -> list[Case]:
    """All cases, or those of the servers that BENCH_SERVERS names, for a rerun of their rows."""
    names = os.environ.get("BENCH_SERVERS", "").split()
    return [case for case in cases if not names or case.server in names]


def measured(
    results: Path, measure: Callable[[Case, Path], dict[str, Any]]
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Measures every chosen case: its row, and all rows known by then. The rows are kept."""
    known = json.loads(results.read_text(encoding="utf-8")) if results.exists() else {}
    for case in chosen(CASES):
        load = loads()
        with tempfile.TemporaryDirectory() as scratch:
            row = measure(case, Path(scratch)) | {"load": load}
        print(json.dumps(row), flush=True)
        known[case.server] = row
        results.parent.mkdir(exist_ok=True)
        results.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        yield row, [known[each.server] for each in CASES if each.server in known]


class PlainServer(StdioServer):
    """Sightline asked as the bare client asks its server: a line out, a line in, parsed once.

    The tests' own client also marks what it sends and keeps all it hears to search it for secrets.
    """

    def request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        self._ids += 1
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params or {}}
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self._ids:
                return answer


def start(case: Case, root: Path, home: Path) -> StdioServer:
    """Sightline with one server and no other: what else runs would be counted as its own."""
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    servers = builtin().servers
    spec = servers[case.server]
    lines = f"[servers.{case.server}]\nlanguages = {json.dumps(spec.languages)}\n"
    for other in servers.keys() - {case.server}:
        lines += f'[servers.{other}]\nfound = "path"\ncommand = ["no-{other}"]\n'
    settings.write_text(lines, encoding="utf-8")
    installed = home / ".local/share/sightline/servers"
    if spec.package and not installed.exists():
        installed.mkdir(parents=True, mode=0o700)
        (installed / spec.package).symlink_to(INSTALLED / spec.package)
    server = PlainServer.start([str(root), "--tools", "lsp"], home)
    server.initialize()
    return server


C = TypeVar("C", bound=BareClient)


def connected(
    server: str, language: str, root: Path, cache: Path, home: Path, kind: type[C]
) -> tuple[C, Start]:
    """A bare client of a server that was started as Sightline would, and how that was."""
    registry = only(server)
    opened = open_root(str(root), home=None)
    tree, _ = scan(opened.real)
    environment = {"PATH": os.environ["PATH"], "HOME": str(home)}
    launcher = Launcher(environment, cache, Store(INSTALLED), registry)
    project = Projects(opened, registry, lambda: tree).at(registry.servers[server], opened.real)
    made = launcher.start(server, project, RootSet.of([opened]))
    # Sightline's own clangd reads some sources in a second start; this one is to have them, too.
    made = made and launcher.start(server, project, RootSet.of([opened]), has_read_parts=True)
    assert made is not None
    client = kind(
        list(made.command),
        root,
        dict(made.initialization_options),
        environment=made.environment,
        settings=made.settings,
        capabilities=CAPABILITIES,
        language=language,
    )
    return client, made


def bare(case: Case, root: Path, scratch: Path, kind: type[C]) -> C:
    """A bare client of the same server: the same options, the same projects loaded."""
    client, made = connected(case.server, case.language, root, scratch, scratch, kind)
    for path in made.held_open.opened:
        client.open(Path(path))
    if made.held_open.named:
        names = named_by(str(root), made.held_open.named)
        document = {"uri": names.uri, "languageId": LANGUAGE, "version": 1, "text": names.text}
        client.notify("textDocument/didOpen", {"textDocument": document})
    return client


def all_diagnostics(client: BareClient, case: Case, root: Path, limit_s: float) -> float | None:
    """Milliseconds in which a bare client has the diagnostics of the whole project, as a client
    gets them that knows what the server can do; ``None`` where they are not pulled.
    """
    registry = only(case.server)
    spec = registry.servers[case.server]
    if spec.diagnostics != "pull" or spec.workspace_diagnostics == "none":
        return None
    opened = open_root(str(root), home=None)
    tree, _ = scan(opened.real)
    files = Projects(opened, registry, lambda: tree).at(spec, opened.real).files()
    begin = time.perf_counter()
    if spec.workspace_diagnostics == "pull":
        nothing = {"uri": f"{root.as_uri()}/.none", "value": "0"}
        client.request("workspace/diagnostic", {"previousResultIds": [nothing]})
        files = []
    for file in map(Path, files):
        try:
            uri = file.as_uri() if spec.sweeps_unopened else client.open(file)
        except UnicodeDecodeError:  # no text, and asked about by nobody
            continue
        client.request("textDocument/diagnostic", {"textDocument": {"uri": uri}})
        if time.perf_counter() - begin > limit_s:
            return -1.0
    return (time.perf_counter() - begin) * 1000


def call(
    server: StdioServer,
    tool: str,
    given: dict[str, Any],
    refusals: list[str] | None = None,
    seconds: float = _ANSWER_S,
) -> Any:
    """The answer, however long it takes to be ready. ``refusals`` hears what came before it."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        answer = server.request("tools/call", {"name": f"vscode.lsp.{tool}", "arguments": given})
        if "result" in answer:
            return answer["result"]["structuredContent"]
        if not answer["error"]["data"].get("details", {}).get("retryable"):
            raise SystemExit(f"{tool}: {answer['error']['message']}")
        if refusals is not None:
            refusals.append(answer["error"]["message"])
    raise TimeoutError(f"{tool}: no answer in {seconds} seconds")


def arguments(
    operation: Operation, file: Path, place: dict[str, int], symbol: str
) -> dict[str, Any]:
    """What a tool is asked about a symbol of a file."""
    if operation == "workspaceSymbols":
        return {"query": symbol[:40] or "x"}
    if operation == "workspaceDiagnostics":
        return {}
    given: dict[str, Any] = {"uri": file.as_uri()}
    if operation == "references":
        given["includeDeclaration"] = True
    return (
        given | {"position": place} if operation in ("definition", "references", "hover") else given
    )


def position(case: Case, root: Path) -> dict[str, int]:
    """Where the name of the case is defined."""
    pattern = {
        "python": f"def {case.name}",
        "typescript": f"function {case.name}",
        "c": f"void {case.name}",
    }.get(case.language, case.name)
    for number, line in enumerate((root / case.file).read_text(encoding="utf-8").splitlines()):
        if pattern in line:
            return {"line": number, "character": line.index(case.name, line.index(pattern))}
    raise SystemExit(f"{case.name} is not in {case.file}")


def ask(server: StdioServer, case: Case, root: Path, refusals: list[str] | None = None) -> set[Any]:
    """The answer to the question of the case, page by page."""
    given: dict[str, Any] = {"uri": (root / case.file).as_uri()}
    if not case.asks_references:
        outline = call(server, "documentSymbols", given, refusals)
        return {symbol["name"] for symbol in outline["symbols"]}
    given |= {"position": position(case, root), "includeDeclaration": True}
    found: set[Any] = set()
    while True:
        answer = call(server, "references", given, refusals)
        for item in answer["items"]:
            begin = item["range"]["start"]
            found.add((item["uri"], begin["line"], begin["character"]))
        given["cursor"] = answer["nextCursor"]
        if given["cursor"] is None:
            return found
