"""Every language server on a real code base, through Sightline and through a bare client.

``python -m bench languages`` writes docs/evidence/languages.md. For each server: from a cold start
to the first complete answer, the tools when warm, what Sightline adds, memory. What is complete and
repeatable is counted by ``python -m bench cold_starts``; its rows are shown beside.

A round is one document that neither side has seen: its outline is asked for, then every other tool
about a symbol in it. Every question is new, so that nothing comes from memory, and the bare client
does what any client has to: it opens the document and asks.
"""

import json
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.bare import BareClient
from bench.cold_starts import RESULTS as COLD_RESULTS
from bench.kernel import Tree, cpu_seconds
from bench.language_cases import Case
from bench.language_sides import TOOLS, arguments, ask, bare, call, measured, position, start
from bench.languages_page import page
from sightline.lsp.registry import Operation, builtin
from sightline.process.memory import tree_memory
from tests.languages.samples import offers
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "languages.json"
_ROUNDS = int(os.environ.get("BENCH_QUESTIONS", "20"))
_COLD = 3
_LOADED_S = 300
MAX_RATIO = 1.15
MAX_SWEEP_S = 120

#: What the bare client is asked; diagnostics only where they are pulled.
_METHODS: dict[Operation, str] = {
    "documentSymbols": "textDocument/documentSymbol",
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "hover": "textDocument/hover",
    "workspaceSymbols": "workspace/symbol",
    "documentDiagnostics": "textDocument/diagnostic",
}


def run() -> bool:
    cold = json.loads(COLD_RESULTS.read_text(encoding="utf-8")) if COLD_RESULTS.exists() else {}
    good = True
    for row, rows in measured(_RESULTS, measure):
        good = good and row["ratio"] <= MAX_RATIO
        write_page("languages.md", "python -m bench languages", page(rows, cold, MAX_RATIO))
    return good


def measure(case: Case, scratch: Path) -> dict[str, Any]:
    root = case.corpus().resolve()
    seconds = []
    for number in range(_COLD):
        begin = time.monotonic()
        server = start(case, root, scratch / f"home{number}")
        answer = ask(server, case, root)
        seconds.append(time.monotonic() - begin)
        if number < _COLD - 1:
            server.stop()
    client = bare(case, root, scratch)
    _loaded(client, case, root, len(answer))
    pid = server.process.pid
    rounds = Rounds(server, client, case)
    before = cpu_seconds(pid), _tree_cpu(pid), _tree_cpu(client.pid)
    asked = rounds.run(files_of(case, root))
    cpu_ms = (cpu_seconds(pid) - before[0]) * 1000 / asked
    own_cpu = _tree_cpu(pid) - before[1] + rounds.client_cpu["own"]
    bare_cpu = _tree_cpu(client.pid) - before[2] + rounds.client_cpu["bare"]
    client.close()
    sweep = whole_project(server, case)
    memory = tree_memory(pid) - _own_memory(pid)
    server.stop()
    return {
        "server": case.server,
        "version": builtin().version_of(case.server),
        "corpus": root.name if root.name != "package" else root.parent.name,
        "question": case.name or f"the outline of {Path(case.file).name}",
        "cold_s": statistics.median(seconds),
        "memory_mb": memory >> 20,
        "cpu_ms": cpu_ms,
        "cpu_ratio": own_cpu / bare_cpu,
        "sweep_ms": sweep,
        **rounds.result(),
    }


Ask = Callable[[Operation, Path, dict[str, int], str], Any]


