"""The page that tells what the bench of the index measured."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    size, build, refresh = results["size"], results["build"], results["refresh"]
    ranked, literal, regex = results["ranked"], results["literal"], results["regex"]
    update, cancel, memory = results["update"], results["cancel"], results["memory"]
    megabytes = size["sourceBytes"] / 1e6
    per_mb = build["cpu_s"] / megabytes
    ratio = size["indexBytes"] / size["sourceBytes"]
    return f"""# The index on 30,000 files

django's source release, ansible and homeassistant (without its translations) from the package registry, side by side in one
folder: {size["files"]:,} indexed files, {megabytes:.0f} MB, {size["chunks"]:,} chunks, {size["symbols"]:,} symbols. Two shared
cores, load {results["load_before"]} before and {results["load_after"]} after. By words alone (the setting `dense` off): what
vectors add is in [meaning](meaning.md).

## Building

| what | measured |
|---|---|
| first build, CPU of all processes | {build["cpu_s"]:.1f} s, {per_mb:.3f} s per MB |
| first build, wall | {build["wall_s"]:.0f} s |
| peak memory, main process | {build["main_bytes"] / 1e6:.0f} MB |
| peak memory, all processes together | {build["all_bytes"] / 1e6:.0f} MB |
| index on disk | {size["indexBytes"] / 1e6:.0f} MB, {ratio:.2f} of the source |
| a build when nothing changed, the whole command | {refresh["cpu_s"]:.2f} s of CPU |
| memory of the server after all that follows | {memory["main_bytes"] / 1e6:.0f} MB, with its workers {memory["all_bytes"] / 1e6:.0f} MB |

Memory is the sum of resident sets looked at fifty times a second; pages that processes share count in each.

## Searching

From the client's request over stdio to the whole answer, every question a new one; names and sentences taken from the files.

| questions | count | p50 ms | p95 ms |
|---|---|---|---|
{_row("ranked, all", ranked["all"])}
{_row("ranked, names", ranked["names"])}
{_row("ranked, sentences", ranked["sentences"])}
{_row("literal text", literal["own"])}
{_row("ripgrep 14.1, the same text", literal["scan"])}
{_row("pattern", regex["own"])}
{_row("ripgrep 14.1, the same pattern", regex["scan"])}

A ranked answer of ten hits takes {ranked["tokens"]:.0f} tokens of 4 bytes (median).

## Changing

| what | measured |
|---|---|
| from the end of an edit to the answer that has it, p50 / p95 | {update["p50"]:.0f} / {update["p95"]:.0f} ms |
| from a cancel to the answer of the build, worst of {cancel["times"]} | {cancel["answered_ms"]:.0f} ms |
| from a cancel to the end of its workers, worst of {cancel["times"]} | {cancel["stopped_ms"]:.0f} ms |

## Limits

| limit | allowed | measured |
|---|---|---|
| build, CPU s per MB | 0.35 | {per_mb:.3f} |
| build, main process, MB | 500 | {build["main_bytes"] / 1e6:.0f} |
| build, all processes, MB | 1,000 | {build["all_bytes"] / 1e6:.0f} |
| index size to source | 0.5 | {ratio:.2f} |
| refresh without changes, CPU s | 2 | {refresh["cpu_s"]:.2f} |
| one-file update, ms | 100 | {update["p50"]:.0f} |
| search p50, ms | 15 | {ranked["all"]["p50"]:.1f} |
| search p95, ms | 80 | {ranked["all"]["p95"]:.1f} |
| literal, times faster than ripgrep, at least | 5 | {literal["times_faster"]:.1f} |
| pattern, times faster than ripgrep, at least | 1.5 | {regex["times_faster"]:.1f} |

## How far this can be trusted

ripgrep pays for its start and for reading every file, from a warm page cache; it counts every match, while Sightline stops at
1,000 hits and shows the first ten with snippets. Times are wall time on a shared machine. The corpus is Python for the most part.
"""


def _row(name: str, figures: dict[str, float]) -> str:
    return f"| {name} | {figures['count']:.0f} | {figures['p50']:.1f} | {figures['p95']:.1f} |"
