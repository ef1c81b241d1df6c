"""The page that tells what vectors cost on a large tree."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    inside, asked, recall = results["inside"], results["asked"], results["recall"]
    update, memory, quality = results["update"], results["memory"], results["quality"]
    difference = quality["difference"]
    opened = inside["log_ms"] + inside["places_ms"] + inside["sketches_ms"]
    added_cpu = inside["encode_ms"] + inside["nearest_ms"]
    shares = " | ".join(f"{share:.4f}" for share in recall["found"].values())
    depths = " | ".join(recall["found"])
    lines = "|".join("---" for _ in recall["found"])
    return f"""# Vectors on 30,000 files

The tree of [index](index.md), {results["chunks"]:,} chunks; the vectors of {results["chunks"] - results["made_up"]:,} are those
of the model, the vectors of {results["made_up"]:,} are made up (random, of the same length, written through the same log), which
matters for no time below. Load {results["load_before"]} before and {results["load_after"]} after.

## Searching

From the request over stdio to the whole answer, every question new. First a server as installed, alone, as it is used. Then two
servers on one index asked in turns, one as installed and one with the setting `dense` off: *added* is the difference question by
question. Two of them at work on two cores get in each other's way, so each is slower than alone.

| questions | count | p50 ms | p95 ms |
|---|---|---|---|
{_row("as installed, alone, names and sentences", results["alone"])}
{_row("as installed, in turns, names and sentences", asked["all"])}
{_row("as installed, names", asked["names"])}
{_row("as installed, sentences", asked["both"])}
{_row("words alone, the same sentences", asked["words"])}
{_row("added by vectors", asked["added"])}

The first question after a start, of a server alone, took {update["both"]["first_ms"]:.0f} ms as installed and
{update["words"]["first_ms"]:.0f} ms by words alone: it waits for the first look at all files, and loads the model and the sketches. A sentence that stands in the code as it is written goes by words alone, without being encoded.

| step, CPU of one thread, middle of 60 | ms |
|---|---|
| the query encoded | {inside["encode_ms"]:.2f} |
| sketches compared | {inside["distances_ms"]:.2f} |
| the nearest: sketches compared, the best {inside["compared"]:,.0f} chosen and compared exactly | {inside["nearest_ms"]:.2f} |
| for comparison: every vector compared exactly | {inside["exact_ms"]:.1f} |
| once per start: log checked, vectors found in it, sketches made | {inside["log_ms"]:.0f} + {inside["places_ms"]:.0f} + {inside["sketches_ms"]:.0f} |

## What the sketches lose

At least {results["looked_at"]:,} chunks are compared exactly, all that are equally far included. Of the chunks that are really
nearest to {recall["questions"]} questions among {recall["chunks"]:,} encoded ones, so many were among them:

| nearest | {depths} |
|---|{lines}|
| found | {shares} |

For {recall["all_found"]} of the {recall["questions"]} questions none was lost, so the answer is that of an exact comparison.

Short questions, the first five telling words of what documentation says of {quality["questions"]} declarations of django in this tree,
asked with the sketches and with every vector compared exactly: mean reciprocal rank at 10 of the declaration
{quality["mrr"]["sketches"]:.4f} and {quality["mrr"]["exact"]:.4f}, difference {difference[0]:+.4f} with a 95 % paired bootstrap
interval of [{difference[1]:+.4f}, {difference[2]:+.4f}]. For {quality["same_page"]} of them the first ten hits are the same in the
same order. The documentation is in the tree here, so these figures say nothing about meaning; the difference is what counts.

## Changing

| what | measured |
|---|---|
| from the end of an edit to the search by meaning that has it, one server alone, p50 / p95 | {_edit(update["both"])} |
| the same by words alone, one server alone | {_edit(update["words"])} |
| memory of the server after the questions above, main process, as installed / words alone | {_mb(memory["both"])} / {_mb(memory["words"])} MB |

## Limits

| limit | allowed | measured | kept |
|---|---|---|---|
{_limit("search p50, ms", 15, results["alone"]["p50"], 1)}
{_limit("search p95, ms", 80, results["alone"]["p95"], 1)}
{_limit("added to a question, p50, ms of CPU", 3, added_cpu, 2)}
{_limit("one-file update, ms", 100, update["both"]["p50"], 0)}

Reading the vectors at the start takes {opened / 1000:.2f} s of CPU in all. Weakness: wall time on a shared machine with two
cores; sentences are taken from docs in the tree, so some stand there as written and go by words alone. The server's memory counts
pages of mapped files that the system may take back.
"""


def _limit(name: str, allowed: int, measured: float, digits: int) -> str:
    kept = "yes" if measured <= allowed else "no"
    return f"| {name} | {allowed} | {measured:.{digits}f} | {kept} |"


def _edit(figures: dict[str, float]) -> str:
    cpu = f"{figures['cpu_ms']:.0f} ms of CPU with the workers"
    return f"{figures['p50']:.0f} / {figures['p95']:.0f} ms, {cpu}"


def _mb(memory: dict[str, int]) -> str:
    return f"{memory['main_bytes'] / 1e6:.0f}"


def _row(name: str, figures: dict[str, float]) -> str:
    return f"| {name} | {figures['count']:.0f} | {figures['p50']:.1f} | {figures['p95']:.1f} |"
