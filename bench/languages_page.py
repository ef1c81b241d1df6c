"""The page that tells what the bench of the language servers measured."""

from typing import Any

__all__ = ["page"]


def page(rows: list[dict[str, Any]], max_ratio: float) -> str:
    partial = [row for row in rows if row["starts"] > 3]
    tools = list(dict.fromkeys(name for row in rows for name in row["warm"]))
    head = " | ".join(tools)
    return f"""# Every language server on a real code base

Two shared cores; the load when each server's turn came is in its row. Every server is the pinned
version, asked through `sightline stdio` with no other server for its language. The code bases are
published packages.

## From a cold start to the first complete answer

The truth is counted without a language server. "Complete" counts the cold starts whose first
answer that was not an error was the whole truth. Time is the median from the start of the process.

| server | version | code base | question | truth | complete | cold s | same bytes, 3 processes | memory MiB | load |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(_cold(row) for row in rows)}

{_more_often(partial)}

## Warm, p50 / p95 in milliseconds

{_range([row["questions"] for row in rows])} new questions per tool, workspace diagnostics once (the
whole project). "-": not offered.

| server | {head} |
|---|{"---|" * len(tools)}
{chr(10).join(_warm(row, tools) for row in rows)}

## What is added

The same new questions to Sightline and to a bare client of the same server with the same options,
in turns. The limit is a ratio of {max_ratio}.

| server | asked | Sightline p50 ms | bare p50 ms | ratio | added ms |
|---|---|---|---|---|---|
{chr(10).join(_added(row) for row in rows)}

## Weak points

- The machine is shared; figures below 2x apart may be noise, ratios are steadier.
- Servers that know one document only answer in a millisecond or less; there the ratio compares
  Sightline's own work (reading and gating the document, a second process) with next to nothing, so
  the added milliseconds are what counts. On a machine with many more ready processes than cores, each
  of the two more hops between processes waits for its turn; the figures then show the machine.
- Truths of outlines are lower bounds by a simple reader ({", ".join(_weaknesses(rows))}).
- Go, Rust and PHP servers are not published where this bench can get them; they are measured where
  the user has them.
"""


def _more_often(partial: list[dict[str, Any]]) -> str:
    if not partial:
        return ""
    names = ", ".join(row["server"] for row in partial)
    return f"""{names}: these answer from a part while they load, so they are started more often. What is
not complete must come as an error that says "not ready"."""


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _cold(row: dict[str, Any]) -> str:
    cells = (
        row["server"],
        row["version"],
        row["corpus"],
        f"`{row['question']}`",
        row["truth"],
        f"{row['complete']} of {row['starts']}",
        f"{row['cold_s']:.2f}",
        "yes" if row["same_bytes"] else "NO",
        row["memory_mb"],
        row["load"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def _warm(row: dict[str, Any], tools: list[str]) -> str:
    cells = [
        f"{row['warm'][name][0]:.1f} / {row['warm'][name][1]:.1f}" if name in row["warm"] else "-"
        for name in tools
    ]
    return f"| {row['server']} | " + " | ".join(cells) + " |"


def _added(row: dict[str, Any]) -> str:
    return (
        f"| {row['server']} | {row['compared']} | {row['own_ms']:.1f} | {row['bare_ms']:.1f} | "
        f"{row['ratio']:.2f} | {row['added_ms']:.1f} |"
    )


def _weaknesses(rows: list[dict[str, Any]]) -> list[str]:
    return [f"{row['server']}: {row['weakness']}" for row in rows if row["weakness"]]