class Rounds:
    """The same new questions to both sides, in turns."""

    def __init__(self, server: StdioServer, client: BareClient, case: Case) -> None:
        def own(name: Operation, file: Path, place: dict[str, int], symbol: str) -> Any:
            return call(server, TOOLS[name], arguments(name, file, place, symbol))

        def plain(name: Operation, file: Path, place: dict[str, int], symbol: str) -> Any:
            given = arguments(name, file, place, symbol)
            if name != "workspaceSymbols":
                given = {"textDocument": {"uri": client.open(file)}, **given}
                given |= {"context": {"includeDeclaration": True}} if name == "references" else {}
            return client.request(_METHODS[name], given)

        self._sides: dict[str, Ask] = {"own": own, "bare": plain}
        spec = builtin().servers[case.server]
        offered = [name for name in _METHODS if offers(case.server, name)]
        #: Where Sightline asks in another way than the protocol's plain one, it is asked alone.
        own_way: tuple[Operation, ...] = ()
        if spec.diagnostics != "pull":
            own_way += ("documentDiagnostics",)
        if spec.dialect == "tsserver":
            own_way += ("workspaceSymbols",)
        self._compared = [name for name in offered if name not in own_way]
        self._alone = [name for name in offered if name in own_way]
        self._times: dict[str, dict[str, list[float]]] = {"own": {}, "bare": {}}
        self._totals: dict[str, list[float]] = {"own": [], "bare": []}
        #: Processor seconds of this process while it asked each side.
        self.client_cpu = {"own": 0.0, "bare": 0.0}

    def run(self, files: list[Path]) -> int:
        """Rounds about these files, until there are enough; how many questions were asked."""
        for number, file in enumerate(files):
            if len(self._totals["own"]) == _ROUNDS:
                break
            self._round(file, ["own", "bare"] if number % 2 else ["bare", "own"])
        return sum(map(len, self._times["own"].values()))

    def _round(self, file: Path, sides: list[str]) -> None:
        times: dict[str, dict[str, float]] = {"own": {}, "bare": {}}
        outlines: dict[str, Any] = {}

        def ask(side: str, name: Operation, place: dict[str, int], symbol: str) -> Any:
            begin, cpu = time.perf_counter(), time.process_time()
            answer = self._sides[side](name, file, place, symbol)
            times[side][name] = (time.perf_counter() - begin) * 1000
            if name in self._compared:
                self.client_cpu[side] += time.process_time() - cpu
            return answer

        for side in sides:
            outlines[side] = ask(side, "documentSymbols", {}, "")
        symbols = outlines["own"]["symbols"]
        if not symbols:
            return  # nothing to ask about
        symbol = symbols[len(symbols) // 2]
        spot = (symbol["selectionRange"]["start"], symbol["name"])
        for side in sides:
            for name in self._compared[1:]:
                try:
                    ask(side, name, *spot)
                except SystemExit:  # an answer that the server may have cut is refused
                    times["bare"].pop(name, None)
        for side in sides:
            compared = times["own"].keys() & times["bare"].keys()
            self._totals[side].append(sum(times[side][name] for name in compared))
            for each in compared:
                self._times[side].setdefault(each, []).append(times[side][each])
        for name in self._alone:
            ask("own", name, *spot)
            self._times["own"].setdefault(name, []).append(times["own"][name])

    def result(self) -> dict[str, Any]:
        own, plain = (statistics.median(self._totals[side]) for side in ("own", "bare"))
        tools = {
            name: {
                "own_ms": statistics.median(times),
                "own_p95_ms": statistics.quantiles(times, n=20)[-1],
                "bare_ms": statistics.median(self._times["bare"].get(name, [0.0])) or None,
            }
            for name, times in self._times["own"].items()
        }
        return {
            "rounds": len(self._totals["own"]),
            "tools": tools,
            "own_ms": own,
            "bare_ms": plain,
            "ratio": own / plain,
        }


def files_of(case: Case, root: Path) -> list[Path]:
    """Files of a handy size in an order that is the same every time."""
    asked = root / case.file
    files = sorted(file for file in root.rglob(case.pattern) if 200 < file.stat().st_size < 60_000)
    random.Random(5).shuffle(files)
    return [file for file in files if file != asked]


def whole_project(server: StdioServer, case: Case) -> float | None:
    """Milliseconds of one answer about all diagnostics, where that is offered."""
    if not offers(case.server, "workspaceDiagnostics"):
        return None
    begin = time.perf_counter()
    try:
        call(server, TOOLS["workspaceDiagnostics"], {}, seconds=MAX_SWEEP_S)
    except SystemExit:  # more than an answer may hold
        return None
    except TimeoutError:
        return -1.0  # longer than that
    return (time.perf_counter() - begin) * 1000


def _loaded(client: BareClient, case: Case, root: Path, expected: int) -> None:
    """Waits until the bare client's server has loaded the project too."""
    limit = time.monotonic() + _LOADED_S
    while case.asks_references:
        place = position(case, root)
        found = client.references(root / case.file, place["line"], place["character"])
        if len(found) >= expected or time.monotonic() > limit:
            return
        time.sleep(0.5)


def _tree_cpu(pid: int) -> float:
    """Processor seconds of a process and everything below it."""
    tree = Tree(pid)
    tree.look()
    return tree.cpu_s


def _own_memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(status[1]) * os.sysconf("SC_PAGE_SIZE")
