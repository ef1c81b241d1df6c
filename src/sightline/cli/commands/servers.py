"""``sightline servers``: which language servers there are, and getting or removing them.

This is the one command that fetches anything, and only when it is told to.
"""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from typing import Any

from sightline.calls.families import CODES
from sightline.cli.configuration import Configuration
from sightline.cli.exits import CommandError, Exit, exit_for
from sightline.cli.folders import Folders, private, unwritable
from sightline.cli.interruptions import run_interruptibly
from sightline.cli.main import add_common, make_parser
from sightline.cli.plain import plain_json
from sightline.cli.start import configuration_from
from sightline.cli.wanted_servers import meant, wanted
from sightline.contract.failures import Failure, InstallFailure
from sightline.lsp.install.downloads import Tools
from sightline.lsp.install.installer import Installer
from sightline.lsp.install.locks import read_lock
from sightline.lsp.install.store import Store
from sightline.lsp.start.launcher import Launcher
from sightline.workspace.roots import projects_around

_BAR = 24


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Lists the language servers Sightline knows, installs pinned and verified ones into the "
        "user's data folder, or removes them. Nothing is installed unless this command is told to. "
        "One that is damaged is installed again.",
        "sightline servers install tsgo clangd",
    )
    actions = ("list", "install", "remove")
    made.add_argument("action", choices=actions, metavar="|".join(actions))
    made.add_argument(
        "names",
        nargs="*",
        default=[],
        metavar="NAME",
        help="servers, as the list names them, or languages",
    )
    made.add_argument("--all", action="store_true", help="every server that can be installed")
    made.add_argument("--json", action="store_true", help="the list as JSON")
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    if arguments.names and arguments.all:
        raise CommandError("pass names or --all, not both", Exit.USAGE)
    registry = configuration.registry
    if arguments.action == "list":
        names = meant(registry, arguments.names)
        return _list(configuration, folders, names, as_json=arguments.json)
    packages = wanted(registry, arguments.action, arguments.names, everything=arguments.all)
    installs = arguments.action == "install"
    tools = Tools(os.environ, projects_around(os.getcwd(), home=folders.home) if installs else ())
    private(folders.data)
    store = Store(folders.servers)
    try:
        with store.held(_wait):
            if installs:
                launcher = Launcher(os.environ, folders.cache, store, registry)
                return _install_all(launcher, tools, packages, named=not arguments.all)
            for package in packages:
                gone = "removed" if store.remove(package) else "was not installed"
                print(f"{package}: {gone}")
    except OSError as error:
        raise unwritable(store.folder, error) from None
    return int(Exit.OK)


def _wait() -> None:
    waits = "sightline: another installation is running; waiting for its end"
    print(waits, file=sys.stderr, flush=True)


def _install_all(launcher: Launcher, tools: Tools, packages: Sequence[str], *, named: bool) -> int:
    """Each of them, whatever became of the others before it."""
    failed: dict[str, CommandError] = {}
    for package in packages:
        try:
            _install(launcher, tools, package, named=named)
        except CommandError as error:
            if len(packages) == 1:
                raise
            failed[package] = error
            print(f"sightline: {error}", file=sys.stderr, flush=True)
    if failed:
        names, code = ", ".join(failed), next(iter(failed.values())).code
        raise CommandError(f"{len(failed)} of {len(packages)} were not installed: {names}", code)
    return int(Exit.OK)


def _install(launcher: Launcher, tools: Tools, package: str, *, named: bool) -> None:
    store, version = launcher.store, launcher.registry.packages[package].version
    if store.has(package, version):
        if _is_damaged(launcher, package, thorough=True):
            state = "damaged"
        elif named and not store.is_known(package, version):
            # Whoever names it may have been told that it does not work.
            state = "of an older Sightline"
        else:
            print(f"{package} {version}: already installed")
            return
        print(f"{package} {version}: {state}, is installed again", flush=True)
    installer = Installer(store, tools)
    progress = _Bar(f"{package} {version}")
    try:
        run_interruptibly(installer.install(package, read_lock(package), progress))
    except InstallFailure as failure:
        code = CODES[type(failure)][1]
        raise CommandError(f"{package}: {failure} [{code}]", Exit.REFUSED) from None
    except Failure as failure:
        raise CommandError(f"{package}: {failure}", exit_for(failure)) from None
    except OSError as error:
        problem = unwritable(store.folder, error)
        raise CommandError(f"{package}: {problem}", problem.code) from None
    finally:
        progress.clear()
    print(f"{package} {version}: installed, {store.size(package, version) >> 20} MiB", flush=True)


def _is_damaged(launcher: Launcher, package: str, *, thorough: bool = False) -> bool:
    registry, store = launcher.registry, launcher.store
    version = registry.packages[package].version
    if not store.has(package, version):
        return False
    started = (name for name, spec in registry.servers.items() if spec.package == package)
    return any(map(launcher.is_damaged, started)) or bool(
        store.damaged(package, version, thorough=thorough)
    )


def _list(
    configuration: Configuration, folders: Folders, names: Sequence[str], *, as_json: bool
) -> int:
    registry = configuration.registry
    launcher = Launcher(os.environ, folders.cache, Store(folders.servers), registry)
    rows: list[dict[str, Any]] = []
    for name in names:
        spec = registry.servers[name]
        found = launcher.find(name, ())
        damaged = spec.found == "installed" and _is_damaged(launcher, spec.package)
        rows.append(
            {
                "name": name,
                "languages": [registry.languages[language].title for language in spec.languages],
                "version": registry.version_of(name),
                "from": spec.found,
                "there": found.missing == "" and not damaged,
                "damaged": damaged,
                "fix": f"sightline servers install {spec.package}" if damaged else found.fix,
                "licence": registry.licence_of(name),
            }
        )
    if as_json:
        print(plain_json(json.dumps(rows, ensure_ascii=False)))
        return int(Exit.OK)
    for row in rows:
        lacking = "damaged" if row["damaged"] else "missing"
        state = "there" if row["there"] else f"{lacking}; {row['fix']}"
        languages = ", ".join(row["languages"])
        print(f"{row['name']:<14} {row['version'] or '-':<22} {languages:<24} {state}")
    return int(Exit.OK)


class _Bar:
    """One line that is written over, on a terminal; elsewhere a line for each step."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._over = sys.stderr.isatty()
        self._step = ""

    def __call__(self, step: str, done: int, total: int) -> None:
        if self._over:
            filled = _BAR * done // max(total, 1)
            bar = "#" * filled + "." * (_BAR - filled)
            line = f"\r\033[K{self._title} [{bar}] {step} {done}/{total}"
            print(line, end="", file=sys.stderr, flush=True)
        elif step != self._step:
            files = "1 file" if total == 1 else f"{total} files"
            print(f"{self._title}: {step} {files}", file=sys.stderr, flush=True)
        self._step = step

    def clear(self) -> None:
        if self._over:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
