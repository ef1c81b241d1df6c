"""The page that tells what the bench of context caches measured."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    build, server = results["build"], results["server"]
    cold, warm, large = server["cold"], server["warm"], server["large"]
    limits = "\n".join(
        f"| {limit['name']} | {limit['allowed']:g} | {limit['measured']:.2f} |"
        for limit in results["limits"]
    )
    return f"""# Context caches

{results["documents"]} Markdown documents of {results["bytes"] / 1e6:.2f} MB in all, made for this run (word frequencies and lengths spread as in real text),
{results["machine"]}, load {results["load_before"]} before and {results["load_after"]} after. CPU is processor time of the process that does the work, measured by the kernel.

| what | CPU | |
|---|---|---|
| `context build` | {build["cpu_s"]:.2f} s | wall {build["wall_s"]:.2f} s, every file synced to the disk; starting the command alone: {build["start_cpu_s"]:.2f} s |
| `context resolve`, a process per question | {results["command"]["cpu_s"]:.2f} s | reads and verifies everything |
| server, first question | {cold["cpu_ms"]:.0f} ms | wall {cold["wall_ms"]:.0f} ms; meanwhile {cold["pings"]} pings were answered, p50 {cold["ping_ms_p50"]:.1f} ms, slowest {cold["ping_ms_max"]:.0f} ms |
| server, {warm["queries"]} new questions, budget {warm["budget"]:,} | p50 {warm["cpu_ms_p50"]:.2f} ms, p95 {warm["cpu_ms_p95"]:.2f} ms | wall p50 {warm["wall_ms_p50"]:.2f} ms, answer {warm["answer_bytes_p50"]:,.0f} bytes |
| server, {large["queries"]} new questions, budget {large["budget"]:,} | p50 {large["cpu_ms_p50"]:.2f} ms, p95 {large["cpu_ms_p95"]:.2f} ms | wall p50 {large["wall_ms_p50"]:.2f} ms, answer {large["answer_bytes_p50"]:,.0f} bytes |
| `inspect_cache`, nothing changed | {server["inspect_cpu_ms"]:.2f} ms | verified when it was loaded |
| question after one document was touched | {server["after_a_change_cpu_ms"]:.0f} ms | everything is read and verified again |

The direct way of answering the same questions (read the cache with the standard library, count, sort, cut; no verifying) takes {warm["direct_cpu_ms_p50"]:.0f} ms of CPU per
question, p50 of a tenth of them, in turns with the server: **{warm["direct_cpu_ms_p50"] / warm["cpu_ms_p50"]:.0f} times** as much. Its answers were compared with the server's and are equal.

Memory of the server, at its peak: {server["rss_mb"]["before"]:.0f} MB before the first question, {server["rss_mb"]["after"]:.0f} MB at the end.

Weakness: made-up text, one machine with two shared cores. The direct way is a test's reference and not tuned; it shows what staying
loaded is worth, not how another program would do.

## Limits

| limit | allowed | measured |
|---|---|---|
{limits}
"""
