"""Every tool on every file of a workspace, then edits, then every tool again.

Run as ``python -m tests.languages.everything SERVER ROOT HOME``, usually inside a network namespace
without a network. Prints one JSON line: how many calls were answered or refused, and whether the
network could be reached.
"""

import argparse
import asyncio
import errno
import json
import os
import socket
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from sightline.contract.failures import Failure
from tests.languages.samples import only
from tests.support.engine import Engine, engine

__all__ = ["ask_everything", "main"]

_POSITIONS_PER_FILE = 12


async def ask_everything(running: Engine, root: Path, depth: int = 9) -> Counter[str]:
    """What became of every question there is about the files below ``root``."""
    outcomes: Counter[str] = Counter()
    files = sorted(path for path in root.rglob("*") if path.is_file())
    files = [path for path in files if len(path.relative_to(root).parts) <= depth]

    async def ask(tool: str, **arguments: Any) -> Any:
        try:
            answer = await running.call(f"vscode.lsp.{tool}", **arguments)
        except Failure as failure:
            outcomes[type(failure).__name__] += 1
            return {}
        outcomes["answered"] += 1
        return answer

    for query in ("area", "a", "x"):
        await ask("workspaceSymbols", query=query)
    await ask("diagnostics.workspace")
    for file in files:
        uri = file.as_uri()
        outline = await ask("documentSymbols", uri=uri)
        await ask("diagnostics.document", uri=uri)
        places = [s["selectionRange"]["start"] for s in outline.get("symbols", ())]
        for place in [{"line": 0, "character": 0}, *places][:_POSITIONS_PER_FILE]:
            for tool in ("definition", "hover", "references"):
                await ask(tool, uri=uri, position=place)
    return outcomes


async def _everything(server: str, root: Path, home: Path) -> Counter[str]:
    registry = only(server)
    # A user's own server needs the user's own toolchain.
    own = registry.servers[server].found == "path"
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"] if own else str(home)}
    cache = home / "cache"
    cache.mkdir(exist_ok=True)
    async with engine(
        root,
        cache=cache,
        registry=registry,
        environment=environment,
        trusted=lambda root: own,
    ) as running:
        outcomes = await ask_everything(running, root)
        for file in sorted(path for path in root.rglob("*") if path.is_file()):
            text = file.read_bytes()
            file.write_bytes(text + b"\n")  # an edit, and back: the workspace is as it was
            await running.program.workspace.begin()
            file.write_bytes(text)
        return outcomes + await ask_everything(running, root)


def reachable() -> bool:
    """Whether a packet could leave this machine. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # a documentation address; UDP connects locally
        except OSError as error:
            return error.errno != errno.ENETUNREACH
    return True


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("server")
    parser.add_argument("root", type=Path)
    parser.add_argument("home", type=Path)
    given = parser.parse_args()
    outcomes = asyncio.run(_everything(given.server, given.root, given.home))
    print(json.dumps({"outcomes": outcomes, "reachable": reachable()}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
