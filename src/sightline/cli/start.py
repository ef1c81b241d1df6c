"""What the commands that run engines have in common: roots, configuration, the program."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from typing import TypedDict

from sightline.cli.configuration import Configuration, configure
from sightline.cli.context_root import context_root, context_timeout_ms
from sightline.cli.exits import CommandError
from sightline.cli.folders import Folders, private
from sightline.contract.limits import CONTEXT_TIMEOUT_MS
from sightline.contract.settings import Settings
from sightline.server.compose import Program
from sightline.server.logs import Log
from sightline.workspace.roots import BadRoot, Root, default_root, open_root
from sightline.workspace.trust import TrustStore

__all__ = [
    "add_common",
    "build_program",
    "configuration_from",
    "context_options",
    "loop_runner",
    "roots_from",
]


class ContextOptions(TypedDict):
    """What a program is told about context caches."""

    context_root: str
    context_timeout_ms: int


def add_common(parser: argparse.ArgumentParser) -> None:
    """Flags of every command that runs engines."""
    parser.add_argument(
        "--tools",
        metavar="FAMILIES",
        help="tool families to offer: lsp,index,context (default: all)",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one setting"
    )


def configuration_from(
    arguments: argparse.Namespace, folders: Folders, **options: object
) -> Configuration:
    configuration = configure(
        folders, os.environ, arguments.set, families=arguments.tools, **options
    )
    for warning in configuration.warnings:
        print(f"sightline: {warning}", file=sys.stderr)
    return configuration


def roots_from(paths: Sequence[str], configuration: Configuration, folders: Folders) -> list[Root]:
    """The roots named on the command line, or the project around the current folder.

    Context caches are not in a workspace: a server of nothing else needs no root.
    """
    if not paths and configuration.settings.families == ("context",):
        return []
    try:
        chosen = [os.path.abspath(path) for path in paths] or [default_root(os.getcwd())]
        chosen += configuration.settings.additional_allowed_roots
        return [open_root(path, home=folders.home) for path in chosen]
    except BadRoot as bad:
        raise CommandError(str(bad)) from None


def build_program(
    configuration: Configuration, roots: list[Root], folders: Folders, log: Log
) -> Program:
    return Program.build(
        configuration.settings,
        roots,
        registry=configuration.registry,
        environment=os.environ,
        cache=private(folders.cache),
        servers=folders.servers,
        log=log,
        trusted=TrustStore(folders.trust).trusts,
        **context_options(configuration.settings, folders),
    )


def context_options(settings: Settings, folders: Folders) -> ContextOptions:
    offered = "context" in settings.families
    if offered and settings.tokenizer != "bytes/4":
        from sightline.context.tokens import TokenizerMissing, check_installed

        try:
            check_installed(settings.tokenizer)
        except TokenizerMissing as missing:
            raise CommandError(str(missing)) from None
    return {
        "context_root": context_root(os.environ, folders) if offered else "",
        "context_timeout_ms": context_timeout_ms(os.environ) if offered else CONTEXT_TIMEOUT_MS,
    }


def loop_runner() -> asyncio.Runner:
    """The quicker event loop where there is one: it takes an eighth off the cost of a question."""
    try:
        import uvloop
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)
