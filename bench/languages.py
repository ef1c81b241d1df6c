"""Every language server on a real code base, through Sightline and through a bare client.

``python -m bench languages`` writes docs/evidence/languages.md. Each row is one server: from a cold
start to the first complete answer, the seven tools when warm, what Sightline adds, memory, and
whether three cold processes give the same bytes.
"""

import json
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.bare import BareClient
from bench.kernel import loads
from bench.language_cases import CASES, Case
from bench.languages_page import page
from sightline.lsp.capabilities import CAPABILITIES
from sightline.lsp.install.store import Store
from sightline.lsp.launching import Launcher
from sightline.lsp.projects import Projects
from sightline.lsp.registry import builtin
from sightline.process.memory import tree_memory
from sightline.workspace.roots import open_root
from sightline.workspace.tree import scan
from tests.languages.samples import offers, only
from tests.support.engine import INSTALLED
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "languages.json"
_QUESTIONS = int(os.environ.get("BENCH_QUESTIONS", "20"))
_COLD_PROCESSES = 3
#: Servers that answer from a part while they load, and how often they are started.
_PARTIAL = ("pyright", "vtsls", "clangd")
_COLD_STARTS = int(os.environ.get("BENCH_COLD_STARTS", "20"))
#: A few servers only, for a rerun of their rows.
_SERVERS = os.environ.get("BENCH_SERVERS", "").split()
MAX_RATIO = 1.15

_TOOLS = {
    "definition": "definition",
    "references": "references",
    "hover": "hover",
    "documentSymbols": "documentSymbols",
    "workspaceSymbols": "workspaceSymbols",
    "documentDiagnostics": "diagnostics.document",
    "workspaceDiagnostics": "diagnostics.workspace",
}


def run() -> bool:
    known = json.loads(_RESULTS.read_text(encoding="utf-8")) if _RESULTS.exists() else {}
    good = True
    for case in CASES:
        if _SERVERS and case.server not in _SERVERS:
            continue
        load = loads()
        with tempfile.TemporaryDirectory() as scratch:
            row = measure(case, Path(scratch)) | {"load": load}
        print(json.dumps(row), flush=True)
        known[case.server] = row
        good = good and row["complete"] == row["starts"] and row["same_bytes"]
        good = good and row["ratio"] <= MAX_RATIO
        _RESULTS.parent.mkdir(exist_ok=True)
        _RESULTS.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
        rows = [known[case.server] for case in CASES if case.server in known]
        text = page(rows, MAX_RATIO)
        write_page("languages.md", "python -m bench languages", text)
    return good


def measure(case: Case, scratch: Path) -> dict[str, Any]:
    root = case.corpus()
    truth = case.truth(root, case.file, case.name)
    starts = _COLD_STARTS if case.server in _PARTIAL else _COLD_PROCESSES
    complete, answers, cold = 0, set[str](), []
    for number in range(starts):
        begin = time.monotonic()
        server = start(case, root, scratch / f"home{number % _COLD_PROCESSES}")
        found = ask(server, case, root)
        cold.append(time.monotonic() - begin)
        complete += found == truth if case.asks_references else truth <= found
        if number < _COLD_PROCESSES:
            answers.add(_everything(server, case, root))
        server.stop()
    server = start(case, root, scratch / "home0")
    ask(server, case, root)
    client = bare(case, root, scratch)
    spots = places(server, client, case, root)
    # First, so that both servers have been asked the same until then.
    added = beside_bare(server, client, case, root, spots)
    warm = seven(server, case, root, spots)
    memory = tree_memory(server.process.pid) - _own_memory(server.process.pid)
    server.stop()
    return {
        "server": case.server,
        "questions": _QUESTIONS,
        "version": builtin().version_of(case.server),
        "corpus": root.name if root.name != "package" else root.parent.name,
        "question": case.name or f"the outline of {Path(case.file).name}",
        "weakness": case.weakness,
        "truth": len(truth),
        "starts": starts,
        "complete": complete,
        "cold_s": statistics.median(cold),
        "same_bytes": len(answers) == 1,
        "warm": warm,
        "memory_mb": memory >> 20,
        **added,
    }


