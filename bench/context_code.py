"""Caches of code on a large project: building beside the index alone, loading, answering.

``python -m bench context_code`` builds the index of django from nothing and a cache of it from
nothing, in turns, each in a process with an empty home, then loads the cache and asks it questions
made from django's documentation. CPU is processor time of the process and all its children.
"""

import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench import corpora
from bench.context_code_page import page
from bench.context_questions import Project, questions
from bench.kernel import loads
from sightline.context.code.read import load_code
from sightline.context.files import CacheFolder
from tools.evidence import write_page

__all__ = ["run"]

_ROUNDS = 2
_QUESTIONS = 100
_BUDGET = 4_000


def run() -> bool:
    root = corpora.django()
    results: dict[str, Any] = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "load_before": loads(),
    }
    index: list[float] = []
    build: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(_ROUNDS):
            home = Path(folder, f"index-{number}")
            index.append(_cpu(home, "index", "build", str(root)))
            home = Path(folder, f"context-{number}")
            cache = str(Path(folder, f"cache-{number}"))
            words = ("--sources", str(root), "--cache", cache, "--profile", "code")
            build.append(_cpu(home, "context", "build", *words))
            print(f"index {index[-1]:.1f} s, cache {build[-1]:.1f} s", flush=True)
        results |= _asked(cache, root)
    results |= {"index_cpu_s": min(index), "build_cpu_s": min(build), "load_after": loads()}
    ratio = min(build) / min(index)
    limits = [
        ("building the cache beside building the index", 1.2, ratio),
        ("answering, p50, ms of CPU", 60.0, results["cpu_ms_p50"]),
    ]
    write_page("context-code.md", "python -m bench context_code", page(results, limits))
    for name, allowed, measured in limits:
        print(f"{name}: {measured:.2f} (at most {allowed:g})")
    return all(measured <= allowed for _, allowed, measured in limits)


def _cpu(home: Path, *words: str) -> float:
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = str(Path(sys.executable).with_name("sightline"))
    subprocess.run([program, *words], check=True, env=environment, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _asked(cache: str, root: Path) -> dict[str, Any]:
    began = time.process_time()
    loaded = load_code(CacheFolder(cache))
    load_s = time.process_time() - began
    asked = [question.text for question in questions(Project(root), _QUESTIONS)][:_QUESTIONS]
    times: list[float] = []
    sizes: list[int] = []
    for text in asked:
        began = time.process_time()
        answer = "".join(loaded.select(text, _BUDGET, lambda: None).compact())
        times.append((time.process_time() - began) * 1000)
        sizes.append(len(answer))
    return {
        "rounds": _ROUNDS,
        "budget": _BUDGET,
        "documents": loaded.manifest.document_count,
        "bytes": loaded.document_bytes,
        "load_cpu_s": load_s,
        "questions": len(asked),
        "cpu_ms_p50": statistics.median(times),
        "cpu_ms_p95": statistics.quantiles(times, n=20)[-1],
        "answer_bytes_p50": statistics.median(sizes),
    }
