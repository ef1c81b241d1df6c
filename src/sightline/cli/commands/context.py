"""``sightline context``: builds caches of documents, and selects from them under a token budget.

Flags, output and exit codes are those of the ``context`` command 0.1.0, so that it can be replaced
without its callers noticing: 0 done, 2 usage, 4 no cache, 5 a damaged cache, 6 a file that cannot
be read or written, 7 anything else.
"""

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from sightline.cli.context_root import context_root
from sightline.cli.folders import Folders
from sightline.cli.main import make_parser
from sightline.cli.plain import plain, plain_json
from sightline.cli.v0_options import (
    Command,
    HelpWanted,
    Option,
    UsageError,
    choice,
    parse,
    path,
    text,
    unsigned,
    usage_error,
)
from sightline.context.build import BuildFailed, BuildInvalid, BuildIO, OutputThere, build
from sightline.context.caches import Caches
from sightline.context.engine import LIVE
from sightline.context.files import CacheFolder
from sightline.context.load import Loaded
from sightline.context.opening import Cache, open_cache, resolve
from sightline.context.problems import (
    CacheProblem,
    DocumentDamaged,
    ManifestInvalid,
    ManifestMissing,
    ManifestUnreadable,
    NoSuchCache,
    RootUnreadable,
    shown_path,
)
from sightline.context.reports import command_report
from sightline.context.tokens import TOKENIZERS, TokenizerMissing, counter

MISSING, INVALID, IO, INTERNAL = 4, 5, 6, 7
USAGE = 2
_REPLACED = "--force replaces a cache that is there"

_STRICT = Option("strict-v0")
_TOKENIZER = Option(
    "tokenizer", choice(*TOKENIZERS), note=f"\n  [possible values: {', '.join(TOKENIZERS)}]"
)
_FORMATS = "\n  [possible values: json, pretty]"
COMMANDS = {
    command.name: command
    for command in (
        Command(
            "build",
            (
                Option("sources", path, required=True),
                Option("cache", path, required=True),
                Option("force"),
            ),
            (_STRICT, Option("profile", choice("v0", "code"))),
        ),
        Command(
            "resolve",
            (
                Option("cache", path, required=True),
                Option("query", text, required=True),
                Option("budget", unsigned, required=True),
                Option("format", choice("json", "pretty"), note=_FORMATS),
            ),
            (_STRICT, _TOKENIZER),
        ),
        Command(
            "explain",
            (
                Option("cache", path, required=True),
                Option("query", text, required=True),
                Option("budget", unsigned, required=True),
            ),
            (_STRICT, _TOKENIZER),
        ),
        Command("inspect", (Option("cache", path, required=True),), (_STRICT,)),
        Command("list", (), (_STRICT,)),
    )
}


