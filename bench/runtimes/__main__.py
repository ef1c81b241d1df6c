"""``python -m bench.runtimes``: the shipped model, run in four ways; writes its page of evidence.

onnxruntime, and onnx to make the graphs, are installed into a folder of their own when they are
not there, never beside the package.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from bench.kernel import loads
from bench.meaning.corpora import corpus
from bench.meaning.opened import opened
from bench.meaning.questions import questions, shortened
from bench.runtimes.child import WAYS
from bench.runtimes.page import page
from sightline.index.dense.weights import bundled
from tools.evidence import write_page

_ROOT = Path(__file__).parent.parent.parent
_FOLDER = _ROOT / ".cache" / "runtimes"
_PACKAGES = ("onnx==1.23.2", "onnxruntime==1.31.1")
#: What running a graph needs, and the package has no other use for.
_ADDED = ("onnxruntime", "flatbuffers", "google", "packaging")
_TIMES = 5
_CHUNKS = 1_500
_QUERIES = 200


def _python() -> str:
    python = _FOLDER / "bin" / "python"
    if not python.exists():
        venv.create(_FOLDER, with_pip=True)
        own = (f"numpy=={np.__version__}", f"msgspec=={msgspec.__version__}")
        command = [str(python), "-m", "pip", "install", "--quiet", *_PACKAGES, *own]
        subprocess.run(command, check=True, stdout=sys.stderr)
    return str(python)


async def _rows(scratch: Path) -> tuple[Path, int]:
    """Chunks of a code base and questions about it, spelled: that is the same in every way."""
    weights = bundled()
    folder = corpus("python")
    async with opened(folder) as code:
        step = max(1, len(code.names) // _CHUNKS)
        spell = weights.layout.chunk
        chunks = [spell(weights.vocabulary, *rest) for _, *rest in code.texts(step)]
    asked = [shortened(question.text) for question in questions(folder, "python", _QUERIES)]
    queries = [weights.layout.question(weights.vocabulary, text) for text in asked]
    path = scratch / "rows.json"
    given = {"chunks": chunks, "queries": queries, "longest": weights.layout.longest}
    path.write_text(json.dumps(given), "utf-8")
    return path, len(chunks)


def _measured(scratch: Path, rows: Path) -> dict[str, dict[str, float]]:
    """Every way in turns, so that a slow minute of the machine is one of all of them."""
    python = _python()
    path = f"{_ROOT / 'src'}{os.pathsep}{_ROOT}"
    environment = {
        **os.environ,
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    graph = [python, "-m", "bench.runtimes.graph", str(scratch)]
    subprocess.run(graph, check=True, env=environment, stdout=sys.stderr)
    runs: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for _ in range(_TIMES):
        for way in WAYS:
            out = scratch / f"{way}.npy"
            command = [python, "-m", "bench.runtimes.child", way, str(rows), str(scratch), str(out)]
            said = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE)
            runs[way].append(json.loads(said.stdout))
            print(way, runs[way][-1], flush=True)
    found = {way: _middle(runs[way]) for way in WAYS}
    exact = _unit(np.load(scratch / f"{WAYS[0]}.npy"))
    for way in WAYS:
        cosines = (exact * _unit(np.load(scratch / f"{way}.npy"))).sum(axis=1)
        found[way]["cosine"] = float(cosines.min())
    return found


def _middle(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: statistics.median(run[name] for run in runs) for name in runs[0]}


def _unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def _megabytes(*paths: Path) -> float:
    files = [f for path in paths for f in ([path] if path.is_file() else path.rglob("*"))]
    return sum(f.stat().st_size for f in files if f.is_file() and f.suffix != ".pyc") / 1e6


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        before = loads()
        rows, count = asyncio.run(_rows(scratch))
        found = _measured(scratch, rows)
        [site] = _FOLDER.glob("lib/python3*/site-packages")
        sizes = {
            "onnxruntime": _megabytes(*(site / package for package in _ADDED)),
            "floats": _megabytes(*scratch.glob("*.floats.onnx")),
            "8 bits": _megabytes(*scratch.glob("*.8bit.onnx")),
            "weights": _megabytes(_ROOT / "src/sightline/index/dense/model.weights"),
        }
    about = {"count": count, "queries": _QUERIES, "times": _TIMES, "load": f"{before}, {loads()}"}
    write_page("runtimes.md", "python -m bench.runtimes", page(found, sizes, **about))
    return 0


if __name__ == "__main__":
    sys.exit(main())
