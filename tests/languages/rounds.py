"""Edit, then ask at once, for every server: is the edit in the answer?

``python -m tests.languages.rounds --server tsgo --rounds 1000`` edits a repository in every way
there is and after each edit asks for all references of one function. What is right is counted
independently. With ``--write`` the rows go to docs/evidence/edits.md, beside those of the servers
that were tried before.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.languages.edits import EDITS, REPOSITORIES, Repository
from tests.languages.samples import ON_PATH, only
from tests.support.engine import Engine, engine
from tests.system.freshness import Place
from tools.evidence import write_page

__all__ = ["ask", "edited", "run_rounds"]

#: Rounds of a server when nothing is said; 200 otherwise.
_ROUNDS = {"ty": 1_000, "tsgo": 1_000}
_RESULTS = Path(__file__).parent.parent.parent / "bench/results/edits.json"


@asynccontextmanager
async def edited(
    server: str, kind: type[Repository], folder: Path, seed: int = 1
) -> AsyncIterator[tuple[Engine, Repository]]:
    """A repository under a running engine that has no other server."""
    repository = kind(folder / "ws", seed)
    cache = folder / "cache"
    cache.mkdir()
    registry = only(server)
    # A user's own server needs the user's own toolchain.
    own = registry.servers[server].found == "path"
    home = os.environ["HOME"] if own else str(folder)
    async with engine(
        repository.root,
        cache=cache,
        registry=registry,
        environment={"PATH": os.environ["PATH"], "HOME": home},
        trusted=lambda root: own,
    ) as running:
        yield running, repository


async def ask(running: Engine, repository: Repository) -> set[Place]:
    """All references, page by page."""
    places: set[Place] = set()
    cursor = None
    while True:
        answer = await running.call(
            "vscode.lsp.references",
            uri=repository.core_file.as_uri(),
            position=repository.definition(),
            includeDeclaration=True,
            cursor=cursor,
        )
        for item in answer["items"]:
            start = item["range"]["start"]
            places.add((item["uri"], start["line"], start["character"]))
        cursor = answer["nextCursor"]
        if cursor is None:
            return places


async def run_rounds(
    running: Engine, repository: Repository, kind: str, rounds: int
) -> list[dict[str, Any]]:
    """The stale answers of so many rounds of one kind of edit."""
    stale: list[dict[str, Any]] = []
    for number in range(rounds):
        EDITS[kind](repository)
        found = await ask(running, repository)
        truth = repository.truth()
        if found != truth:
            stale.append(
                {"round": number, "missing": sorted(truth - found), "extra": sorted(found - truth)}
            )
    return stale


async def measure(server: str, rounds: int, seed: int) -> list[dict[str, Any]]:
    """One row per repository and kind of edit."""
    rows: list[dict[str, Any]] = []
    kinds = REPOSITORIES[server]
    share = -(-rounds // (len(kinds) * len(EDITS)))
    for kind in kinds:
        with tempfile.TemporaryDirectory() as folder:
            async with edited(server, kind, Path(folder), seed) as (running, repository):
                await ask(running, repository)
                for edit in EDITS:
                    start = time.monotonic()
                    stale = await run_rounds(running, repository, edit, share)
                    rows.append(
                        {
                            "server": server,
                            "repository": kind.__name__,
                            "edit": edit,
                            "rounds": share,
                            "stale": len(stale),
                            "seconds": round(time.monotonic() - start, 1),
                        }
                    )
                    for row in stale[:2]:
                        print(json.dumps(row), file=sys.stderr)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", action="append", choices=list(REPOSITORIES))
    parser.add_argument("--rounds", type=int, help="1,000 for ty and tsgo, 200 for others")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the page of evidence")
    arguments = parser.parse_args()
    found = json.loads(_RESULTS.read_text(encoding="utf-8")) if _RESULTS.exists() else {}
    failed = 0
    for server in arguments.server or [name for name in REPOSITORIES if name not in ON_PATH]:
        rounds = arguments.rounds or _ROUNDS.get(server, 200)
        found[server] = asyncio.run(measure(server, rounds, arguments.seed))
        failed += sum(row["stale"] for row in found[server])
        print("\n".join(map(_line, found[server])), flush=True)
    if arguments.write:
        _RESULTS.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        rows = [row for server in REPOSITORIES for row in found.get(server, ())]
        write_page("edits.md", "python -m tests.languages.rounds --write", page(rows))
    return 1 if failed else 0


def page(rows: list[dict[str, Any]]) -> str:
    servers = dict.fromkeys(row["server"] for row in rows)
    totals = "\n".join(
        f"| {server} | {sum(r['rounds'] for r in rows if r['server'] == server):,} | "
        f"{sum(r['stale'] for r in rows if r['server'] == server)} |"
        for server in servers
    )
    return f"""# An edit, then a question at once, for every server

A repository is edited in every way there is; after each edit all references of one function are
asked for at once. What is right is counted in the text at that moment.

| server | rounds | stale answers |
|---|---|---|
{totals}

| server | repository | edit | rounds | stale answers | wall s |
|---|---|---|---|---|---|
{chr(10).join(map(_line, rows))}

Weak: small repositories (13 to 40 files), so that thousands of rounds are possible; Linux.
"""


def _line(row: dict[str, Any]) -> str:
    return "| " + " | ".join(str(value) for value in row.values()) + " |"


if __name__ == "__main__":
    sys.exit(main())
