"""The page of the bench ``wire``, from its results."""

from collections.abc import Iterable
from typing import Any

__all__ = ["page"]

_PAGE = """\
# The wire

What a message costs Sightline, beside a server on the official Python SDK (`mcp` {mcp}, low-level
server, JSON mode, uvicorn {uvicorn} with uvloop and httptools).

Both sides run in one run, rounds interleaved, who begins alternating: {rounds} rounds of
{requests_per_round} requests over {connections} connections, from a load generator in another
process. The figure is processor time (user and system) of the server process per request: the
median of the rounds. The ratio is the median of the rounds' ratios, with their range.

- Sightline runs the real stack: token file, headers, session, strict JSON, arguments, the queue of
  file changes, and the asked document compared with the disk. The answers to `definition`
  ({payload_bytes:,} bytes of structuredContent) and `references` (a page of 40) are a real language
  server's, remembered, as repeats are.
- The SDK's server checks no token and no arguments. It returns the same tools, and for both calls
  the same payload of `definition`, from memory.

| message | Sightline, us | SDK, us | ratio | range | Sightline, req/s | SDK, req/s |
|---|---|---|---|---|---|---|
{messages}

A question that was not asked before ({first_requests} definitions of 39 places each, one
connection) costs {first_us:.0f} us in Sightline beside {below_us:.0f} us in the language server.

## Start of stdio to the answer to `initialize`

| side | starts | CPU s, median | CPU s, worst | peak MB, worst |
|---|---|---|---|---|
{starts}

## 200 parallel connections

Each connection always has a `definition` waiting. This is wall time: the load generator and
everything else on the machine is in it.

| side | round | held | requests | errors | p50 ms | p99 ms | worst ms | req/s |
|---|---|---|---|---|---|---|---|---|
{parallel}

Peak memory after all of this: {memory}.

## Limits

| limit | allowed | measured | kept |
|---|---|---|---|
{limits}

## Weakness

Two shared cores ({machine}; load average {load_before} before, {load_after} after). Processor time
is steadier than wall time there, but other work on the same cores still makes every instruction
dearer: a fixed piece of Python took {yardstick_us:.1f} us during the rounds (from
{yardstick_least_us:.1f} to {yardstick_most_us:.1f}), so the ratios say more than the microseconds.
One payload size, one version of each library, loopback only. No language server works during the
rounds on either side. Requests per second are limited by the load generator and the shared cores.
"""


def page(results: dict[str, Any]) -> str:
    first = results["first_time"]
    tables = {
        "messages": _rows(_message(*item) for item in results["messages"].items()),
        "starts": _rows(_start(*item) for item in results["start"].items()),
        "parallel": _rows(
            _parallel(name, number, outcome)
            for name, outcomes in results["parallel"].items()
            for number, outcome in enumerate(outcomes, 1)
        ),
        "memory": ", ".join(f"{name} {size:.0f} MB" for name, size in results["rss_mb"].items()),
        "limits": _rows(_limit(limit) for limit in results["limits"]),
        "first_us": first["cpu_us"],
        "below_us": first["language_server_cpu_us"],
        "first_requests": first["requests"],
    }
    return _PAGE.format(**(results | results["versions"] | tables))


def _rows(rows: Iterable[list[str]]) -> str:
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _message(name: str, found: dict[str, Any]) -> list[str]:
    ours, theirs = found["sides"]["Sightline"], found["sides"]["SDK"]
    low, high = found["ratio_range"]
    return [
        name,
        f"{ours['cpu_us']:.0f}",
        f"{theirs['cpu_us']:.0f}",
        f"{found['ratio']:.3f}",
        f"{low:.3f}-{high:.3f}",
        f"{ours['requests_per_s']:.0f}",
        f"{theirs['requests_per_s']:.0f}",
    ]


def _start(name: str, found: dict[str, Any]) -> list[str]:
    return [
        name,
        f"{found['starts']}",
        f"{found['cpu_s']:.3f}",
        f"{found['cpu_s_max']:.3f}",
        f"{found['rss_mb_max']:.1f}",
    ]


def _parallel(name: str, number: int, outcome: dict[str, Any]) -> list[str]:
    return [
        name,
        f"{number}",
        f"{outcome['connected']}",
        f"{outcome['requests']}",
        f"{outcome['errors']}",
        f"{outcome['p50_ms']:.1f}",
        f"{outcome['p99_ms']:.1f}",
        f"{outcome['max_ms']:.1f}",
        f"{outcome['requests'] / outcome['seconds']:.0f}",
    ]


def _limit(limit: dict[str, Any]) -> list[str]:
    kept = "yes" if limit["kept"] else "NO"
    return [limit["what"], f"{limit['limit']:g}", f"{limit['value']:.3g}", kept]