_HELP = """\
commands:
  build --sources DIR --cache DIR [--force]
            make a cache of the .md files below a folder; --force replaces one
  build --sources DIR --cache DIR [--force] --profile code
            make a cache of the declarations of a repository, through its index
  resolve --cache DIR --query TEXT --budget TOKENS [--format json|pretty]
            select documents for a query; the query may be empty
  explain --cache DIR --query TEXT --budget TOKENS
            say why each piece is taken; both take --cache workspace:DIR for a
            repository as it is now, without a cache, and --tokenizer bytes/4,
            cl100k_base or o200k_base
  inspect --cache DIR
            say what a cache holds, and whether it is whole
  list      list the caches that servers offer by name

Every command takes --strict-v0: do as context 0.1.0 does where it is less careful.
"""


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Builds caches of Markdown documents and selects what fits a token budget. Flags, output\n"
        f"and exit codes are those of the context command 0.1.0.\n\n{_HELP}",
        "sightline context build --sources docs --cache ~/caches/docs\n"
        "  sightline context resolve --cache ~/caches/docs --query 'deploy rollback' --budget 4000",
    )
    made.usage = "sightline context COMMAND [...]"
    made.add_argument("--version", "-V", action="version", version="context 0.1.0")
    made.add_argument("--strict-v0", action="store_true", help=argparse.SUPPRESS)
    made.add_argument("command", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    made.set_defaults(show_help=made.print_help)
    return made


def run(arguments: argparse.Namespace) -> int:
    name, *rest = arguments.command or [None]
    if name is None or name == "help":
        arguments.show_help(sys.stdout if name else sys.stderr)
        return 0 if name else USAGE
    strict = arguments.strict_v0 or "--strict-v0" in rest
    prog = "context" if strict else "sightline context"
    try:
        if name not in COMMANDS:
            raise usage_error(f"unrecognized subcommand '{name}'", f"{prog} <COMMAND>")
        values: dict[str, Any] = parse(COMMANDS[name], rest, prog)
    except HelpWanted:
        arguments.show_help(sys.stdout)
        return 0
    except UsageError as error:
        print("\n".join(map(plain, str(error).split("\n"))), file=sys.stderr)
        return USAGE
    values["strict-v0"] = strict
    action = {
        "build": _build,
        "resolve": _resolve,
        "explain": _explain,
        "inspect": _inspect,
        "list": _list,
    }
    try:
        action[name](values)
    except (ManifestMissing, NoSuchCache) as missing:
        return _fail(f"Cache does not exist: {shown_path(str(missing))}", MISSING)
    except ManifestInvalid as problem:
        return _fail(f"Cache is invalid: invalid manifest: {problem}", INVALID)
    except DocumentDamaged:
        return _fail("Cache is invalid: cache integrity error", INVALID)
    except BuildInvalid as problem:
        return _fail(f"Cache is invalid: {problem}", INVALID)
    except (ManifestUnreadable, RootUnreadable, BuildIO) as problem:
        return _fail(f"I/O error: {problem}", IO, _REPLACED if type(problem) is OutputThere else "")
    except TokenizerMissing as missing:
        return _fail(str(missing), USAGE)
    except (BuildFailed, CacheProblem) as problem:
        return _fail(f"Internal error: {problem}", INTERNAL)
    return 0


def _build(values: dict[str, Any]) -> None:
    force = "force" in values
    if values.get("profile") == "code":
        from sightline.cli.context_code import build_code  # numpy, which other caches do not need

        manifest = build_code(values["sources"], values["cache"], force=force)
    else:
        strict = values["strict-v0"]
        manifest = build(values["sources"], values["cache"], force=force, strict=strict)
    print(
        f"Built cache: {manifest.document_count} documents, version {manifest.cache_version}",
        file=sys.stderr,
    )


def _count(values: dict[str, Any]) -> Callable[[str], int]:
    return counter(values.get("tokenizer", TOKENIZERS[0]))


def _open(values: dict[str, Any]) -> Cache:
    folder = CacheFolder(values["cache"], strict=values["strict-v0"])
    return open_cache(folder, count=_count(values))


def _live(values: dict[str, Any]) -> str | None:
    """The folder whose index is asked, or ``None`` where a cache is."""
    cache: str = values["cache"]
    if values["strict-v0"] or not cache.startswith(LIVE) or os.path.exists(cache):
        return None
    name = cache.removeprefix(LIVE) or os.curdir
    if os.path.isdir(name):
        return name
    if name == os.path.basename(os.getcwd()):  # as a server would call it
        return os.curdir
    raise NoSuchCache(cache)


def _resolve(values: dict[str, Any]) -> None:
    query, budget, folder = values["query"], values["budget"], _live(values)
    if folder is None:
        selection = resolve(_open(values), query, budget)
    else:
        from sightline.cli.context_code import answered, with_live

        selection = with_live(folder, partial(answered, query, budget), _count(values))
    pretty = values.get("format") == "pretty"
    _write(selection.pretty() if pretty else selection.compact())


def _explain(values: dict[str, Any]) -> None:
    query, budget, folder = values["query"], values["budget"], _live(values)
    if folder is not None:
        from sightline.cli.context_code import explained, with_live

        _write([with_live(folder, partial(explained, query, budget), _count(values))])
        return
    cache = _open(values)
    if isinstance(cache, Loaded):
        taken = resolve(cache, query, budget).taken
        lines = [
            f"{item.score:<12} {item.tokens:>6}  {plain(item.id)}  "
            f"({item.term_matches} of {item.total_words} words)\n"
            for item in taken
        ]
        _write(["".join(lines).rstrip("\n")])
        return
    from sightline.cli.context_code import explained

    _write([explained(query, budget, cache.corpus)])


def _inspect(values: dict[str, Any]) -> None:
    report = command_report(CacheFolder(values["cache"], strict=values["strict-v0"]))
    _write([report.pretty().decode()])


def _list(values: dict[str, Any]) -> None:
    root = context_root(os.environ, Folders(os.environ))
    _write([Caches(root, strict=values["strict-v0"]).listing().decode()])


def _write(pieces: Iterable[str]) -> None:
    shown = plain_json if sys.stdout.isatty() else str  # programs get it byte for byte
    for piece in pieces:
        sys.stdout.buffer.write(shown(piece).encode())
    sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def _fail(message: str, code: int, hint: str = "") -> int:
    print(f"error: {plain(message)}", file=sys.stderr)
    if hint and sys.stderr.isatty():  # programs get v0's words and nothing else
        print(hint, file=sys.stderr)
    return code
