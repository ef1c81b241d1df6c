"""``sightline servers``: which language servers there are, and getting or removing them.

This is the one command that fetches anything, and only when it is told to.
"""

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from sightline.calls.families import CODES
from sightline.cli.configuration import Configuration
from sightline.cli.exits import CommandError, Exit, exit_for
from sightline.cli.folders import Folders, private
from sightline.cli.main import add_common, make_parser
from sightline.cli.plain import plain_json
from sightline.cli.start import configuration_from
from sightline.contract.failures import Failure, InstallFailure
from sightline.lsp.install.downloads import Tools
from sightline.lsp.install.installer import Installer
from sightline.lsp.install.locks import read_lock
from sightline.lsp.install.store import Store
from sightline.lsp.launching import Launcher

_BAR = 24


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Lists the language servers Sightline knows, installs pinned and verified ones into the "
        "user's data folder, or removes them. Nothing is installed unless this command is told to.",
        "sightline servers install tsgo clangd",
    )
    made.add_argument("action", choices=("list", "install", "remove"))
    made.add_argument("names", nargs="*", metavar="NAME", help="servers, as the list names them")
    made.add_argument("--all", action="store_true", help="every server that can be installed")
    made.add_argument("--json", action="store_true", help="the list as JSON")
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    if arguments.action == "list":
        return _list(configuration, folders, arguments.json)
    packages = _packages(configuration, arguments.names, everything=arguments.all)
    private(folders.data)
    store = Store(folders.servers)
    if arguments.action == "remove":
        for package in packages:
            gone = "removed" if store.remove(package) else "was not installed"
            print(f"{package}: {gone}")
        return int(Exit.OK)
    for package in packages:
        _install(configuration, store, package)
    return int(Exit.OK)


def _packages(configuration: Configuration, names: Sequence[str], *, everything: bool) -> list[str]:
    registry = configuration.registry
    if everything:
        return list(registry.packages)
    if not names:
        known = ", ".join(registry.packages)
        raise CommandError(f"name what to install, or pass --all: {known}", Exit.USAGE)
    packages: list[str] = []
    for name in names:
        spec = registry.servers.get(name)
        package = name if name in registry.packages else spec.package if spec else ""
        if not package:
            if spec is None:
                raise CommandError(f"there is no server {name!r}; sightline servers list")
            how = f": {spec.get}" if spec.get else ""
            raise CommandError(f"{name} is not installed by Sightline{how}", Exit.REFUSED)
        packages.append(package)
    return list(dict.fromkeys(packages))


def _install(configuration: Configuration, store: Store, package: str) -> None:
    version = configuration.registry.packages[package].version
    if store.has(package, version):
        print(f"{package} {version}: already installed")
        return
    installer = Installer(store, Tools(os.environ))
    progress = _Bar(f"{package} {version}")
    try:
        asyncio.run(installer.install(package, read_lock(package), progress))
    except InstallFailure as failure:
        code = CODES[type(failure)][1]
        raise CommandError(f"{package}: {failure} [{code}]", Exit.REFUSED) from None
    except Failure as failure:
        raise CommandError(f"{package}: {failure}", exit_for(failure)) from None
    finally:
        progress.clear()
    print(f"{package} {version}: installed, {store.size(package, version) >> 20} MiB")


def _list(configuration: Configuration, folders: Folders, as_json: bool) -> int:
    registry = configuration.registry
    launcher = Launcher(os.environ, folders.cache, Store(folders.servers), registry)
    rows: list[dict[str, Any]] = []
    for name, spec in registry.servers.items():
        found = launcher.find(name, ())
        rows.append(
            {
                "name": name,
                "languages": [registry.languages[language].title for language in spec.languages],
                "version": registry.version_of(name),
                "from": spec.found,
                "there": found.missing == "",
                "fix": found.fix,
                "licence": registry.licence_of(name),
            }
        )
    if as_json:
        print(plain_json(json.dumps(rows, ensure_ascii=False)))
        return int(Exit.OK)
    for row in rows:
        state = "there" if row["there"] else f"missing; {row['fix']}"
        languages = ", ".join(row["languages"])
        print(f"{row['name']:<14} {row['version'] or '-':<22} {languages:<24} {state}")
    return int(Exit.OK)


class _Bar:
    """One line that is written over, on a terminal; nothing elsewhere."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._shown = sys.stderr.isatty()

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._shown:
            filled = _BAR * done // max(total, 1)
            bar = "#" * filled + "." * (_BAR - filled)
            line = f"\r\033[K{self._title} [{bar}] {step} {done}/{total}"
            print(line, end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
