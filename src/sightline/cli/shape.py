"""The shape of the command line, read from its own parsers: for completion and the reference."""

import argparse
import importlib
from collections.abc import Iterator
from dataclasses import dataclass

from sightline.cli.main import COMMANDS
from sightline.tools.catalogue import CATALOGUE

__all__ = ["Option", "Positional", "Shape", "shapes"]


@dataclass(frozen=True)
class Option:
    flags: tuple[str, ...]
    #: What the value is called; empty for a switch.
    value: str
    choices: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class Positional:
    name: str
    #: What may stand there; of a tool, what mostly does.
    choices: tuple[str, ...]
    about: str


@dataclass(frozen=True)
class Shape:
    """One command, or one action of a command."""

    path: tuple[str, ...]
    #: One line about it.
    line: str
    options: tuple[Option, ...]
    positionals: tuple[Positional, ...]
    parser: argparse.ArgumentParser


def shapes() -> Iterator[Shape]:
    """Every command in the order of the help, each followed by its actions."""
    for name, (module, line) in COMMANDS.items():
        made = importlib.import_module(f"sightline.cli.commands.{module}").parser(name)
        yield from _walk((name,), line, made)


def _walk(path: tuple[str, ...], line: str, parser: argparse.ArgumentParser) -> Iterator[Shape]:
    nested = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    plain = [a for a in parser._actions if a not in nested and a.help != argparse.SUPPRESS]
    positionals = [_positional(a) for a in plain if not a.option_strings]
    yield Shape(
        path,
        line,
        tuple(_option(a) for a in plain if a.option_strings),
        tuple(positionals),
        parser,
    )
    for group in nested:
        lines = {choice.dest: choice.help or "" for choice in group._choices_actions}
        for name, below in group.choices.items():
            yield from _walk((*path, name), lines.get(name, ""), below)


def _option(action: argparse.Action) -> Option:
    value = "" if action.nargs == 0 else str(action.metavar or action.dest.upper())
    return Option(tuple(action.option_strings), value, _choices(action), action.help or "")


def _positional(action: argparse.Action) -> Positional:
    # A tool that is not there is an error of the call, not of the command line.
    tools = tuple(tool.info.name for tool in CATALOGUE) if action.dest == "tool" else ()
    choices = tools or _choices(action)
    return Positional(str(action.metavar or action.dest), choices, action.help or "")


def _choices(action: argparse.Action) -> tuple[str, ...]:
    return tuple(map(str, action.choices or ()))
