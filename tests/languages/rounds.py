"""Edit, then ask at once, for every server: is the edit in the answer?

``python -m tests.languages.rounds --server tsgo --rounds 1000`` edits a repository in every way
there is and after each edit asks for all references of one function. What is right is counted
independently. The table it prints is part of docs/evidence/languages.md.
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
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.system.freshness import Place

__all__ = ["ask", "edited", "run_rounds"]


@asynccontextmanager
async def edited(
    server: str, kind: type[Repository], folder: Path, seed: int = 1
) -> AsyncIterator[tuple[Engine, Repository]]:
    """A repository under a running engine that has no other server."""
    repository = kind(folder / "ws", seed)
    cache = folder / "cache"
    cache.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    registry = only(server)
    async with engine(
        repository.root, cache=cache, registry=registry, environment=environment
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
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    failed = 0
    print("| server | repository | edit | rounds | stale answers | wall s |")
    print("|---|---|---|---|---|---|")
    for server in arguments.server or REPOSITORIES:
        for row in asyncio.run(measure(server, arguments.rounds, arguments.seed)):
            print("| " + " | ".join(str(value) for value in row.values()) + " |", flush=True)
            failed += row["stale"]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