def start(case: Case, root: Path, home: Path) -> StdioServer:
    """Sightline with one server, which answers for its languages."""
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True, exist_ok=True)
    spec = builtin().servers[case.server]
    lines = f"[servers.{case.server}]\nlanguages = {json.dumps(spec.languages)}\n"
    if case.server != "ty":  # which comes with Sightline
        lines += '[servers.ty]\nfound = "path"\ncommand = ["no-ty"]\n'
    settings.write_text(lines, encoding="utf-8")
    servers = home / ".local/share/sightline/servers"
    if spec.package and not servers.exists():
        servers.mkdir(parents=True, mode=0o700)
        (servers / spec.package).symlink_to(INSTALLED / spec.package)
    server = StdioServer.start([str(root), "--tools", "lsp"], home)
    server.initialize()
    return server


def call(server: StdioServer, tool: str, **arguments: Any) -> Any:
    """The answer, however long it takes to be ready."""
    limit = time.monotonic() + 600
    while time.monotonic() < limit:
        answer = server.call(f"vscode.lsp.{tool}", arguments)
        if "result" in answer:
            return answer["result"]["structuredContent"]
        if not answer["error"]["data"].get("details", {}).get("retryable"):
            raise SystemExit(f"{tool}: {answer['error']['message']}")
    raise SystemExit(f"{tool}: no answer in 10 minutes")


def position(case: Case, root: Path) -> dict[str, int]:
    """Where the name is defined."""
    pattern = {
        "python": f"def {case.name}",
        "typescript": f"function {case.name}",
        "c": f"void {case.name}",
    }.get(case.language, case.name)
    for number, line in enumerate((root / case.file).read_text(encoding="utf-8").splitlines()):
        if pattern in line:
            return {"line": number, "character": line.index(case.name, line.index(pattern))}
    raise SystemExit(f"{case.name} is not in {case.file}")


def ask(server: StdioServer, case: Case, root: Path) -> set[Any]:
    """The answer to the question of the case."""
    uri = (root / case.file).as_uri()
    if not case.asks_references:
        return {symbol["name"] for symbol in call(server, "documentSymbols", uri=uri)["symbols"]}
    found: set[Any] = set()
    cursor = None
    while True:
        answer = call(
            server,
            "references",
            uri=uri,
            position=position(case, root),
            includeDeclaration=True,
            cursor=cursor,
        )
        for item in answer["items"]:
            begin = item["range"]["start"]
            found.add((item["uri"], begin["line"], begin["character"]))
        cursor = answer["nextCursor"]
        if cursor is None:
            return found


def _everything(server: StdioServer, case: Case, root: Path) -> str:
    """The answers of all tools that the server offers, as text."""
    uri = (root / case.file).as_uri()
    place = position(case, root) if case.asks_references else {"line": 0, "character": 0}
    arguments: dict[str, dict[str, Any]] = {
        "definition": {"uri": uri, "position": place},
        "references": {"uri": uri, "position": place},
        "hover": {"uri": uri, "position": place},
        "documentSymbols": {"uri": uri},
        "workspaceSymbols": {"query": case.name or "x"},
        "documentDiagnostics": {"uri": uri},
    }
    offered = [name for name in arguments if offers(case.server, name)]  # type: ignore[arg-type]
    return json.dumps([call(server, _TOOLS[name], **arguments[name]) for name in offered])


def files_of(case: Case, root: Path) -> list[Path]:
    """Files of a handy size in an order that is the same every time."""
    files = sorted(file for file in root.rglob(case.pattern) if 200 < file.stat().st_size < 60_000)
    random.Random(5).shuffle(files)
    return files


