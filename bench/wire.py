"""The wire: what a message costs, how fast a client is served, beside the official Python SDK.

Rounds of both sides are interleaved in one run, so that whatever else the machine does hits both.
Processor time of the server process is the figure; wall time is only told for parallel connections.
"""

import json
import platform
import statistics
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bench.kernel import cpu_seconds, loads, peak_rss_bytes, yardstick_us
from bench.load import Outcome
from bench.sides import Pair, Side, ask, pair, place, stdio_commands, stdio_process
from bench.wire_page import page
from tools.evidence import write_page

__all__ = ["run"]

_RESULTS = Path(__file__).with_name("results") / "wire.json"
_ROUNDS = 9
_REQUESTS = 1_500
_CONNECTIONS = 8
_STARTS = 11
_PARALLEL = 200
_PARALLEL_REQUESTS = 6_000
_PARALLEL_ROUNDS = 3
_FIRST_TIME_ROUNDS = 3
_FIRST_TIME_REQUESTS = 250

#: The limits, as the requirements give them.
MAX_RATIO = 0.25
MAX_CALL_US = 150.0
MAX_START_CPU_S = 0.3
MAX_START_RSS_MB = 60.0


@dataclass(frozen=True)
class Sample:
    """One round on one side."""

    cpu_us: float
    outcome: Outcome


def run() -> bool:
    yardsticks: list[float] = []
    with pair() as both:
        results: dict[str, Any] = {
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "load_before": loads(),
            "versions": {"mcp": version("mcp"), "uvicorn": version("uvicorn")},
            "payload_bytes": both.payload_bytes,
            "rounds": _ROUNDS,
            "requests_per_round": _REQUESTS,
            "connections": _CONNECTIONS,
            "messages": {
                name: _message(both, text, yardsticks) for name, text in _messages(both).items()
            },
            "first_time": _first_time(both),
            "start": _start(both),
            "parallel": _parallel(both),
        }
        results["rss_mb"] = {
            side.name: peak_rss_bytes(side.pid) / 1e6 for side in (both.ours, both.theirs)
        }
        results["load_after"] = loads()
        results["yardstick_us"] = statistics.median(yardsticks)
        results["yardstick_least_us"] = min(yardsticks)
        results["yardstick_most_us"] = max(yardsticks)
    results["limits"] = _limits(results)
    _RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    text = page(results)
    write_page("wire.md", "python -m bench wire", text)
    print(text)
    return all(limit["kept"] for limit in results["limits"])


def _messages(both: Pair) -> dict[str, str]:
    paged = place(both.root) | {"pageSize": 40}
    return {
        "tools/list": ask("tools/list"),
        "tools/call definition": _call("vscode.lsp.definition", place(both.root)),
        "tools/call references": _call("vscode.lsp.references", paged),
    }


def _call(tool: str, arguments: dict[str, Any]) -> str:
    return ask("tools/call", {"name": tool, "arguments": arguments})


def _message(both: Pair, text: str, yardsticks: list[float]) -> dict[str, Any]:
    """Interleaved rounds of one message; who begins changes every round."""
    samples: dict[str, list[Sample]] = {both.ours.name: [], both.theirs.name: []}
    for side in (both.ours, both.theirs):
        side.load(text, connections=_CONNECTIONS, requests=200)
    for number in range(_ROUNDS):
        order = (both.ours, both.theirs) if number % 2 else (both.theirs, both.ours)
        for side in order:
            samples[side.name].append(_sample(side, text))
        yardsticks.append(yardstick_us())
    ours, theirs = samples[both.ours.name], samples[both.theirs.name]
    ratios = [a.cpu_us / b.cpu_us for a, b in zip(ours, theirs, strict=True)]
    return {
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "sides": {name: _summary(found) for name, found in samples.items()},
    }


def _sample(side: Side, text: str) -> Sample:
    before = cpu_seconds(side.pid)
    outcome = side.load(text, connections=_CONNECTIONS, requests=_REQUESTS)
    used = cpu_seconds(side.pid) - before
    assert outcome.errors == 0, f"{side.name}: {outcome}"
    return Sample(used / outcome.requests * 1e6, outcome)


