"""``sightline token``: the bearer token of ``sightline serve``."""

import argparse
import json
import os
import sys
from pathlib import Path

from sightline.cli.exits import CommandError
from sightline.cli.folders import Folders, private, unwritable
from sightline.cli.main import make_parser
from sightline.server.tokens import BadTokenFile, TokenFile


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Shows or replaces the bearer token. A running server accepts the new one at once and the "
        "old one no more.",
        'export TOKEN="$(sightline token show)"',
    )
    made.add_argument("action", choices=["show", "rotate"], metavar="show|rotate")
    made.add_argument(
        "--headers", action="store_true", help="as a JSON object of HTTP headers, for clients"
    )
    made.add_argument("--token-file", type=Path, metavar="FILE", help="where the tokens are kept")
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    if arguments.token_file is None:
        private(folders.data)
    tokens = TokenFile(arguments.token_file or folders.tokens)
    try:
        if arguments.action == "rotate":
            _tell_holders(tokens, folders)
            shown = tokens.rotate()
        else:
            shown = tokens.provision()[0]
    except BadTokenFile as problem:
        raise CommandError(str(problem)) from None
    except OSError as problem:
        raise unwritable(Path(tokens.path).parent, problem) from None
    print(json.dumps({"Authorization": f"Bearer {shown}"}) if arguments.headers else shown)
    return 0


def _tell_holders(tokens: TokenFile, folders: Folders) -> None:
    """Names the clients that will be turned away, and what gives them the new token."""
    from sightline.cli.clients.client import Places, rewrite
    from sightline.cli.clients.holders import holders

    try:
        old = tokens.read()
    except BadTokenFile:
        return
    for client, name, url in holders(old, Places(Path(folders.home), os.environ, sys.platform)):
        again = rewrite(client.key, name, url)
        print(f"# {client.title} has the old token; give it the new one: {again}", file=sys.stderr)
