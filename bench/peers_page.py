"""The page that tells what the bench of peers measured."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    rows = "\n".join(_row(row, results["files"]) for row in results["rows"])
    failed = "\n".join(
        f"- {row['name']}: {row['failed']}" for row in results["rows"] if row.get("failed")
    )
    return f"""# Beside other bridges

All references of `force_str` in django's source release, then of {results["questions"] - 1} other
functions, asked over MCP stdio. One run, each in a network namespace without a network, one after
the other; load {results["load_before"]} before and
{results["load_after"]} after.

| bridge | first answer s | files in it | bytes of it | answers that are right | warm p50 / worst ms | the first again ms | memory MiB | stale answers | processes left 3 s after a kill |
|---|---|---|---|---|---|---|---|---|---|
{rows}

"Files in it": how many of the {results["files"]} files that use the name (by Python's tokenizer, without
the file that defines it) the first answer names. "Right": answers that name every such file, of
{results["questions"]}. Warm questions are each about another name, so that none is answered from
memory; then the first is asked again, which may be. "Stale": a file with a use is added, then deleted; each time the very next
answer must name it, and must not.

{("What could not be measured:" + chr(10) + chr(10) + failed) if failed else ""}

## Weak points

- The bridges answer in different forms; only the named files are compared, not every place.
- An answer that names more files than it should counts as right.
- They ran one after the other on a shared machine: differences below 2x are noise. What is right
  and what is stale does not depend on load.
- A peer may do better with settings we do not know.
"""


def _row(row: dict[str, Any], files: int) -> str:
    if row.get("failed"):
        return f"| {row['name']} | - | - | - | - | - | - | - | - | - |"
    return (
        f"| {row['name']} | {row['first_s']:.1f} | {row['named']} of {files} | {row['bytes']:,} | "
        f"{row['right']} | {row['warm_ms']:.1f} / {row['worst_ms']:.1f} | {row['repeat_ms']:.1f} | "
        f"{row['memory_mb']} | "
        f"{row['stale']} of {row['rounds']} | {row['left']} |"
    )
