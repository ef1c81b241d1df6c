"""``sightline token``: the bearer token of ``sightline serve``."""

import argparse
import os
from pathlib import Path

from sightline.cli.exits import CommandError
from sightline.cli.folders import Folders, private
from sightline.cli.main import make_parser
from sightline.server.tokens import BadTokenFile, TokenFile


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Shows or replaces the bearer token. A running server accepts the new one at once and the "
        "old one no more.",
        'export TOKEN="$(sightline token show)"',
    )
    made.add_argument("action", choices=["show", "rotate"])
    made.add_argument("--token-file", type=Path, metavar="FILE", help="where the tokens are kept")
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    if arguments.token_file is None:
        private(folders.data)
    tokens = TokenFile(arguments.token_file or folders.tokens)
    try:
        shown = tokens.rotate() if arguments.action == "rotate" else tokens.provision()[0]
    except BadTokenFile as problem:
        raise CommandError(str(problem)) from None
    except OSError as problem:
        raise CommandError(f"the token file cannot be written ({problem.strerror})") from None
    print(shown)
    return 0
