"""What is found first by words alone: questions with known answers, beside SQLite FTS5 on the same
chunks. What vectors add is on the page of bench.meaning."""

import asyncio
import json
import random
import re
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.corpora import django, scripts
from bench.kernel import loads
from bench.quality_page import page
from bench.questions import Question, python_questions, script_questions
from sightline.index.cutting.chunks import Chunk
from sightline.index.index import Index
from sightline.index.searching import ranked
from sightline.index.searching.search import Request
from sightline.index.storage.snapshot import Snapshot
from sightline.tools.tool import silent
from tests.support.index import build, open_index
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results")
_QUESTIONS = 300
_NAMES = 300
_TOP = 10

Make = Callable[[Path, Path, int], list[Question]]
CORPORA: dict[str, tuple[Callable[[], Path], Make]] = {
    "python": (django, python_questions),
    "scripts": (scripts, script_questions),
}


def run() -> bool:
    results: dict[str, Any] = {"load": loads()}
    golden: list[str] = []
    for name, (corpus, make) in CORPORA.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder) / "ws"
            questions = make(corpus(), root, _QUESTIONS)
            found, lines = asyncio.run(measure(root, Path(folder) / "cache", questions))
            results[name] = found
            golden += [f"{name} {line}" for line in lines]
    text = json.dumps(results, indent=1) + "\n"
    (_RESULTS / "quality.json").write_text(text, encoding="utf-8")
    # One line per question: what was asked for, and at which place it was found.
    (_RESULTS / "quality.txt").write_text("\n".join(golden) + "\n", encoding="utf-8")
    write_page("quality.md", "python -m bench quality", page(results))
    return True


async def measure(
    root: Path, cache: Path, questions: list[Question]
) -> tuple[dict[str, Any], list[str]]:
    # Vectors made in the background would be there for the last questions or for none.
    async with open_index(root, cache, dense=False) as index:
        await build(index)
        own = [await place(index, question) for question in questions]
        undemoted = await without_demotion(index, questions)
        rows = index.builders[str(root)].library.rows
        result = {
            "files": sum(row.place >= 0 for row in rows.values()),
            "chunks": sum(row.chunks for row in rows.values()),
            "questions": len(questions),
            "own": scores(own),
            "undemoted": scores(undemoted),
            "fts5": scores(FullText(index, root).places(questions)),
            "names": await names(index, root),
        }
        result["tokens"] = await tokens(index, questions)
    lines = [
        f"{question.path}:{question.name} {rank or '-'}"
        for question, rank in zip(questions, own, strict=True)
    ]
    return result, sorted(lines)


def scores(ranks: list[int]) -> dict[str, float]:
    """Mean reciprocal rank of the first ten, and how many are among the first 1, 5, 10."""
    size = max(len(ranks), 1)
    found = {"mrr": sum(1 / rank for rank in ranks if rank) / size}
    for limit in (1, 5, 10):
        found[f"r{limit}"] = sum(0 < rank <= limit for rank in ranks) / size
    return found


async def place(index: Index, question: Question) -> int:
    """At which of the first ten places the answer is, or 0."""
    answer = await index.search(Request(question.text), silent)
    for number, (which, found) in enumerate(answer.found[:_TOP], 1):
        search = answer.searches[which]
        if holds(search.path(found), search.chunk(found), question):
            return number
    return 0


def holds(path: str, chunk: Chunk, question: Question) -> bool:
    """Whether a chunk declares what was asked for."""
    return path == question.path and any(
        symbol.name == question.name and symbol.line + 1 == question.line
        for symbol in chunk.symbols
    )


async def without_demotion(index: Index, questions: list[Question]) -> list[int]:
    """The same with tests, docs and the others counting in full."""
    factors = dict(ranked._ROLE_FACTORS)
    try:
        ranked._ROLE_FACTORS.update(dict.fromkeys(factors, 1.0))
        return [await place(index, question) for question in questions]
    finally:
        ranked._ROLE_FACTORS.update(factors)


async def tokens(index: Index, questions: list[Question]) -> float:
    """Bytes of ten snippets and paths, in tokens of four bytes."""
    sizes: list[int] = []
    for question in questions[:50]:
        answer = await index.search(Request(question.text), silent)
        items = [answer.item(number) for number in range(min(_TOP, len(answer)))]
        sizes.append(sum(len(item.snippet) + len(item.path) for item in items) // 4)
    return sum(sizes) / max(len(sizes), 1)


async def names(index: Index, root: Path) -> dict[str, float]:
    """Definitions with a name that nothing else is declared under: is it the first hit?"""
    snapshot = index.builders[str(root)].snapshot
    assert snapshot is not None
    declared: Counter[str] = Counter()
    places: dict[str, tuple[str, int]] = {}
    for file in snapshot.files_by_path:
        for chunk in chunks_of(snapshot, file):
            for symbol in chunk.symbols:
                declared[symbol.name.lower()] += 1
                if symbol.kind in ("function", "class", "method") and len(symbol.name) > 4:
                    places[symbol.name] = (snapshot.path(file), symbol.line + 1)
    unique = sorted(name for name in places if declared[name.lower()] == 1)
    chosen = random.Random(3).sample(unique, min(_NAMES, len(unique)))
    right = 0
    for name in chosen:
        answer = await index.search(Request(name), silent)
        item = answer.item(0) if len(answer) else None
        right += item is not None and (item.path, item.position.line + 1) == places[name]
    return {"asked": len(chosen), "first": right / max(len(chosen), 1)}


def chunks_of(snapshot: Snapshot, file: int) -> list[Chunk]:
    record = snapshot.record(file)
    return [record[number] for number in range(len(record))]


class FullText:
    """The same chunks in SQLite's own full-text index, with porter stemming and bm25."""

    def __init__(self, index: Index, root: Path) -> None:
        snapshot = index.builders[str(root)].snapshot
        assert snapshot is not None
        self._chunks: list[tuple[str, Chunk]] = []
        self._database = sqlite3.connect(":memory:")
        self._database.execute("CREATE VIRTUAL TABLE chunk USING fts5(text, tokenize='porter')")
        for file in snapshot.files_by_path:
            path = snapshot.path(file)
            data = (root / path).read_bytes()
            for chunk in chunks_of(snapshot, file):
                text = b"\n".join(data[start:end] for start, end in chunk.spans)
                self._chunks.append((path, chunk))
                values = (len(self._chunks), text.decode("utf-8", "replace"))
                self._database.execute("INSERT INTO chunk(rowid, text) VALUES (?, ?)", values)

    def places(self, questions: list[Question]) -> list[int]:
        found = [self._place(question) for question in questions]
        self._database.close()
        return found

    def _place(self, question: Question) -> int:
        words = dict.fromkeys(re.findall(r"\w+", question.text.lower()))
        query = " OR ".join(f'"{word}"' for word in words)
        rows = self._database.execute(
            "SELECT rowid FROM chunk WHERE chunk MATCH ? ORDER BY rank LIMIT ?", (query, _TOP)
        )
        for number, (row,) in enumerate(rows, 1):
            path, chunk = self._chunks[row - 1]
            if holds(path, chunk, question):
                return number
        return 0
