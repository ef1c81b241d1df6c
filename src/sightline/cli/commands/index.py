"""``sightline index``: build, inspect and search the code index, with the same answers as MCP."""

import argparse
import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from sightline.calls.calls import Caller
from sightline.cli.bars import Bar
from sightline.cli.commands.call import report, run_call
from sightline.cli.exits import CommandError, Exit, exit_for, fail
from sightline.cli.folders import Folders
from sightline.cli.loops import plain_runner
from sightline.cli.main import add_common, give_example, make_parser
from sightline.cli.plain import plain, plain_source
from sightline.cli.start import build_program, configuration_from, roots_from
from sightline.contract.failures import Failure
from sightline.contract.uris import path_of
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.server.logs import Log

if TYPE_CHECKING:
    from sightline.index.building.builder import Builder

_MODES = ("auto", "literal", "regex")
_RANKINGS = ("words", "full", "auto")
#: How long a command goes on when its answer is "not yet". A build that is out of time goes on.
_WAIT_S = {"build": 86_400.0, "status": 60.0, "search": 60.0}

#: What agents call, and what people type instead.
_COMMANDS = {
    "index_status lists": "sightline index status --json lists",
    "call index_build": "run sightline index build",
    "index_build": "sightline index build",
    "index_status": "sightline index status",
}


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Builds, inspects and searches the code index of a project. The index lies in the user's "
        "cache folder; nothing is written to the project.",
        "sightline index build && sightline index search 'where are sessions stored'",
    )
    actions = made.add_subparsers(dest="action", required=True, metavar="build|status|search")
    build = actions.add_parser("build", help="build the index, or bring it up to date")
    give_example(build, "sightline index build")
    build.add_argument("roots", nargs="*", metavar="ROOT", help="folders (default: this project)")
    build.add_argument("--force", action="store_true", help="read every file again")
    build.add_argument("--json", action="store_true", help="as one line of JSON")
    status = actions.add_parser("status", help="say how the index stands")
    give_example(status, "sightline index status --json")
    status.add_argument("--json", action="store_true", help="as one line of JSON")
    search = actions.add_parser("search", help="search the index")
    give_example(search, "sightline index search 'retry_after' --mode literal --path 'src/**'")
    search.add_argument("query", metavar="QUERY", help="a name, a question, a text or a pattern")
    search.add_argument("--mode", choices=_MODES, help="auto (default), literal or regex")
    search.add_argument(
        "--ranking",
        choices=_RANKINGS,
        help="words alone, full (waits for vectors), or auto (default): full once they are ready",
    )
    search.add_argument("--path", action="append", metavar="GLOB", help="only these paths")
    search.add_argument("--language", metavar="L", help="only this language")
    search.add_argument("--kind", metavar="K", help="only this kind of symbol")
    search.add_argument("--symbol", metavar="S", help="only where this name is declared")
    search.add_argument("--page-size", type=int, metavar="N", help="hits per page (default: 10)")
    search.add_argument("--cursor", metavar="C", help="nextCursor of the page before")
    search.add_argument("--max-tokens", type=int, metavar="N", help="about how long a page may be")
    search.add_argument("--explain", action="store_true", help="say why each hit is there")
    search.add_argument("--json", action="store_true", help="as one line of JSON")
    for action in (status, search):
        action.add_argument(
            "--root", action="append", default=[], metavar="DIR", help="folder to answer about"
        )
    for action in (build, status, search):
        add_common(action)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    if "index" not in configuration.settings.families:
        raise CommandError("the index family is switched off; see sightline settings")
    paths = arguments.roots if arguments.action == "build" else arguments.root
    roots = roots_from(paths, configuration, folders)
    program = build_program(configuration, roots, folders, Log())
    tool, given = _call(arguments)
    style = configuration.settings.tool_names
    bar = Bar()
    caller = Caller(ClientOptions(tool_names=style), NEWEST, bar)

    async def finish() -> None:
        # What a server does behind its answers would end with this process.
        await (await program.index.get()).finish_vectors(bar)

    wait = _WAIT_S[arguments.action]
    afterwards = finish if arguments.action == "build" else None
    try:
        with plain_runner() as runner:
            calling = run_call(program, tool, given, caller, wait, afterwards=afterwards)
            finished = runner.run(calling)
    except KeyboardInterrupt:
        bar.clear()
        if arguments.action != "build":
            raise
        made = program.index.made
        return fail(_interrupted([] if made is None else made.builders.values()), Exit.INTERRUPTED)
    finally:
        bar.clear()
    if finished.failure is not None and not arguments.json:
        return fail(_said(finished.failure), exit_for(finished.failure))
    if arguments.json:
        return report(finished, envelope=False)
    result = msgspec.json.decode(finished.outcome)["structuredContent"]  # type: ignore[arg-type]
    for item in result.get("items", []) if len(roots) > 1 else ():
        item["root"] = path_of(item["uri"]).removesuffix("/" + item["path"])
    sys.stdout.write(_TEXTS[arguments.action](result))
    return int(Exit.OK)


