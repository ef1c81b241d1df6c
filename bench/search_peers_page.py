"""The page that tells what the bench of other searches measured."""

from typing import Any

__all__ = ["page"]

_HEAD = """# Beside other searches

{asked} documentation sentences of each code base, all of them blanked in the code that is searched,
and then the bare names of the same declarations. Every question goes to everybody before the next
one does. Ten hits are asked for, with each program's defaults; each runs in a network namespace
without a network. Load {load_before} before and {load_after} after.

*Build* is CPU time until it can be asked, for Sightline with all vectors. *p50 / p95* is wall time
of one question as a client sees it: over MCP for Sightline and jcodemunch-mcp, a process for every
question for probe, which keeps no index, and a call in this process for SQLite. *CPU* is the mean of a
question. *MRR* and *found* are at 10: of a hit whose lines hold the declaration, then of its file.
*Bytes* are the median of what comes back.
"""
_TABLE = """
## {name}

| search | build CPU s | asked | p50 / p95 ms | CPU ms | MRR | found | MRR of files | files found | bytes |
|---|---|---|---|---|---|---|---|---|---|
"""
_WEAK = """
## Weak points

- Documentation sentences are not what users type, and Sightline's model was trained on sentences of
  the same kind from other projects.
- jcodemunch-mcp returns symbols by one line each, so its hit is right only if it is that very
  line; the others return ranges, where a range that is too big is right as well. Sightline and
  SQLite have the same chunks. Files tell them apart without that.
- SQLite answers in this process, without a protocol around it; its time is not what a client sees.
  Its chunks are cut by Sightline's grammars, and cutting is part of its build.
- jcodemunch-mcp can use embeddings and semble needs them; both bring models from a hub, which is out
  of reach here. jcodemunch-mcp ran without. What did not run at all is named below its table.
- The machine is shared: wall times below 2x apart are noise. Places and bytes do not depend on it.
"""


def page(results: dict[str, Any]) -> str:
    asked = results["corpora"][0]["asked"]
    head = {key: results[key] for key in ("load_before", "load_after")}
    text = _HEAD.format(asked=asked, **head)
    for corpus in results["corpora"]:
        text += _TABLE.format(name=corpus["name"])
        for row in corpus["rows"]:
            for kind in ("sentences", "names"):
                if kind in row:
                    text += _row(row, kind)
        failed = [row for row in corpus["rows"] if row.get("failed")]
        for row in failed:
            text += f"\n{row['name']} did not run: {row['failed'].partition('. ')[0]}.\n"
    return text + _WEAK


def _row(row: dict[str, Any], kind: str) -> str:
    seen = row[kind]
    return (
        f"| {row['name']} | {row['build_cpu_s']:.1f} | {kind} | {seen['p50_ms']:.1f} / "
        f"{seen['p95_ms']:.1f} | {seen['cpu_ms']:.1f} | {seen['mrr']:.3f} | {seen['recall']:.2f} | "
        f"{seen['file_mrr']:.3f} | {seen['file_recall']:.2f} | {seen['bytes']:,.0f} |\n"
    )
