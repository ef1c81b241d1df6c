"""The page that tells what the bench of peers measured."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    rows = "\n".join(_row(row, results["files"]) for row in results["rows"])
    failed = "\n".join(
        f"- {row['name']}: {row['failed']}" for row in results["rows"] if row.get("failed")
    )
    return f"""# Beside other bridges

All references of `force_str` in django's source release, asked over MCP stdio. One run, each in a
network namespace without a network, one after the other; load {results["load_before"]} before and
{results["load_after"]} after.

| bridge | first answer s | files named | bytes | warm p50 / worst ms | memory MiB | stale answers | processes left 3 s after a kill |
|---|---|---|---|---|---|---|---|
{rows}

"Files named": how many of the {results["files"]} files that use the name (by Python's tokenizer) the
first answer names. "Stale": a file with a use is added, then deleted; each time the very next
answer must name it, and must not.

{("What could not be measured:" + chr(10) + chr(10) + failed) if failed else ""}

## Weak points

- The bridges answer in different forms; only the named files are compared, not every place.
- Repeated questions are answered by Sightline from memory (its first answer to each state is not).
- They ran one after the other on a shared machine: differences below 2x are noise. What is right
  and what is stale does not depend on load.
- A peer may do better with settings we do not know.
"""


def _row(row: dict[str, Any], files: int) -> str:
    if row.get("failed"):
        return f"| {row['name']} | - | - | - | - | - | - | - |"
    return (
        f"| {row['name']} | {row['first_s']:.1f} | {row['named']} of {files} | {row['bytes']:,} | "
        f"{row['warm_ms']:.1f} / {row['warm_p95_ms']:.1f} | {row['memory_mb']} | "
        f"{row['stale']} of {row['rounds']} | {row['left']} |"
    )
