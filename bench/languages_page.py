"""The page that tells what the bench of the language servers measured."""

from typing import Any

__all__ = ["page"]


#: In the order in which they are asked.
_TOOLS = (
    "documentSymbols",
    "definition",
    "references",
    "hover",
    "workspaceSymbols",
    "documentDiagnostics",
)


def page(rows: list[dict[str, Any]], cold: dict[str, Any], max_ratio: float) -> str:
    over = [row["server"] for row in rows if row["ratio"] > max_ratio]
    bridge_over = [row["server"] for row in rows if row["bridge_ratio"] > max_ratio]
    return f"""# Every language server on a real code base

Two shared cores; the load when each server's turn came is in its row. Every server is the pinned
version, asked through `sightline stdio` with no other server installed. The code bases are published
packages.

## The servers

"Cold" is the median of 3, from the start of the process to the first complete answer to the
question. "Complete" and "same bytes" are counted by `python -m bench cold_starts`
([cold-starts.md](cold-starts.md)) against a truth that no language server told. Ratio and added time
are those of a round, below; the rounds are run in up to three new processes, the row is that with the
median ratio, and the other ratios are beside it. "Ratio of CPU" compares the processor time of the client, Sightline, the
server and all below it with that of the bare client, its server and all below it, over all rounds.

| server | version | code base | question | truth | complete | same bytes, 3 processes | cold s | ratio | ratio of CPU | added ms per question | CPU of Sightline per question, ms | memory of the server, MiB | load |
|---|---|---|---|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(_server(row, cold.get(row["server"])) for row in rows)}

## Warm, p50 / p95 in milliseconds

{_range([row["rounds"] for row in rows])} new questions per tool, each about a document that was not
asked about before (`documentSymbols` is the first question about it, so it includes opening it);
workspace diagnostics once, for the whole project. "-": not offered.

| server | {" | ".join(_TOOLS)} | workspaceDiagnostics |
|---|{"---|" * len(_TOOLS)}---|
{chr(10).join(map(_warm, rows))}

## What is added

The same new questions to Sightline, to a bare client of the same server with the same options and the
same projects loaded, and to the same bare client behind a bridge, in turns, so that every side comes
after every other; p50 of each. All three are asked by a client of the same kind: a message out, a
message in, parsed once. The bridge is
a process that only passes each message on (`bench/bridge.py`): it parses, checks and remembers
nothing, so what it adds is the price of a process of its own in Python (one in C, tried once on five
servers, took 0.79 to 1.07 of the bare client's time). A round is one document: its outline,
then every other tool about a symbol in it. The limit for a round is a ratio of {max_ratio}; over it: {", ".join(over) or "none"}; the bridge alone is over it for:
{", ".join(bridge_over) or "none"}. The last columns say, per question, what a process costs and what
Sightline costs beyond that.

| server | round ms: Sightline / bridge / bare | ratio | ratio of the bridge | a process, ms | Sightline, ms |
|---|---|---|---|---|---|
{chr(10).join(map(_added, rows))}

By tool, Sightline / bridge / bare in milliseconds. "-": not offered, or asked by Sightline in another
way than the protocol's plain one.

| server | {" | ".join(_TOOLS)} |
|---|{"---|" * len(_TOOLS)}
{chr(10).join(map(_by_tool, rows))}

The seventh tool, the diagnostics of the whole project, is asked once, after the rounds. A bare client
asks for them in one request where the server has that, and where it has not, document by document,
where Sightline has several questions under way; "-" where a server sends them by itself, so that a
client could not know when it has them all.

| server | Sightline, ms | bare, ms | ratio |
|---|---|---|---|
{chr(10).join(map(_project, rows))}

References need the definition, too. In a round that was the question before, so Sightline does not
put it again (`lsp/server/definitions.py`); nothing else comes from memory.

The comparison is fair only if the bare client gets whole answers too. Its server had loaded the
project before the first round. Answers in which it was told less than Sightline:
{_less(rows)}.

## Weak points

- The machine is shared; figures below 2x apart may be noise, ratios are steadier, and yet one process
  to the next they differ by a tenth or more. On a machine with
  more ready processes than cores each change of process waits for its turn; wall times then show the
  machine, and the ratio of CPU is the steadier one.
- A question costs Sightline some processor time (in the table; reading and gating the document,
  looking for changes, keys, canonical order) and two more changes of process, however fast the server
  is. Servers that know one document only, and tsgo, answer most questions in about a millisecond:
  there the added milliseconds are what counts.
- The processor time of Sightline is that of its main thread. Beside it, other threads look for changes
  that nobody announced (at most 1 % of one processor while calls come) and at the memory of the
  servers (every 5 s). That grows with time and not with questions: with pyright, where a round takes
  seconds, it was most of what the whole process took.
- Three processes of the same server are compared; they may have warmed up differently.
- Go, Rust and PHP servers are not published where this bench can get them; they are measured where
  the user has them.
"""


