"""The page that tells what caches of code cost."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any], limits: list[tuple[str, float, float]]) -> str:
    rows = "\n".join(
        f"| {name} | {allowed:g} | {measured:.2f} |" for name, allowed, measured in limits
    )
    return f"""# Caches of code on a large project

django's source release, {results["documents"]:,} declarations and other pieces, {results["bytes"] / 1e6:.0f} MB of documents. {results["machine"]}, load
{results["load_before"]} before and {results["load_after"]} after. CPU is processor time of the process and its children; the lesser of {results["rounds"]} rounds, in turns.

| what | CPU |
|---|---|
| `index build`, from nothing | {results["index_cpu_s"]:.1f} s |
| `context build --profile code`, from nothing, the index included | {results["build_cpu_s"]:.1f} s |
| loading the cache: reading, verifying, inverting | {results["load_cpu_s"]:.1f} s |
| a new question, {results["budget"]:,} tokens, {results["questions"]} questions from the documentation | p50 {results["cpu_ms_p50"]:.1f} ms, p95 {results["cpu_ms_p95"]:.1f} ms |

An answer has {results["answer_bytes_p50"]:,.0f} bytes (median). Questions are asked once each; what was worked out for one question about a piece of code is
kept for the next.

## Limits

| limit | at most | measured |
|---|---|---|
{rows}

Weakness: one project, one machine with two shared cores; the wire is not included in the time of a question.
"""
