"""What is chosen for questions with known answers under budgets of 500 to 32,000 tokens.

``python -m bench context_quality`` brings five projects from the package registry, asks every way
the same questions, and writes the page, the data and the plot. An answer is judged by recall: the
share of the needed definitions that are in it, with at least their head, and as a whole.
"""

import asyncio
import json
import os
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import corpora
from bench.context_peers import Aider
from bench.context_plot import draw
from bench.context_quality_page import page
from bench.context_questions import Project, Question, questions
from bench.context_rivals import Bm25, Grep, Reply, Rival, WholeFiles
from bench.kernel import loads
from sightline.context.code.choose import choose
from sightline.context.code.corpus import Corpus
from sightline.index.index import Index
from sightline.index.searching.texts import Texts
from sightline.workspace.roots import Root
from sightline.workspace.workspace import Workspace
from tools.evidence import FOLDER, write_page

__all__ = ["BUDGETS", "run"]

BUDGETS = (500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
#: A repository map takes seconds, so it is asked fewer questions, at fewer budgets.
PEER_QUESTIONS = 12
PEER_BUDGETS = (500, 4_000, 16_000)

_RESULTS = Path(__file__).parent / "results" / "context_quality.json"
_OURS = "Sightline"
_WORDS = "Sightline, words alone"
_PLAIN = "BM25 over functions"
_FILES = "whole files (v0)"
_GREP = "grep and read"
_MAP = "repository map (aider)"


class Sightline:
    """The code profile on the live index."""

    def __init__(self, root: Path, cache: str, *, vectors: bool = True) -> None:
        self._corpus = asyncio.run(_corpus(str(root.resolve()), cache, vectors=vectors))

    def ask(self, question: str, budget: int) -> Reply:
        seen: set[tuple[str, str]] = set()
        whole: set[tuple[str, str]] = set()
        for piece in choose(self._corpus, question, budget).pieces:
            path, _, name = piece.id.partition("::")
            named = (path, name.partition("#")[0])
            seen.add(named)
            if piece.text is not None and piece.content == piece.text.full:
                whole.add(named)
        return Reply(frozenset(seen), frozenset(whole))


async def _corpus(root: str, cache: str, *, vectors: bool) -> Corpus:
    workspace = Workspace([Root(root, root)], notify=False)
    index = Index(workspace, environment=os.environ, cache=cache)
    try:
        await workspace.begin()
        await index.build(_quiet, force=False)
        snapshot = index.builders[root].snapshot
        assert snapshot is not None
        corpus = Corpus(snapshot, Texts(snapshot, root), index.lookup)
        if vectors:
            await index.dense.finish(index.builders[root])
            corpus.matrix = await index.dense.matrix(index.builders[root], snapshot)
        return corpus
    finally:
        await index.close()
        workspace.close()


def _quiet(message: str, *, phase: str, done: int | None = None, total: int | None = None) -> None:
    """Nobody watches."""


def run() -> bool:
    results: dict[str, Any] = {"load_before": loads(), "projects": {}, "recall": {}}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as cache:
        for name in corpora.QUALITY:
            project = Project(corpora.quality(name))
            asked = questions(project)
            results["projects"][name] = {
                "version": corpora.QUALITY[name][0],
                "files": len(project.sources),
                "definitions": len(project.definitions),
                **{kind: sum(q.kind == kind for q in asked) for kind in ("docs", "tests")},
            }
            print(name, results["projects"][name], flush=True)
            rivals: dict[str, Rival] = {
                _OURS: Sightline(project.root, cache),
                _WORDS: Sightline(project.root, cache, vectors=False),
                _PLAIN: Bm25(project),
                _FILES: WholeFiles(project),
                _GREP: Grep(project),
            }
            for rival, way in rivals.items():
                rows += _judged(rival, way, asked, BUDGETS)
            few = asked[:: max(1, len(asked) // PEER_QUESTIONS)][:PEER_QUESTIONS]
            with Aider(project) as peer:
                rows += _judged(_MAP, peer, few, PEER_BUDGETS)
            rows += _judged(f"{_OURS}, same questions", rivals[_OURS], few, PEER_BUDGETS)
    results["recall"] = _means(rows)
    results["load_after"] = loads()
    results["limits"] = _limits(results["recall"])
    _RESULTS.write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    draw(results["recall"], FOLDER / "context-quality.png")
    write_page("context-quality.md", "python -m bench context_quality", page(results))
    for limit in results["limits"]:
        print(f"{limit['name']}: {limit['measured']:.2f} (at least {limit['allowed']:g})")
    return all(limit["kept"] for limit in results["limits"])


def _judged(
    rival: str, way: Rival, asked: Sequence[Question], budgets: Sequence[int]
) -> list[dict[str, Any]]:
    rows = []
    for question in asked:
        for budget in budgets:
            reply = way.ask(question.text, budget)
            rows.append(
                {
                    "rival": rival,
                    "kind": question.kind,
                    "budget": budget,
                    "seen": len(question.needed & reply.seen) / len(question.needed),
                    "whole": len(question.needed & reply.whole) / len(question.needed),
                }
            )
    return rows


def _means(rows: list[dict[str, Any]]) -> dict[str, dict[str, dict[str, list[float]]]]:
    """By rival, kind of question and budget: seen and whole."""
    groups: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in rows:
        for kind in (row["kind"], "all"):
            groups.setdefault((row["rival"], kind, row["budget"]), []).append(row)
    found: dict[str, dict[str, dict[str, list[float]]]] = {}
    for (rival, kind, budget), group in groups.items():
        means = [
            round(statistics.mean(row[what] for row in group), 4) for what in ("seen", "whole")
        ]
        found.setdefault(rival, {}).setdefault(kind, {})[str(budget)] = means
    return found


def _limits(recall: dict[str, dict[str, dict[str, list[float]]]]) -> list[dict[str, Any]]:
    def ratio(other: str, budget: int) -> float:
        ours = recall[_OURS]["all"][str(budget)][0]
        return ours / max(recall[other]["all"][str(budget)][0], 1e-9)

    asked = [
        ("4,000 tokens, recall beside BM25 over functions", 1.2, ratio(_PLAIN, 4_000)),
        ("4,000 tokens, recall beside whole files", 2.5, ratio(_FILES, 4_000)),
        ("500 tokens, recall beside BM25 over functions", 1.5, ratio(_PLAIN, 500)),
    ]
    return [
        {"name": name, "allowed": least, "measured": measured, "kept": measured >= least}
        for name, least, measured in asked
    ]
