"""What the commands that run engines have in common: roots, configuration, the program."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from sightline.cli.configuration import Configuration, configure
from sightline.cli.context_root import context_root, context_timeout_ms
from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders, private
from sightline.cli.plain import plain
from sightline.contract.limits import CONTEXT_TIMEOUT_MS
from sightline.contract.settings import Settings
from sightline.workspace.roots import BadRoot, NoProject, Root, default_root, open_root
from sightline.workspace.trust import TrustStore

if TYPE_CHECKING:  # these bring everything with them
    from sightline.process.keepers import Keepers
    from sightline.server.compose import Program
    from sightline.server.headless import Headless
    from sightline.server.logs import Log

__all__ = [
    "EXTRA_ROOTS",
    "build_engines",
    "build_program",
    "configuration_from",
    "context_options",
    "program_on",
    "roots_from",
]


#: The setting that names roots.
EXTRA_ROOTS = "additional_allowed_roots"


class ContextOptions(TypedDict):
    """What a program is told about context caches."""

    context_root: str
    context_timeout_ms: int


def configuration_from(
    arguments: argparse.Namespace, folders: Folders, **options: object
) -> Configuration:
    configuration = configure(
        folders, os.environ, arguments.set, families=arguments.tools, **options
    )
    for warning in configuration.warnings:
        print(f"sightline: {plain(warning)}", file=sys.stderr)
    return configuration


def roots_from(paths: Sequence[str], configuration: Configuration, folders: Folders) -> list[Root]:
    """The roots named on the command line, or the project around the current folder.

    Context caches are not in a workspace: a server of nothing else needs no root.
    """
    if not paths and configuration.settings.families == ("context",):
        return []
    chosen = [os.path.abspath(path) for path in paths]
    try:
        named = chosen or [default_root(os.getcwd(), home=folders.home)]
        roots = [open_root(path, home=folders.home) for path in named]
    except NoProject as bad:
        if chosen:
            raise CommandError(str(bad)) from None
        # A client's entry is for every project of its user: a folder in it would be for one.
        why = str(bad).partition("; ")[0]
        where = "start Sightline, or the client that starts it, in the folder of a project"
        raise CommandError(f"{why}; {where}") from None
    except BadRoot as bad:
        raise CommandError(str(bad)) from None
    try:
        more = configuration.settings.additional_allowed_roots
        return roots + [open_root(path, home=folders.home) for path in more]
    except BadRoot as bad:
        where = configuration.place_of(folders, EXTRA_ROOTS)
        why = str(bad).partition("; ")[0]
        raise CommandError(
            f"{where}: {EXTRA_ROOTS}: {why}; correct the path or take it out"
        ) from None


def build_engines(
    configuration: Configuration,
    roots: list[Root],
    folders: Folders,
    keepers: "Keepers | None" = None,
) -> "Headless":
    from sightline.server.headless import Headless

    return Headless.build(
        configuration.settings,
        roots,
        registry=configuration.registry,
        environment=os.environ,
        cache=private(folders.cache),
        servers=folders.servers,
        trusted=TrustStore(folders.trust).trusts,
        keepers=keepers,
        decisive=[str(folders.trust), str(folders.servers)],
    )


def build_program(
    configuration: Configuration, roots: list[Root], folders: Folders, log: "Log"
) -> "Program":
    return program_on(build_engines(configuration, roots, folders), folders, log)


def program_on(engines: "Headless", folders: Folders, log: "Log") -> "Program":
    from sightline.server.compose import Program

    return Program.of(
        engines.settings,
        engines.workspace,
        engines.pool,
        engines.workspace,
        environment=os.environ,
        cache=private(folders.cache),
        log=log,
        **context_options(engines.settings, folders),
    )


def context_options(settings: Settings, folders: Folders) -> ContextOptions:
    offered = "context" in settings.families
    if offered and settings.tokenizer != "bytes/4":
        from sightline.context.tokens import TokenizerMissing, check_installed

        try:
            check_installed(settings.tokenizer)
        except TokenizerMissing as missing:
            raise CommandError(str(missing), Exit.MISSING) from None
    return {
        "context_root": context_root(os.environ, folders) if offered else "",
        "context_timeout_ms": context_timeout_ms(os.environ) if offered else CONTEXT_TIMEOUT_MS,
    }
