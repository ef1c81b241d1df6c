"""Every language server on a real code base, through Sightline and through a bare client.

``python -m bench languages`` writes docs/evidence/languages.md. For each server: from a cold start
to the first complete answer, the tools when warm, what Sightline adds, memory. What is complete and
repeatable is counted by ``python -m bench cold_starts``; its rows are shown beside.

What Sightline adds is measured in rounds, see language_rounds.py. A run is bounded: every server's
rounds stop after a minute or two, and so does the sweep of its diagnostics. Eight of the ten
servers took nine minutes on two cores at a load of 13. ``BENCH_SERVERS="tsgo html"`` measures those
rows again.
"""

import json
import os
import random
import statistics
import time
from pathlib import Path
from typing import Any

from bench.bare import BareClient, BridgedClient
from bench.cold_starts import RESULTS as COLD_RESULTS
from bench.kernel import Tree, main_thread_cpu_seconds
from bench.language_cases import Case
from bench.language_rounds import Rounds
from bench.language_sides import (
    TOOLS,
    all_diagnostics,
    ask,
    bare,
    call,
    measured,
    position,
    start,
)
from bench.languages_page import page
from sightline.lsp.registry import builtin
from sightline.process.memory import tree_memory
from tests.languages.samples import offers
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "languages.json"
_ROUNDS = int(os.environ.get("BENCH_QUESTIONS", "40"))
_COLD = 3
_LOADED_S = 300
#: Rounds are run again in new processes until they have taken so long.
_ENOUGH_S = 40.0
MAX_RATIO = 1.15
MAX_SWEEP_S = 120


def run() -> bool:
    cold = json.loads(COLD_RESULTS.read_text(encoding="utf-8")) if COLD_RESULTS.exists() else {}
    good = True
    for row, rows in measured(_RESULTS, measure):
        good = good and row["ratio"] <= MAX_RATIO
        write_page("languages.md", "python -m bench languages", page(rows, cold, MAX_RATIO))
    return good


def measure(case: Case, scratch: Path) -> dict[str, Any]:
    """A row of the table: of several runs in new processes, the one with the median ratio."""
    root = case.corpus().resolve()
    seconds: list[float] = []
    runs: list[dict[str, Any]] = []
    spent = 0.0
    for number in range(_COLD):
        begin = time.monotonic()
        server = start(case, root, scratch / f"home{number}")
        answer = ask(server, case, root)
        seconds.append(time.monotonic() - begin)
        if spent < _ENOUGH_S:
            begin = time.monotonic()
            runs.append(_run(server, case, root, scratch, len(answer)))
            spent += time.monotonic() - begin
        if number < _COLD - 1:
            server.stop()
    pid = server.process.pid
    whole_project(server, case)
    memory = tree_memory(pid) - _own_memory(pid)
    server.stop()
    runs.sort(key=lambda run: float(run["ratio"]))
    return {
        "server": case.server,
        "version": builtin().version_of(case.server),
        "corpus": root.name if root.name != "package" else root.parent.name,
        "question": case.name or f"the outline of {Path(case.file).name}",
        "cold_s": statistics.median(seconds),
        "memory_mb": memory >> 20,
        "ratios": [run["ratio"] for run in runs],
        **runs[len(runs) // 2],
    }


def _run(
    server: StdioServer, case: Case, root: Path, scratch: Path, expected: int
) -> dict[str, Any]:
    """The rounds of one process of Sightline beside new bare clients."""
    clients: dict[str, BareClient] = {
        "bridge": bare(case, root, scratch, BridgedClient),
        "bare": bare(case, root, scratch, BareClient),
    }
    for client in clients.values():
        _loaded(client, case, root, expected)
    pid, plain = server.process.pid, clients["bare"].pid
    rounds = Rounds(server, clients, case)
    before = main_thread_cpu_seconds(pid), _tree_cpu(pid), _tree_cpu(plain)
    asked = rounds.run(files_of(case, root), _ROUNDS)
    cpu_ms = (main_thread_cpu_seconds(pid) - before[0]) * 1000 / asked
    own_cpu = _tree_cpu(pid) - before[1] + rounds.client_cpu["own"]
    bare_cpu = _tree_cpu(plain) - before[2] + rounds.client_cpu["bare"]
    result: dict[str, Any] = {"cpu_ms": cpu_ms, "cpu_ratio": own_cpu / bare_cpu}
    # Both have been asked the same until here.
    result["bare_sweep_ms"] = all_diagnostics(clients["bare"], case, root, MAX_SWEEP_S)
    result["sweep_ms"] = whole_project(server, case)
    for client in clients.values():
        client.close()
    rounds.run_alone()
    return result | rounds.result()


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
        if len(found) >= expected:
            return
        assert time.monotonic() < limit, f"{len(found)} of {expected} places: not the same project"
        time.sleep(0.5)


def _tree_cpu(pid: int) -> float:
    """Processor seconds of a process and everything below it."""
    tree = Tree(pid)
    tree.look()
    return tree.cpu_s


def _own_memory(pid: int) -> int:
    status = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    return int(status[1]) * os.sysconf("SC_PAGE_SIZE")
