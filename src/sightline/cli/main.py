"""From argv to a command. Only the module of the chosen command is imported."""

import argparse
import errno
import importlib
import os
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from sightline import __version__
from sightline.cli.exits import CommandError, Exit, fail
from sightline.cli.plain import plain

__all__ = ["COMMANDS", "main", "run"]

#: Every command, in the order of the help: its module and one line about it.
COMMANDS: dict[str, tuple[str, str]] = {
    "serve": ("serve", "serve over HTTP on 127.0.0.1"),
    "stdio": ("stdio", "serve one client over standard input and output"),
    "find": ("find", "declarations, lines or places, by name, text or meaning"),
    "uses": ("by_name", "every use of a symbol, by its name"),
    "read": ("by_name", "the source, outline or type of a symbol, by its name"),
    "check": ("check", "errors and warnings, and what is new or fixed since a baseline"),
    "call": ("call", "make one tool call and print its payload"),
    "config": ("config", "connect a client: show, write and check what it needs"),
    "tools": ("tools", "print the catalogue as JSON"),
    "index": ("index", "build, inspect or search the code index"),
    "context": ("context", "build context caches and select from them under a token budget"),
    "settings": ("settings", "show every setting and where its value came from"),
    "doctor": ("doctor", "say what is missing and the command that fixes it"),
    "status": ("status", "show what running servers are doing"),
    "roots": ("roots", "list, add or remove folders of a running server"),
    "servers": ("servers", "list, install or remove language servers"),
    "token": ("token", "show or rotate the bearer token of serve"),
    "trust": ("trust", "let language servers run code of a root"),
    "untrust": ("trust", "take that back"),
    "completion": ("completion", "print the completion of a shell"),
}

#: What people type who know what they want and not where it is.
_ELSEWHERE = {
    "build": "index build or context build",
    "explain": "context explain",
    "install": "servers install",
    "mcp": "stdio",
    "resolve": "context resolve",
    "search": "index search",
    "watch": "status --watch",
}

#: What is said of a disk, or a device, that takes nothing more.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})

_LONGEST_WAIT_S = 86_400

_EPILOG = """\
examples:
  sightline serve                     serve this project, print what to paste into a client
  sightline stdio ~/src/project       for clients that start the server themselves
  sightline doctor                    what is missing here, and how to get it

sightline COMMAND --help describes one command.
"""


def run() -> None:
    """The console script."""
    code = main(sys.argv[1:])
    loops = sys.modules.get("sightline.cli.loops")  # most commands have none
    if loops is not None:
        loops.leave(code)
    sys.exit(code)


def main(argv: Sequence[str]) -> int:
    """Runs one command and returns its exit code."""
    try:
        code = _dispatch(list(argv))
        sys.stdout.flush()
    except CommandError as error:
        return fail(str(error), error.code)
    except KeyboardInterrupt:
        return int(Exit.INTERRUPTED)
    except BrokenPipeError:
        _give_up_output()  # whoever read it has seen enough
        return int(Exit.OK)
    except Exception as error:  # the top level: a bug is named by its type and place
        if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
            _give_up_output()
            said = f"the output cannot be written ({error.strerror}); free some space for it"
            return fail(said, Exit.REFUSED)
        if isinstance(error, FileNotFoundError) and _is_folder_gone():
            return fail("the current folder is gone; change to one that is there", Exit.NOT_FOUND)
        return fail(_bug(error), Exit.INTERNAL)
    return code


