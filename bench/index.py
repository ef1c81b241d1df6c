"""The index on 30,000 files: building, updating and searching it over stdio, beside ripgrep.

Searches go over MCP to ``sightline stdio``; ripgrep is started for each of the same questions, in
turns, in one run. Every question is new to Sightline, so that nothing comes from its memory.
"""

import itertools
import json
import random
import re
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from bench.corpora import ripgrep, thirty_thousand
from bench.index_page import page
from bench.kernel import Tree, loads, yardstick_us
from tests.support.processes import children_of
from tests.support.program import command, environment
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "index.json"
_QUESTIONS = 150
_TEXTS = 40
_EDITS = 25
_CANCELS = 5
_LOOK_S = 0.02
_LONGEST_S = 300
#: What vectors cost is measured by bench/meaning.
_WORDS_ALONE = ("--set", "dense=false")
_numbers = itertools.count(1_000)


def run() -> bool:
    root = thirty_thousand()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        results: dict[str, Any] = {"load_before": loads(), "yardstick_us": yardstick_us()}
        results["build"] = build(home, root)
        results["refresh"] = refresh(home, root)
        server = StdioServer.start([str(root), "--tools", "index", *_WORDS_ALONE], home)
        server.initialize()
        try:
            status = call(server, "index_status")["roots"][0]
            kept = ("files", "chunks", "symbols", "sourceBytes", "indexBytes")
            results["size"] = {key: status[key] for key in kept}
            questions = Questions(root, random.Random(7))
            results["ranked"] = ranked(server, questions)
            results["literal"] = beside(server, root, "literal", questions.literals())
            results["regex"] = beside(server, root, "regex", questions.patterns())
            results["update"] = update(server, root)
            results["cancel"] = cancel(server)
            results["memory"] = memory(server.process.pid)
        finally:
            server.process.kill()
            server.stop()
        results["load_after"] = loads()
    _RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    write_page("index.md", "python -m bench index", page(results))
    return True


