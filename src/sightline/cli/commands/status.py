"""``sightline status``: what the running programs of this user are doing."""

import argparse
import asyncio
import json
import os
from typing import Any

from sightline.cli.exits import Exit, fail
from sightline.cli.folders import Folders
from sightline.cli.main import make_parser
from sightline.server.status import read_all


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Shows every running sightline serve and stdio of this user: roots, language servers and "
        "their state, caches, sessions and recent calls.",
        "sightline status --json | jq '.[].servers'",
    )
    made.add_argument("--json", action="store_true", help="as JSON")
    return made


def run(arguments: argparse.Namespace) -> int:
    programs = asyncio.run(read_all(Folders(os.environ).run))
    if arguments.json:
        print(json.dumps(programs, ensure_ascii=False))
        return 0
    if not programs:
        return fail("nothing is running; start sightline serve", Exit.NOT_FOUND)
    print("\n\n".join(render(program) for program in programs))
    return 0


def render(program: dict[str, Any]) -> str:
    """One program for people."""
    lines = [f"{program['transport']}  pid {program['pid']}  version {program['version']}"]
    lines += [
        f"  root     {root['path']}  ({root['files']} files, {root['changes']})"
        for root in program["roots"]
    ]
    for server in program["servers"]:
        version = f" {server['version']}" if server["version"] else ""
        busy = f", {server['pending']} pending" if server["pending"] else ""
        lines.append(f"  server   {server['name']}{version}  {server['state']}{busy}")
    caches = program["caches"]
    lines.append(
        f"  caches   {caches['answers']} answers ({caches['hits']} hits), "
        f"{caches['retained']} result sets, {_size(caches['bytes'])}"
    )
    if program["sessions"]:
        lines.append(f"  clients  {', '.join(name or 'unnamed' for name in program['sessions'])}")
    outcomes = program["calls"]["outcomes"]
    counts = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    lines.append(f"  calls    {program['calls']['inFlight']} in flight; {counts or 'none yet'}")
    for call in program["calls"]["recent"][-5:]:
        time, size = f"{call['ms']:8.1f} ms", _size(call["bytes"])
        lines.append(f"           {time}  {size:>9}  {call['outcome']:<10} {call['tool']}")
    return "\n".join(lines)


def _size(count: int) -> str:
    return f"{count} B" if count < 1024 else f"{count / 1024:.1f} KiB"