def _range(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _server(row: dict[str, Any], cold: dict[str, Any] | None) -> str:
    cells = (
        row["server"],
        row["version"],
        row["corpus"],
        f"`{row['question']}`",
        cold["truth"] if cold else "-",
        f"{cold['complete']} of {cold['starts']}" if cold else "-",
        ("yes" if cold["same_bytes"] else "NO") if cold else "-",
        f"{row['cold_s']:.2f}",
        _ratio(row),
        f"{row['cpu_ratio']:.2f}",
        f"{(row['own_ms'] - row['bare_ms']) / _asked(row):.2f}",
        f"{row['cpu_ms']:.2f}",
        row["memory_mb"],
        row["load"],
    )
    return "| " + " | ".join(map(str, cells)) + " |"


def _ratio(row: dict[str, Any]) -> str:
    """The ratio, and the lowest and highest of all runs."""
    ratios = row.get("ratios", [row["ratio"]])
    others = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{row['ratio']:.2f}{others}"


def _warm(row: dict[str, Any]) -> str:
    cells = [
        f"{row['tools'][name]['own_ms']:.1f} / {row['tools'][name]['own_p95_ms']:.1f}"
        if name in row["tools"]
        else "-"
        for name in _TOOLS
    ]
    return f"| {row['server']} | {' | '.join(cells)} | {_sweep(row['sweep_ms'])} |"


def _added(row: dict[str, Any]) -> str:
    questions = _asked(row)
    own, bridge, plain = row["own_ms"], row["bridge_ms"], row["bare_ms"]
    return (
        f"| {row['server']} | {own:.1f} / {bridge:.1f} / {plain:.1f} | {row['ratio']:.2f} | "
        f"{row['bridge_ratio']:.2f} | {(bridge - plain) / questions:.2f} | "
        f"{(own - bridge) / questions:.2f} |"
    )


def _by_tool(row: dict[str, Any]) -> str:
    cells = []
    for name in _TOOLS:
        tool = row["tools"].get(name, {})
        sides = [tool.get(f"{side}_ms") for side in ("own", "bridge", "bare")]
        known = [f"{side:.1f}" for side in sides if side is not None]
        cells.append(" / ".join(known) if len(known) == len(sides) else "-")
    return f"| {row['server']} | {' | '.join(cells)} |"


def _project(row: dict[str, Any]) -> str:
    own, plain = row["sweep_ms"], row.get("bare_sweep_ms")
    ratio = f"{own / plain:.2f}" if (own or 0) > 0 and (plain or 0) > 0 else "-"
    return f"| {row['server']} | {_sweep(own)} | {_sweep(plain)} | {ratio} |"


def _sweep(ms: float | None) -> str:
    if ms is None:
        return "-"
    return f"{ms:.0f}" if ms >= 0 else "over 120,000"


def _asked(row: dict[str, Any]) -> int:
    """How many questions of a round were put to every side."""
    return sum(tool["bare_ms"] is not None for tool in row["tools"].values())


def _less(rows: list[dict[str, Any]]) -> str:
    less = [f"{row['server']} {row['told_less']}" for row in rows if row["told_less"]]
    total = sum(row["compared_answers"] for row in rows)
    return f"{', '.join(less)}, of {total}" if less else f"none of {total}"
