"""``sightline roots``: the folders a running ``sightline serve`` answers about."""

import argparse
import asyncio
import os
from typing import Any

from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders
from sightline.cli.main import make_parser
from sightline.cli.plain import plain
from sightline.server.roots_socket import RootsRequest, change_roots
from sightline.server.status import read_all
from sightline.workspace.roots import BadRoot

_NOTHING = "no sightline serve is running; start one with its folders: sightline serve ROOT..."


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Lists the roots of a running sightline serve, adds one, or takes one away. Sessions go "
        "on: the next call sees the new roots, and what is no longer in one is denied.",
        "sightline roots add ~/src/library",
    )
    made.add_argument(
        "action", nargs="?", choices=("list", "add", "remove"), default="list", help="default: list"
    )
    made.add_argument("roots", nargs="*", metavar="ROOT", help="folders")
    made.add_argument("--pid", type=int, help="of the server, where several are running")
    return made


def run(arguments: argparse.Namespace) -> int:
    if bool(arguments.roots) is (arguments.action == "list"):
        which = "no folder" if arguments.roots else "a folder"
        raise CommandError(f"roots {arguments.action} takes {which}", Exit.USAGE)
    folder = Folders(os.environ).run
    program = _chosen(asyncio.run(read_all(folder)), arguments.pid)
    if arguments.action == "list":
        roots = [row["path"] for row in program["roots"]]
    else:
        given = [os.path.abspath(path) for path in arguments.roots]
        request = RootsRequest(**{arguments.action: given})
        try:
            roots = asyncio.run(change_roots(folder, program["pid"], request))
        except BadRoot as problem:
            raise CommandError(str(problem)) from None
    print("\n".join(map(plain, roots)))
    return int(Exit.OK)


def _chosen(programs: list[dict[str, Any]], pid: int | None) -> dict[str, Any]:
    """The one server that is meant."""
    serving = [p for p in programs if p["transport"] == "serve" and pid in (None, p["pid"])]
    if not serving:
        raise CommandError(_NOTHING, Exit.NOT_FOUND)
    if len(serving) > 1:
        pids = ", ".join(str(program["pid"]) for program in serving)
        raise CommandError(f"several servers are running; pass --pid, one of {pids}", Exit.USAGE)
    return serving[0]
