"""Vectors on 30,000 files: what they add to a search over stdio, to an edit and to memory.

The tree of ``bench index`` is indexed with its vectors in a folder that is kept, so that only the
first run pays for encoding. Encoding stops after a quarter of an hour; files that have no vectors
by then get made-up ones, through the same log, in the copy that is measured. Two servers answer the
same new questions in turns, one as installed and one by words alone.
"""

import contextlib
import json
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.corpora import thirty_thousand
from bench.dense_scale_page import page
from bench.index import Questions, memory, search, spread
from bench.kernel import cpu_seconds, loads
from bench.meaning.measure import bootstrap
from bench.meaning.questions import questions, shortened
from sightline.index.building.library import Library
from sightline.index.dense.encoder import VECTOR_SCALE, encode_query
from sightline.index.dense.nearness import LOOKED_AT, Block, Matrix, missing_files
from sightline.index.dense.sketches import distances
from sightline.index.dense.vectors import VectorLog, log_path, path_key
from sightline.index.dense.weights import bundled
from sightline.index.searching.fusion import CANDIDATES, fusion_for
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.query import understand
from sightline.index.searching.ranked import Near
from sightline.index.searching.results import Records
from sightline.index.searching.search import Request, RootSearch
from sightline.index.storage.snapshot import Snapshot
from sightline.index.storage.store import Store, index_folder
from tests.support.processes import children_of
from tests.support.program import command, environment
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "dense_scale.json"
_KEPT = Path(__file__).parent.parent / ".cache" / "dense-scale"
_ENCODE_S = 900
_EDITS = 15
_TIMES = 60
_KNOWN = 200
_TOP = 10
#: As installed, and by words alone.
_SIDES: dict[str, tuple[str, ...]] = {"both": (), "words": ("--set", "dense=false")}
_DEPTHS = (10, 50, 200, CANDIDATES)
Ints = NDArray[np.int64]


def run() -> bool:
    root = thirty_thousand()
    results: dict[str, Any] = {"load_before": loads(), "looked_at": LOOKED_AT}
    _encode(root)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        shutil.copytree(_KEPT, home)
        library = Library(
            Store(index_folder(str(home / ".cache" / "sightline"), str(root)), str(root))
        )
        library.load()
        results["chunks"], results["made_up"], real = _fill(library)
        made = Questions(root, random.Random(11))
        names, sentences = made.names(), made.sentences()
        asked = sentences + [shortened(text) for text in sentences]
        results["inside"] = _inside(library, asked)
        results["recall"] = _recall(library, asked[::2], real)
        results["quality"] = _quality(library, root)
        library.store.close()
        with contextlib.ExitStack() as stack:
            results["alone"] = _alone(_server(stack, home, root), names, sentences)
        with contextlib.ExitStack() as stack:
            sides = {side: _server(stack, home, root, *more) for side, more in _SIDES.items()}
            results["asked"] = _asked(sides["both"], sides["words"], names, sentences)
            results["memory"] = {side: memory(one.process.pid) for side, one in sides.items()}
        results["update"] = {}
        for side, more in _SIDES.items():
            with contextlib.ExitStack() as stack:  # alone: two would take up the same edit at once
                results["update"][side] = _update(_server(stack, home, root, *more), root)
    results["load_after"] = loads()
    _RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page("dense-scale.md", "python -m bench dense_scale", page(results))
    return True


# Vectors


