"""``sightline status``: what the running programs of this user are doing."""

import argparse
import asyncio
import json
import os
import time

from sightline.cli.exits import Exit, fail
from sightline.cli.folders import Folders
from sightline.cli.main import make_parser
from sightline.cli.plain import plain_json
from sightline.cli.screen import watch
from sightline.cli.status_page import page
from sightline.server.status import read_all

_NOTHING = "nothing is running; start sightline serve, or a client that is connected"
#: Lines of a program's page that are no calls, roughly.
_HEAD = 9
#: So many calls are shown even where that makes the page longer than the window.
_CALLS = 3
_EVERY_S = 1.0


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Shows every running sightline serve and stdio of this user: roots, language servers and "
        "their state, caches, sessions and recent calls. Calls have a time, an outcome and a size, "
        "no contents.",
        "sightline status --watch",
    )
    made.add_argument("--watch", action="store_true", help="show it live; q ends")
    made.add_argument("--json", action="store_true", help="as JSON; with --watch a line a second")
    return made


def run(arguments: argparse.Namespace) -> int:
    folder = Folders(os.environ).run

    def draw(width: int, height: int) -> str:
        programs = asyncio.run(read_all(folder))
        if arguments.json:
            return plain_json(json.dumps(programs, ensure_ascii=False))
        there = height // max(1, len(programs)) - _HEAD if height else 5
        calls = max(_CALLS, there)
        shown = page(programs, time.time(), calls=calls, width=width) if programs else _NOTHING
        clock = time.strftime("%H:%M:%S")
        return f"sightline status  {clock}  (q ends)\n\n{shown}" if height else shown

    if arguments.watch:
        watch(draw, _EVERY_S)
        return int(Exit.OK)
    text = draw(0, 0)
    if text == _NOTHING:
        return fail(_NOTHING, Exit.NOT_FOUND)
    print(text)
    return int(Exit.OK)