def _summary(samples: list[Sample]) -> dict[str, Any]:
    cpu = [sample.cpu_us for sample in samples]
    return {
        "cpu_us": statistics.median(cpu),
        "cpu_us_range": [min(cpu), max(cpu)],
        "requests_per_s": statistics.median(
            s.outcome.requests / s.outcome.seconds for s in samples
        ),
        "answer_bytes": samples[0].outcome.answer_bytes,
    }


def _first_time(both: Pair) -> dict[str, Any]:
    """Questions that were not asked before: Sightline's own time beside the language server's."""
    text = _call("vscode.lsp.definition", place(both.root, "@LINE"))
    own: list[float] = []
    below: list[float] = []
    for number in range(_FIRST_TIME_ROUNDS):
        before = cpu_seconds(both.ours.pid), cpu_seconds(both.language_server)
        outcome = both.ours.load(
            text,
            connections=1,
            requests=_FIRST_TIME_REQUESTS,
            first_line=100 + number * _FIRST_TIME_REQUESTS,
        )
        assert outcome.errors == 0, outcome
        after = cpu_seconds(both.ours.pid), cpu_seconds(both.language_server)
        own.append((after[0] - before[0]) / outcome.requests * 1e6)
        below.append((after[1] - before[1]) / outcome.requests * 1e6)
    return {
        "cpu_us": statistics.median(own),
        "language_server_cpu_us": statistics.median(below),
        "requests": _FIRST_TIME_ROUNDS * _FIRST_TIME_REQUESTS,
    }


def _start(both: Pair) -> dict[str, Any]:
    """From the start of a process to its answer to ``initialize``."""
    samples: dict[str, list[tuple[float, float]]] = {}
    for number in range(_STARTS + 1):
        for name, argv in stdio_commands(both).items():
            sample = _start_once(argv, both.home)
            if number > 0:  # the first one compiles and fills caches
                samples.setdefault(name, []).append(sample)
    return {
        name: {
            "cpu_s": statistics.median(cpu for cpu, _ in found),
            "cpu_s_max": max(cpu for cpu, _ in found),
            "rss_mb_max": max(rss for _, rss in found),
            "starts": len(found),
        }
        for name, found in samples.items()
    }


def _start_once(argv: list[str], home: Path) -> tuple[float, float]:
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "1"},
    }
    opening = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    with stdio_process(argv, home) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(json.dumps(opening).encode() + b"\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        sample = cpu_seconds(process.pid), peak_rss_bytes(process.pid) / 1e6
        assert answer["result"]["protocolVersion"] == "2025-11-25"
        process.stdin.close()
        process.wait(20)
    return sample


def _parallel(both: Pair) -> dict[str, Any]:
    """Many connections at once, each with a request waiting all the time."""
    text = _messages(both)["tools/call definition"]
    found: dict[str, list[Outcome]] = {}
    for _ in range(_PARALLEL_ROUNDS):
        for side in (both.ours, both.theirs):
            outcome = side.load(text, connections=_PARALLEL, requests=_PARALLEL_REQUESTS)
            found.setdefault(side.name, []).append(outcome)
    return {name: [asdict(outcome) for outcome in rounds] for name, rounds in found.items()}


def _limits(results: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[tuple[str, float, float]] = []
    for name, found in results["messages"].items():
        rows.append((f"CPU per {name}, ratio to the SDK", found["ratio"], MAX_RATIO))
        cpu = found["sides"]["Sightline"]["cpu_us"]
        rows.append((f"CPU per {name}, microseconds", cpu, MAX_CALL_US))
    start = results["start"]["Sightline"]
    rows.append(("start to `initialize`, CPU seconds", start["cpu_s"], MAX_START_CPU_S))
    rows.append(("start to `initialize`, peak MB", start["rss_mb_max"], MAX_START_RSS_MB))
    ours = results["parallel"]["Sightline"]
    missing = sum(_PARALLEL - outcome["connected"] for outcome in ours)
    errors = sum(outcome["errors"] for outcome in ours)
    rows.append((f"of {_PARALLEL} parallel connections, lost", float(missing), 0.0))
    rows.append((f"errors over {_PARALLEL} parallel connections", float(errors), 0.0))
    return [
        {"what": what, "value": value, "limit": limit, "kept": value <= limit}
        for what, value, limit in rows
    ]