def _encode(root: Path) -> None:
    """The index of the tree and as many vectors as there is time for."""
    _KEPT.mkdir(parents=True, exist_ok=True)
    work = subprocess.Popen(
        command("index", "build", root),
        env=environment(_KEPT),
        cwd=_KEPT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        work.wait(_ENCODE_S)
    except subprocess.TimeoutExpired:
        work.terminate()
        work.wait()


def _log(library: Library) -> VectorLog:
    log = VectorLog(log_path(library.store.folder, bundled().digest), bundled().size)
    log.refresh()
    return log


def _fill(library: Library) -> tuple[int, int, set[str]]:
    """How many chunks there are, how many of them got made-up vectors, and the other files."""
    log = _log(library)
    rows = library.rows
    missing = missing_files(rows, log)
    generator = np.random.default_rng(5)
    made = []
    for path in missing:
        row = rows[path]
        vectors = generator.standard_normal((row.chunks, log.width))
        vectors *= VECTOR_SCALE / np.linalg.norm(vectors, axis=1, keepdims=True)
        small = np.clip(np.rint(vectors), -127, 127).astype(np.int8)
        made.append((path_key(path), row.hash, [bytes(8)] * row.chunks, small))
    log.add(made)
    chunks = sum(row.chunks for row in rows.values() if row.place >= 0)
    return chunks, sum(rows[path].chunks for path in missing), set(rows) - set(missing)


# In this process


def _cpu(work: Callable[[], Any], times: int = 1) -> float:
    """Milliseconds of processor time: the middle."""
    figures: list[float] = []
    for _ in range(times):
        began = time.process_time()
        work()
        figures.append((time.process_time() - began) * 1000)
    return statistics.median(figures)


def _inside(library: Library, asked: list[str]) -> dict[str, float]:
    snapshot = library.snapshot()
    kept: list[Any] = []
    figures = {"log_ms": _cpu(lambda: kept.append(_log(library)))}
    [log] = kept
    blocks: list[Block] = []

    def places() -> None:
        for part in snapshot.parts:
            block = Block.of(part, snapshot.rows, log)
            assert block is not None
            blocks.append(block)

    figures["places_ms"] = _cpu(places)
    figures["sketches_ms"] = _cpu(lambda: [block.sketches for block in blocks])
    matrix, living = Matrix(blocks, log.width), snapshot.chunk_alive
    every = np.arange(snapshot.chunks)
    queries = [encode_query(bundled(), text) for text in asked[:_TIMES]]
    turn = iter(asked[:_TIMES] * 2)
    figures["encode_ms"] = _cpu(lambda: encode_query(bundled(), next(turn)), _TIMES)
    again = iter(queries * 4)
    figures["distances_ms"] = _cpu(
        lambda: distances([block.sketches for block in blocks], next(again)), _TIMES
    )
    figures["nearest_ms"] = _cpu(lambda: matrix.nearest(next(again), living, CANDIDATES), _TIMES)
    figures["exact_ms"] = _cpu(lambda: matrix.near(next(again), every), 5)
    counts = [len(matrix.looked_at(query, living)) for query in queries]
    figures["compared"] = statistics.median(counts)
    return figures


def _recall(library: Library, asked: list[str], real: set[str]) -> dict[str, Any]:
    """How many of the really nearest are found, among the chunks that were really encoded."""
    snapshot = library.snapshot()
    log = _log(library)
    blocks = [Block.of(part, snapshot.rows, log) for part in snapshot.parts]
    matrix = Matrix([block for block in blocks if block is not None], log.width)
    flags = np.array([path in real for path in snapshot.paths])
    among = snapshot.chunk_alive & flags[snapshot.chunk_file]
    own = np.flatnonzero(among)
    found: dict[int, list[float]] = {depth: [] for depth in _DEPTHS}
    same = 0
    for text in asked:
        query = encode_query(bundled(), text)
        values = matrix.near(query, own)
        looked = np.isin(own, matrix.looked_at(query, among), assume_unique=True)
        order = np.argsort(-values, kind="stable")
        for depth in _DEPTHS:
            found[depth].append(float(looked[order[:depth]].mean()))
        same += bool(looked[order[:CANDIDATES]].all())
    return {
        "chunks": len(own),
        "questions": len(asked),
        "found": {str(depth): statistics.mean(values) for depth, values in found.items()},
        "all_found": same,
    }


def _quality(library: Library, root: Path) -> dict[str, Any]:
    """Ranks of known answers with the sketches, and with every vector compared exactly."""
    snapshot = library.snapshot()
    log = _log(library)
    blocks = [Block.of(part, snapshot.rows, log) for part in snapshot.parts]
    own = [block for block in blocks if block is not None]
    sides = {"sketches": Matrix(own, log.width), "exact": _Exact(own, log.width)}
    lookup, names = Lookup(), _Names(snapshot)
    gains: dict[str, list[float]] = {side: [] for side in sides}
    same = 0
    for question in questions(root / "django", "python", _KNOWN):
        text = shortened(question.text)
        weight = fusion_for(understand(text))
        if weight <= 0.0:
            continue
        query = cache(partial(encode_query, bundled(), text))
        answers: list[list[int]] = []
        for side, matrix in sides.items():
            near = Near(matrix, query, weight)
            search = RootSearch(snapshot, str(root), lookup, Request(text), near=near)
            answers.append([found.chunk for found in search.run().found[:_TOP]])
            ranks = [names.of(chunk) for chunk in answers[-1]]
            wanted = (f"django/{question.path}", question.name)
            gains[side].append(1 / (ranks.index(wanted) + 1) if wanted in ranks else 0.0)
        same += answers[0] == answers[1]
    difference = np.array(gains["sketches"]) - np.array(gains["exact"])
    return {
        "questions": len(difference),
        "mrr": {side: statistics.mean(values) for side, values in gains.items()},
        "difference": [float(difference.mean()), *bootstrap(difference)],
        "same_page": same,
    }


class _Exact(Matrix):
    """Every vector compared."""

    def looked_at(self, query: NDArray[np.int8], among: NDArray[np.bool_]) -> Ints:
        return np.flatnonzero(among)


class _Names:
    """Path and qualified name of a chunk."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._records = Records(snapshot)

    def of(self, chunk: int) -> tuple[str, str]:
        file, number = self._records.place(chunk)
        found = self._records.of(file)[number]
        return self._snapshot.path(file), f"{found.container}.{found.name}".lstrip(".")


# Over stdio


def _server(stack: contextlib.ExitStack, home: Path, root: Path, *more: str) -> StdioServer:
    server = StdioServer.start([str(root), "--tools", "index", *more], home)
    stack.callback(server.stop)
    stack.callback(server.process.kill)
    server.initialize()
    return server


def _alone(server: StdioServer, names: list[str], sentences: list[str]) -> dict[str, Any]:
    """Every question to the program as installed, with nothing else at work."""
    _warm(server)
    asked = names + sentences
    random.Random(4).shuffle(asked)
    return spread([search(server, text)[0] for text in asked])


def _warm(server: StdioServer) -> None:
    _, answer = search(server, "warm the caches of the very first question")
    assert "by words alone" not in answer["summary"], answer["summary"]
    search(server, "and the ones that the second question needs")


def _asked(
    both: StdioServer, words: StdioServer, names: list[str], sentences: list[str]
) -> dict[str, Any]:
    for server in (both, words):
        _warm(server)
    figures: dict[str, list[float]] = {"names": [], "both": [], "words": []}
    turns = [("names", text) for text in names] + [("both", text) for text in sentences]
    random.Random(3).shuffle(turns)
    for number, (kind, text) in enumerate(turns):
        sides = [(kind, both)] + ([("words", words)] if kind == "both" else [])
        for side, server in sides if number % 2 else reversed(sides):
            figures[side].append(search(server, text)[0])
    added = [a - b for a, b in zip(figures["both"], figures["words"], strict=True)]
    return {
        "all": spread(figures["names"] + figures["both"]),
        "names": spread(figures["names"]),
        "both": spread(figures["both"]),
        "words": spread(figures["words"]),
        "added": spread(added),
    }


def _update(server: StdioServer, root: Path) -> dict[str, Any]:
    """The first question after a start; from the end of an edit to the search that has it."""
    file = root / "django" / "bench_edited.py"
    took: list[float] = []
    cpu: list[float] = []
    first, _ = search(server, "warm the caches of the very first question")
    try:
        for number in range(_EDITS):
            file.write_text(f"def paint_fence_{number}(colour):\n    return colour, {number}\n")
            before = _used(server)
            wall, answer = search(server, f"how is the fence number {number} painted")
            cpu.append((_used(server) - before) * 1000)
            took.append(wall)
            assert any(item["path"].endswith(file.name) for item in answer["items"])
    finally:
        file.unlink()
    return spread(took) | {"cpu_ms": statistics.median(cpu), "first_ms": first}


def _used(server: StdioServer) -> float:
    """The processor time of a server and its workers so far."""
    main = server.process.pid
    children = [pid for child in children_of(main) for pid in (child, *children_of(child))]
    total = cpu_seconds(main)
    for pid in children:
        with contextlib.suppress(OSError):
            total += cpu_seconds(pid)
    return total
