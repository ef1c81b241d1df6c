"""Two independent language servers of one language, asked for the same references.

``python -m bench agreement`` writes docs/evidence/agreement.md. A count by a tokenizer knows one
name well; two servers that were written apart know thousands, and what only one of them finds is
either a reading of the language or something that is missing. Each is asked through the engine, on
published packages, about declarations picked by a fixed seed.
"""

import asyncio
import random
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from bench.corpora import django, quality, rxjs
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tools.evidence import write_page

__all__ = ["run"]

_SYMBOLS = 60
_PAGE = 200
_SHOWN = 12
_PYTHON = re.compile(r"(?:    )?(?:async )?(?:def|class) ([A-Za-z]\w*)")
_TYPESCRIPT = re.compile(r"export (?:abstract )?(?:class|function|const|interface|type) (\w+)")

Place = tuple[str, int, int]


class Pair(NamedTuple):
    servers: tuple[str, str]
    name: str
    corpus: Callable[[], Path]
    pattern: str
    declares: re.Pattern[str]


_PAIRS = [
    Pair(("ty", "pyright"), "django", django, "*.py", _PYTHON),
    Pair(("ty", "pyright"), "werkzeug", lambda: quality("werkzeug"), "*.py", _PYTHON),
    Pair(("ty", "pyright"), "networkx", lambda: quality("networkx"), "*.py", _PYTHON),
    Pair(("tsgo", "vtsls"), "rxjs", rxjs, "*.ts", _TYPESCRIPT),
]


class Spot(NamedTuple):
    file: Path
    line: int
    column: int
    name: str


def run() -> bool:
    rows = [_measure(pair) for pair in _PAIRS]
    write_page("agreement.md", "python -m bench agreement", _page(rows))
    return True  # a difference is no failure


def _measure(pair: Pair) -> dict[str, Any]:
    root = pair.corpus().resolve()
    spots = _spots(root, pair)
    notes: dict[str, set[str]] = {server: set() for server in pair.servers}
    first, second = (
        asyncio.run(_asked(server, root, spots, notes[server])) for server in pair.servers
    )
    only_first = [(s, p) for s, a, b in zip(spots, first, second, strict=True) for p in a - b]
    only_second = [(s, p) for s, a, b in zip(spots, first, second, strict=True) for p in b - a]
    in_all = [each for each in only_second if _is_in_all(*each)]
    rest = [each for each in only_second if each not in in_all]
    row = {
        "pair": pair,
        "notes": [f"{server}: {note}" for server in notes for note in sorted(notes[server])],
        "spots": len(spots),
        "equal": sum(a == b for a, b in zip(first, second, strict=True)),
        "both": sum(len(a & b) for a, b in zip(first, second, strict=True)),
        "only_first": [_shown(*each) for each in sorted(only_first)],
        "in_all": len(in_all),
        "only_second": [_shown(*each) for each in sorted(rest)],
    }
    print({key: value for key, value in row.items() if key != "pair"}, flush=True)
    return row


def _spots(root: Path, pair: Pair) -> list[Spot]:
    """Declarations in files of a fixed random order, one per file."""
    files = sorted(file for file in root.rglob(pair.pattern) if "node_modules" not in file.parts)
    chance = random.Random(7)
    chance.shuffle(files)
    found: list[Spot] = []
    for file in files:
        lines = file.read_text(encoding="utf-8", errors="replace").split("\n")
        matches = [(n, pair.declares.match(line)) for n, line in enumerate(lines)]
        there = [Spot(file, n, match.start(1), match[1]) for n, match in matches if match]
        if there:
            found.append(chance.choice(there))
        if len(found) == _SYMBOLS:
            break
    return found


async def _asked(server: str, root: Path, spots: list[Spot], notes: set[str]) -> list[set[Place]]:
    with tempfile.TemporaryDirectory() as cache:
        async with engine(root, cache=Path(cache), registry=only(server)) as running:
            return [await _references(running, spot, notes) for spot in spots]


async def _references(running: Engine, spot: Spot, notes: set[str]) -> set[Place]:
    found: set[Place] = set()
    given: dict[str, Any] = {
        "uri": spot.file.as_uri(),
        "position": {"line": spot.line, "character": spot.column},
        "includeDeclaration": True,
        "pageSize": _PAGE,
    }
    while True:
        answer = await running.call("vscode.lsp.references", **given)
        for item in answer["items"]:
            begin = item["range"]["start"]
            found.add((item["uri"], begin["line"], begin["character"]))
        notes.update(re.findall(r"[^. ][^.]*\bleave out [^.]*\.", answer["summary"]))
        if answer["nextCursor"] is None:
            return found
        given["cursor"] = answer["nextCursor"]


def _line(place: Place) -> str:
    path = Path(place[0].removeprefix("file://"))
    return path.read_text(encoding="utf-8", errors="replace").split("\n")[place[1]]


def _is_in_all(spot: Spot, place: Place) -> bool:
    """Whether it is a text in ``__all__``: a name in quotes."""
    line, column = _line(place), place[2]
    return line[column - 1 : column] in ("'", '"') or line[column : column + 1] in ("'", '"')


def _shown(spot: Spot, place: Place) -> str:
    return f"`{spot.name}` in {place[0].rpartition('/')[2]}, line {place[1] + 1}"


def _page(rows: list[dict[str, Any]]) -> str:
    titles = (
        "servers",
        "code base",
        "declarations",
        "same places",
        "places of both",
        "only the first",
        "only the second, in quotes",
        "only the second, else",
    )
    head = "| " + " | ".join(titles) + " |"
    lines = [
        "| "
        + " | ".join(
            map(
                str,
                (
                    " and ".join(row["pair"].servers),
                    row["pair"].name,
                    row["spots"],
                    f"{row['equal']} of {row['spots']}",
                    row["both"],
                    len(row["only_first"]),
                    row["in_all"],
                    len(row["only_second"]),
                ),
            )
        )
        + " |"
        for row in rows
    ]
    return f"""# Two servers of one language

References to the same declarations, asked of two servers that were written apart, each through
Sightline with the declaration included. The declarations are picked by a fixed seed, one per file.
The first server is the one that Sightline asks first where both are installed.

{head}
|---|---|---|---|---|---|---|---|
{chr(10).join(lines)}

"In quotes" are names in `__all__`: pyright counts them, and where ty answers Sightline adds them.

## What only one of them finds

{chr(10).join(_differences(row) for row in rows)}
## Weak points

- What both leave out is not seen. Where both follow the same rule they agree in being wrong.
- The code bases have no environment, so what goes through packages is known to neither.
- A difference is no verdict: one of them may find too much. Members are found through values whose
  type a server can tell; ty does not tell what a function without annotations returns.
"""


def _differences(row: dict[str, Any]) -> str:
    first, second = row["pair"].servers
    parts = [f"### {row['pair'].name}\n"]
    if row["notes"]:
        said = "\n".join(f"- {note}" for note in row["notes"])
        parts.append(f"The answers said:\n\n{said}\n")
    for server, places in ((first, row["only_first"]), (second, row["only_second"])):
        if places:
            more = f"\n- and {len(places) - _SHOWN} more" if len(places) > _SHOWN else ""
            shown = "\n".join(f"- {place}" for place in places[:_SHOWN])
            parts.append(f"Only {server}:\n\n{shown}{more}\n")
    if not row["only_first"] and not row["only_second"]:
        parts.append("Nothing.\n")
    return "\n".join(parts)
