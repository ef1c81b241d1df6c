"""``sightline trust`` and ``sightline untrust``: whose code may run."""

import argparse
import os

from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders, private, unwritable
from sightline.cli.main import make_parser
from sightline.cli.plain import plain
from sightline.workspace.roots import BadRoot, open_root
from sightline.workspace.trust import BadTrustFile, TrustStore

_ABOUT = {
    "trust": "Lets language servers run code of a root, such as its build scripts and plugins. "
    "Trust is for this folder alone, is kept per user, and can be taken back.",
    "untrust": "Takes back the trust in a root. Servers that run already keep what they have.",
}


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(name, _ABOUT[name], f"sightline {name} ~/src/project")
    made.add_argument("root", metavar="ROOT", help="the folder of a project")
    made.set_defaults(command=name)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    private(folders.data)
    store = TrustStore(folders.trust)
    real = os.path.realpath(arguments.root)
    try:
        if arguments.command == "untrust":
            if not store.remove(real):
                raise CommandError(f"{real} was not trusted", Exit.NOT_FOUND)
            said = "is no longer trusted"
        else:
            new = store.add(open_root(real, home=folders.home).real)
            said = f"{'is now' if new else 'was already'} trusted"
    except (BadRoot, BadTrustFile) as problem:
        raise CommandError(str(problem)) from None
    except OSError as problem:
        raise unwritable(folders.data, problem) from None
    print(f"{plain(real)} {said}")
    return int(Exit.OK)