def call(server: StdioServer, tool: str, **arguments: Any) -> Any:
    number = next(_numbers)
    params = {"name": tool, "arguments": arguments}
    server.send({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
    answer = server.answer_to(number, _LONGEST_S)
    result = answer["result"]
    assert result["isError"] is False, result
    return result["structuredContent"]


# Building


def watched(home: Path, root: Path) -> Tree:
    """``sightline index build`` from its start to its end, with every process it starts."""
    process = subprocess.Popen(
        command("index", "build", *_WORDS_ALONE, root),
        env=environment(home),
        stdout=subprocess.DEVNULL,
        cwd=home,
    )
    tree = Tree(process.pid)
    while True:
        tree.look()
        try:
            process.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            continue
        assert process.returncode == 0
        return tree


def build(home: Path, root: Path) -> dict[str, float]:
    began = time.monotonic()
    tree = watched(home, root)
    return {
        "cpu_s": tree.cpu_s,
        "wall_s": time.monotonic() - began,
        "main_bytes": tree.peak_main_bytes,
        "all_bytes": tree.peak_bytes,
    }


def refresh(home: Path, root: Path) -> dict[str, Any]:
    """Nothing changed: the whole command, its start included."""
    figures = [watched(home, root).cpu_s for _ in range(3)]
    return {"cpu_s": statistics.median(figures), "all": figures}


def memory(pid: int) -> dict[str, int]:
    tree = Tree(pid)
    tree.look()
    return {"main_bytes": tree.peak_main_bytes, "all_bytes": tree.peak_bytes}


# Searching


class Questions:
    """Names, sentences, texts and patterns taken from the files themselves."""

    def __init__(self, root: Path, rng: random.Random) -> None:
        self.rng = rng
        files = sorted(root.rglob("*.py"))
        self.sources = [
            file.read_text(encoding="utf-8", errors="replace") for file in rng.sample(files, 900)
        ]

    def taken(self, pattern: str, count: int) -> list[str]:
        compiled = re.compile(pattern, re.MULTILINE)
        found: dict[str, None] = {}
        for source in self.sources:
            matches = compiled.findall(source)
            if matches:
                found[self.rng.choice(matches).strip()] = None
            if len(found) == count:
                break
        return list(found)

    def names(self) -> list[str]:
        return self.taken(r"^\s*(?:def|class) (\w{6,})", _QUESTIONS // 3)

    def sentences(self) -> list[str]:
        return self.taken(r'"""([A-Z][a-z]+ [^"\n]{20,90})\.', 2 * _QUESTIONS // 3)

    def literals(self) -> list[str]:
        return self.taken(r"(\w+\([\w, ]{4,24}\))", _TEXTS)

    def patterns(self) -> list[str]:
        names = self.taken(r"\b([a-z]+_[a-z]+)\(", _TEXTS)
        shapes = [r"{0}_\w+\(", r"def \w*{0}\w*\(", r"(?:self|cls)\.{0}\b", r"{0}\s*=\s*\w+"]
        return [
            shapes[place % len(shapes)].format(name.split("_")[place % 2])
            for place, name in enumerate(names)
        ]


def spread(figures: list[float]) -> dict[str, float]:
    ordered = sorted(figures)
    return {
        "p50": statistics.median(ordered),
        "p95": ordered[int(len(ordered) * 0.95)],
        "count": len(ordered),
    }


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds, and what came of it."""
    began = time.perf_counter()
    answer = work()
    return (time.perf_counter() - began) * 1000, answer


def search(server: StdioServer, query: str, mode: str = "auto") -> tuple[float, Any]:
    return timed(partial(call, server, "search", query=query, mode=mode))


def ranked(server: StdioServer, questions: Questions) -> dict[str, Any]:
    names, sentences = questions.names(), questions.sentences()
    call(server, "search", query="warm the caches of the very first question")
    figures: dict[str, list[float]] = {"names": [], "sentences": []}
    tokens: list[int] = []
    asked = [("names", query) for query in names] + [("sentences", query) for query in sentences]
    questions.rng.shuffle(asked)
    for kind, query in asked:
        took, answer = search(server, query)
        figures[kind].append(took)
        tokens.append(len(json.dumps(answer)) // 4)
    every = figures["names"] + figures["sentences"]
    return {
        "all": spread(every),
        "names": spread(figures["names"]),
        "sentences": spread(figures["sentences"]),
        "tokens": statistics.median(tokens),
    }


def beside(server: StdioServer, root: Path, mode: str, queries: list[str]) -> dict[str, Any]:
    """The same text asked of the index and of a scan, in turns."""
    program = str(ripgrep())
    flags = ["--fixed-strings"] if mode == "literal" else []
    own: list[float] = []
    scan: list[float] = []
    for query in queries:
        own.append(search(server, query, mode)[0])
        words = [program, "--no-config", "--count-matches", *flags, "-e", query, str(root)]
        scan.append(timed(partial(subprocess.run, words, capture_output=True, check=False))[0])
    return {
        "own": spread(own),
        "scan": spread(scan),
        "times_faster": statistics.median(scan) / statistics.median(own),
    }


# Changing


def update(server: StdioServer, root: Path) -> dict[str, float]:
    """From the end of an edit to the end of the search that has it."""
    file = root / "django" / "bench_edited.py"
    try:
        figures = []
        for number in range(_EDITS):
            file.write_text(f"def freshly_written_{number}():\n    return {number}\n" * 3)
            query = f"freshly_written_{number}"
            took, answer = search(server, query)
            figures.append(took)
            assert answer["items"][0]["name"] == query
    finally:
        file.unlink()
    return spread(figures)


def cancel(server: StdioServer) -> dict[str, float]:
    """From the cancel of a running rebuild to its answer, and to the end of its workers."""
    answered: list[float] = []
    stopped: list[float] = []
    for number in range(_CANCELS):
        name = f"build{number}"
        params = {
            "name": "index_build",
            "arguments": {"force": True},
            "_meta": {"progressToken": name},
        }
        server.send({"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": params})
        while True:
            told = server.receive(60).get("params", {})
            if told.get("phase") == "index" and told.get("progress"):
                break
        busy = [p for c in children_of(server.process.pid) for p in (c, *children_of(c))]
        began = time.perf_counter()
        server.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": name}})
        server.answer_to(name, 60)
        answered.append((time.perf_counter() - began) * 1000)
        while any(_working(pid) for pid in busy):
            time.sleep(0.001)
        stopped.append((time.perf_counter() - began) * 1000)
        call(server, "search", query=f"still here {number}")
    return {"answered_ms": max(answered), "stopped_ms": max(stopped), "times": _CANCELS}


def _working(pid: int) -> bool:
    try:
        return b"sightline.index.building.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