def _call(arguments: argparse.Namespace) -> tuple[str, dict[str, Any]]:
    """The tool and the arguments that a command line stands for."""
    if arguments.action == "build":
        return "index_build", {"force": True} if arguments.force else {}
    if arguments.action == "status":
        return "index_status", {}
    given = {
        "query": arguments.query,
        "mode": arguments.mode,
        "path": arguments.path,
        "language": arguments.language,
        "kind": arguments.kind,
        "symbol": arguments.symbol,
        "pageSize": arguments.page_size,
        "cursor": arguments.cursor,
        "maxTokens": arguments.max_tokens,
        "explain": arguments.explain or None,
        "ranking": arguments.ranking,
    }
    chosen = {key: value for key, value in given.items() if value is not None}
    for key, value in chosen.items():
        if not _is_text(value):
            raise CommandError(f"{_flag(key)} is not UTF-8", Exit.USAGE)
    return "search", chosen


def _is_text(value: object) -> bool:
    """Whether what was typed can be sent; the bytes of a command line need not be UTF-8."""
    words = value if isinstance(value, list) else [value]
    return not any("\udc80" <= char <= "\udcff" for word in words for char in str(word))


def _flag(argument: str) -> str:
    """What a person calls an argument of the tool."""
    if argument == "query":
        return "QUERY"
    return "--" + "".join(f"-{char.lower()}" if char.isupper() else char for char in argument)


def _interrupted(builders: Iterable["Builder"]) -> str:
    """What a build leaves behind that was asked to end."""
    libraries = [builder.library for builder in builders]
    for library in libraries:
        library.peek()
    files = sum(library.indexed for library in libraries)
    if not files:
        return "interrupted before a file was indexed"
    if all(library.complete for library in libraries):
        return "interrupted; the index is there, and the next search or build brings it up to date"
    kept = "1 file is" if files == 1 else f"{files} files are"
    return f"interrupted; {kept} indexed and kept, and sightline index build goes on from there"


def _said(failure: Failure) -> str:
    """A failure for people, who know flags and commands where programs know arguments and tools."""
    said = _with_commands(failure.advice)
    if said.startswith("/"):
        argument, _, rest = said[1:].partition(" ")
        said = f"{_flag(argument.partition('/')[0])} {rest}"
    elif said.startswith("query "):
        said = f"QUERY {said.removeprefix('query ')}"
    return said.replace("with ranking words", "with --ranking words")


def _summary(result: dict[str, Any]) -> str:
    """The summary, with the commands of people in place of the tools of agents."""
    return plain(_with_commands(result["summary"]))


def _with_commands(said: str) -> str:
    for tool, command in _COMMANDS.items():
        said = said.replace(tool, command)
    return said


def _skipped(root: dict[str, Any]) -> list[str]:
    lines: list[str] = []
    for skipped in root["skipped"]:
        some = ", ".join(map(plain, skipped["examples"][:3]))
        more = f": {some}{', ...' if skipped['count'] > 3 else ''}" if some else ""
        lines.append(f"  skipped {skipped['count']} ({skipped['reason']}){more}")
    return lines


def _build_text(result: dict[str, Any]) -> str:
    lines = [_summary(result)]
    for root in result["roots"]:
        lines += _skipped(root)
    return "\n".join(lines) + "\n"


def _status_text(result: dict[str, Any]) -> str:
    lines = [_summary(result)]
    for root in result["roots"]:
        counts = ", ".join(f"{root[key]} {key}" for key in ("files", "chunks", "symbols"))
        state = "to be made again" if root["state"] == "damaged" else root["state"]
        lines.append(f"{root['uri']}  {state}")
        lines.append(f"  {counts}, {root['indexBytes'] / 1e6:.1f} MB")
        lines += _skipped(root)
        lines += [f"  failed {plain(path)}" for path in root["failed"]]
    return "\n".join(lines) + "\n"


def _search_text(result: dict[str, Any]) -> str:
    lines: list[str] = []
    for item in result["items"]:
        name = f" {item['name']}" if item["name"] else ""
        inside = f"  in {item['root']}" if "root" in item else ""
        place = f"{item['path']}:{item['startLine']}"
        lines.append(plain(f"{place}  {item['kind']}{name}  {item['score']}{inside}"))
        lines += [f"    {plain_source(line)}" for line in item["snippet"].split("\n")]
        lines += [f"    - {plain(reason)}" for reason in item.get("reasons", [])]
        lines.append("")
    lines.append(_summary(result))
    if result["nextCursor"]:
        lines.append(f"next: --cursor {result['nextCursor']}")
    return "\n".join(lines) + "\n"


_TEXTS = {"build": _build_text, "status": _status_text, "search": _search_text}
