"""Sightline beside other searches that can be installed, on the same code and questions, offline.

``python -m bench search_peers`` writes docs/evidence/search-peers.md. Every peer is a published,
pinned version that is installed into a folder of its own and then runs in a network namespace
without a network. All are asked the same questions in turns: documentation sentences, which were
blanked in the code, and the bare names of the same declarations.
"""

import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.corpora import django, rxjs
from bench.kernel import loads
from bench.questions import Question, python_questions, script_questions
from bench.search_peers_page import page
from bench.search_sides import SIDES, Hit, Side
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "search_peers.json"
_QUESTIONS = int(os.environ.get("BENCH_QUESTIONS", "60"))
_TOP = 10
_CORPORA: dict[str, tuple[Callable[[], Path], Callable[[Path, Path, int], list[Question]]]] = {
    "rxjs 7.8.2 (TypeScript)": (rxjs, script_questions),
    "django 5.2.8 without its tests (Python)": (lambda: django() / "django", python_questions),
}


def run() -> bool:
    """Measures and writes the page; after every code base, so that what is done stays."""
    results: dict[str, Any] = {"load_before": loads(), "corpora": []}
    for name, (corpus, make) in _CORPORA.items():
        with tempfile.TemporaryDirectory(prefix="sightline-search-peers-") as folder:
            root = Path(folder, "ws")
            asked = make(corpus(), root, _QUESTIONS)
            rows = _measured(root, Path(folder), asked)
        results["corpora"].append({"name": name, "asked": len(asked), "rows": rows})
        for row in rows:
            print(json.dumps(row), flush=True)
        results["load_after"] = loads()
        _RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        write_page("search-peers.md", "python -m bench search_peers", page(results))
    return all(not row.get("failed") for row in results["corpora"][0]["rows"][:1])


def _measured(root: Path, folder: Path, asked: Sequence[Question]) -> list[dict[str, Any]]:
    sides: list[Side] = []
    rows: list[dict[str, Any]] = []
    for number, make in enumerate(SIDES):
        home = folder / f"home{number}"
        home.mkdir()
        row: dict[str, Any] = {"name": make.name}
        rows.append(row)
        side = make(root, home)
        began = time.monotonic()
        try:
            row["build_cpu_s"] = side.build()
            row["build_s"] = time.monotonic() - began
            sides.append(side)
        except (OSError, TimeoutError, ValueError) as problem:
            row["failed"] = str(problem) or type(problem).__name__
            side.close()
    try:
        _ask_all(sides, {row["name"]: row for row in rows}, asked)
    finally:
        for side in sides:
            side.close()
    return rows


def _ask_all(
    sides: Sequence[Side], rows: dict[str, dict[str, Any]], asked: Sequence[Question]
) -> None:
    """Every question goes to everybody before the next one does, begun by another each time."""
    for side in sides:
        side.ask("warm up the reader")
    for kind in ("sentences", "names"):
        found: dict[str, list[tuple[float, float, int, int, int]]] = {s.name: [] for s in sides}
        for turn, question in enumerate(asked):
            text = question.text if kind == "sentences" else question.name.rpartition(".")[2]
            first = turn % len(sides)
            for side in [*sides[first:], *sides[:first]]:
                cpu, began = side.cpu_s(), time.perf_counter()
                hits, size = side.ask(text)
                wall = (time.perf_counter() - began) * 1_000
                spent = (side.cpu_s() - cpu) * 1_000
                places = (_place(hits, question, line=True), _place(hits, question, line=False))
                found[side.name].append((wall, spent, *places, size))
        for name, answers in found.items():
            rows[name][kind] = _summary(answers)


def _place(hits: Sequence[Hit], question: Question, *, line: bool) -> int:
    """At which place the right lines are, or the right file; files count once. 0 below ten."""
    if not line:
        paths = list(dict.fromkeys(hit.path for hit in hits))[:_TOP]
        return paths.index(question.path) + 1 if question.path in paths else 0
    for number, hit in enumerate(hits[:_TOP], 1):
        if hit.path == question.path and hit.first <= question.line <= hit.last:
            return number
    return 0


def _summary(answers: Sequence[tuple[float, float, int, int, int]]) -> dict[str, float]:
    walls, cpus, lines, files, sizes = zip(*answers, strict=True)
    ordered = sorted(walls)
    return {
        "p50_ms": statistics.median(walls),
        "p95_ms": ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))],
        "cpu_ms": statistics.fmean(cpus),
        "mrr": statistics.fmean(1 / place if place else 0.0 for place in lines),
        "recall": statistics.fmean(place > 0 for place in lines),
        "file_mrr": statistics.fmean(1 / place if place else 0.0 for place in files),
        "file_recall": statistics.fmean(place > 0 for place in files),
        "bytes": statistics.median(sizes),
    }