def _is_folder_gone() -> bool:
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _give_up_output() -> None:
    """Python would complain again when it exits and cannot write what is left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _bug(error: Exception) -> str:
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{os.path.basename(last.filename)}:{last.lineno}"
    return f"this is a bug in Sightline, please report it: {type(error).__name__} at {where}"


def _dispatch(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(help_text())
        return int(Exit.OK if argv else Exit.USAGE)
    if argv[0] in ("-V", "--version"):
        print(f"sightline {__version__}")
        return int(Exit.OK)
    name = argv[0]
    if name not in COMMANDS:
        import difflib

        close = difflib.get_close_matches(name, COMMANDS, n=1)
        meant = _ELSEWHERE.get(name) or "".join(close)
        hint = f"did you mean {meant}?" if meant else "sightline --help lists the commands"
        raise CommandError(f"there is no command {name!r}; {hint}", Exit.USAGE)
    module = importlib.import_module(f"sightline.cli.commands.{COMMANDS[name][0]}")
    parser: argparse.ArgumentParser = module.parser(name)
    arguments = _parsed(parser, argv[1:])
    _refuse_empty_roots(arguments)
    code: int = module.run(arguments)
    return code


def _refuse_empty_roots(arguments: argparse.Namespace) -> None:
    """An empty ROOT is a variable that is not set. It does not stand for the current folder."""
    for name in ("root", "roots"):
        given = getattr(arguments, name, None)
        if given == "" or (isinstance(given, list) and "" in given):
            raise CommandError("ROOT is empty; name a folder, such as . for this one", Exit.USAGE)


def _parsed(parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    """Folders may stand before and after flags; argparse takes them in one place only."""
    found, left = parser.parse_known_args(words)
    if not left:
        return found
    if any(word.startswith("-") for word in left):
        parser.error(f"unrecognized arguments: {' '.join(left)}")
    try:
        return parser.parse_intermixed_args(words)
    except TypeError:  # it has commands of its own, which argparse cannot mix with flags
        parser.error(f"unrecognized arguments: {' '.join(left)}")


def help_text() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {line}" for name, (_, line) in COMMANDS.items())
    title = "Sightline: answers about code that an agent can trust, over MCP."
    return f"usage: sightline COMMAND [...]\n\n{title}\n\ncommands:\n{rows}\n\n{_EPILOG}".rstrip()


class _Parser(argparse.ArgumentParser):
    """Repeats what was typed without what a terminal would take for commands."""

    def error(self, message: str) -> NoReturn:
        super().error(plain(message) + _meant(message))


def _meant(message: str) -> str:
    """The choice that was probably meant, if there were choices."""
    found = re.search(r"invalid choice: '(.*)' \(choose from (.*)\)\Z", message)
    if found is None:
        return ""
    from sightline.contract.texts import did_you_mean

    hint = did_you_mean(found[1], re.findall(r"[\w-]+", found[2]))
    return f"; {hint}" if hint else ""


def make_parser(name: str, description: str, example: str) -> argparse.ArgumentParser:
    """A command's parser with its help and an example."""
    made = _Parser(prog=f"sightline {name}", description=description)
    give_example(made, example)
    return made


def give_example(parser: argparse.ArgumentParser, example: str) -> None:
    """Has the help of a parser end in an example."""
    parser.epilog = f"example:\n  {example}"
    parser.formatter_class = _formatter


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Of its own accord argparse imports a good deal to learn the width of the terminal."""
    try:
        columns = int(os.environ.get("COLUMNS") or 0) or os.get_terminal_size().columns
    except (ValueError, OSError):
        columns = 80
    return _Help(prog, width=columns - 2)


class _Help(argparse.RawDescriptionHelpFormatter):
    """Wraps paragraphs of one line; those that have lines of their own keep them."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        import textwrap

        paragraphs = (
            each if "\n" in each else textwrap.fill(each, width, break_on_hyphens=False)
            for each in text.split("\n\n")
        )
        return super()._fill_text("\n\n".join(paragraphs), width, indent)


def add_wait(parser: argparse.ArgumentParser, about: str) -> None:
    """The flag of the commands that wait for an answer."""
    parser.add_argument("--wait", type=_seconds, default=60, metavar="SECONDS", help=about)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= _LONGEST_WAIT_S:
        raise argparse.ArgumentTypeError(f"takes seconds, from 0 to {_LONGEST_WAIT_S}")
    return value


def add_common(parser: argparse.ArgumentParser) -> None:
    """Flags of every command that runs engines."""
    parser.add_argument(
        "--tools",
        metavar="FAMILIES",
        help="tool families to offer: code,lsp,index,context (default: all)",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="override one setting"
    )