def places(
    server: StdioServer, client: BareClient, case: Case, root: Path
) -> list[tuple[Path, dict[str, int], str]]:
    """Symbols of different files, the same ones every time. Both sides are shown the files."""
    found = []
    for file in files_of(case, root):
        symbols = call(server, "documentSymbols", uri=file.as_uri())["symbols"]
        client.symbols(file)
        if symbols:
            symbol = symbols[len(symbols) // 2]
            found.append((file, symbol["selectionRange"]["start"], symbol["name"]))
        if len(found) == 2 * _QUESTIONS:
            break
    return found


def seven(
    server: StdioServer, case: Case, root: Path, spots: list[tuple[Path, dict[str, int], str]]
) -> dict[str, list[float]]:
    """p50 and p95 of each tool in milliseconds, every question new."""
    measured: dict[str, list[float]] = {}
    unseen = files_of(case, root)[::-1]
    for name, tool in _TOOLS.items():
        if not offers(case.server, name):  # type: ignore[arg-type]
            continue
        times = []
        for number, (file, place, symbol) in enumerate(spots[:_QUESTIONS]):
            # The outlines of the files that were asked about are known already.
            asked = unseen[number % len(unseen)] if name == "documentSymbols" else file
            arguments = _arguments(name, asked, place, symbol)
            try:
                times.append(_timed(lambda: call(server, tool, **arguments)) * 1000)  # noqa: B023
            except SystemExit:  # an answer that would be cut by the server is refused
                if name == "workspaceDiagnostics":
                    break
                continue
            if name == "workspaceDiagnostics":
                break  # once: the next comes from memory
        if len(times) > 1:
            measured[name] = [statistics.median(times), statistics.quantiles(times, n=20)[-1]]
        elif times:
            measured[name] = [times[0], times[0]]
    return measured


def _arguments(name: str, file: Path, place: dict[str, int], symbol: str) -> dict[str, Any]:
    """What a tool is asked about a symbol of a file."""
    if name == "workspaceSymbols":
        return {"query": symbol[:40] or "x"}
    if name == "workspaceDiagnostics":
        return {}
    given: dict[str, Any] = {"uri": file.as_uri()}
    return given | {"position": place} if name in ("definition", "references", "hover") else given


def bare(case: Case, root: Path, scratch: Path) -> BareClient:
    """A bare client of the same server, started with the same options."""
    registry = only(case.server)
    opened = open_root(str(root), home=None)
    tree, _ = scan(opened.real)
    environment = {"PATH": os.environ["PATH"], "HOME": str(scratch)}
    launcher = Launcher(environment, scratch, Store(INSTALLED), registry)
    project = Projects(opened, registry, lambda: tree).at(
        registry.servers[case.server], opened.real
    )
    made = launcher.start(case.server, project, [opened.real])
    assert made is not None
    return BareClient(
        list(made.command),
        root,
        dict(made.initialization_options),
        environment=made.environment,
        settings=made.settings,
        capabilities=CAPABILITIES,
        language=case.language,
    )


def beside_bare(
    server: StdioServer,
    client: BareClient,
    case: Case,
    root: Path,
    spots: list[tuple[Path, dict[str, int], str]],
) -> dict[str, Any]:
    """The same new questions to both, in turns."""
    expected = len(ask(server, case, root)) if case.asks_references else 0
    limit = time.monotonic() + 300
    while case.asks_references:
        place = position(case, root)
        found = client.references(root / case.file, place["line"], place["character"])
        if len(found) >= expected or time.monotonic() > limit:
            break
        time.sleep(0.5)
    own: list[float] = []
    theirs: list[float] = []
    for number, (file, place, _) in enumerate(spots[_QUESTIONS:]):

        def through_sightline(file: Path = file, place: dict[str, int] = place) -> None:
            if case.asks_references:
                given = {"position": place, "includeDeclaration": True}
                own.append(_timed(lambda: call(server, "references", uri=file.as_uri(), **given)))
            else:
                arguments = {"uri": file.as_uri(), "position": place}
                own.append(_timed(lambda: call(server, "hover", **arguments)))

        def through_bare(file: Path = file, place: dict[str, int] = place) -> None:
            if case.asks_references:
                theirs.append(
                    _timed(lambda: client.references(file, place["line"], place["character"]))
                )
            else:
                theirs.append(_timed(lambda: client.hover(file, place)))

        turns = [through_sightline, through_bare]
        for turn in turns if number % 2 else reversed(turns):
            turn()
    client.close()
    return {
        "compared": "references" if case.asks_references else "hover",
        "own_ms": statistics.median(own) * 1000,
        "bare_ms": statistics.median(theirs) * 1000,
        "ratio": statistics.median(own) / statistics.median(theirs),
        "added_ms": (statistics.median(own) - statistics.median(theirs)) * 1000,
    }


def _own_memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(status[1]) * os.sysconf("SC_PAGE_SIZE")


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin
