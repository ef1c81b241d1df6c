"""The page that tells what the bench of cold starts counted."""

from typing import Any

__all__ = ["page"]


def page(rows: list[dict[str, Any]]) -> str:
    often = ", ".join(row["server"] for row in rows if row["starts"] > 3)
    weak = ", ".join(f"{row['server']}: {row['weakness']}" for row in rows if row["weakness"])
    return f"""# Cold starts of every language server

Every start is a new process of `sightline stdio` with an empty home and no other server for the
language, asked at once. The truth is counted without a language server. "Complete" counts the
starts whose first answer that was not an error was the whole truth. "Refused first" counts the
starts in which a "not ready" error came before it: that is what must come instead of a part.

| server | version | code base | question | truth | complete | refused first | same bytes, 3 processes | median s | load |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(map(_row, rows))}

{often} answer from a part while they load, so they are started more often. "Same bytes": the
answers of every tool that the server offers, without workspace diagnostics.

## Weak points

- The times are those of a machine that did other work too; `languages.md` has the quieter ones.
- Truths of outlines are lower bounds by a simple reader ({weak}).
- The page cache is warm: the code base was read before.
"""


def _row(row: dict[str, Any]) -> str:
    cells = (
        row["server"],
        row["version"],
        row["corpus"],
        f"`{row['question']}`",
        row["truth"],
        f"{row['complete']} of {row['starts']}",
        row["refused"],
        "yes" if row["same_bytes"] else "NO",
        f"{row['cold_s']:.2f}",
        row["load"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"
