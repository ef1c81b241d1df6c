"""``sightline call``: one tool call through the same path as every server, without one."""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from sightline.calls.calls import Caller, Finished, underscored
from sightline.cli.exits import CommandError, Exit, exit_for, fail
from sightline.cli.folders import Folders
from sightline.cli.json_arguments import json_object
from sightline.cli.loops import plain_runner
from sightline.cli.main import add_common, add_wait, make_parser
from sightline.cli.places import PLACES, lines_of
from sightline.cli.plain import plain_source, write_json
from sightline.cli.start import build_program, configuration_from, roots_from
from sightline.contract.failures import CursorExpired, NotReady
from sightline.protocol.jsonrpc import Error
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.server.compose import Program
from sightline.server.logs import Log
from sightline.tools.catalogue import CATALOGUE
from sightline.tools.index_build import INFO as INDEX_BUILD
from sightline.tools.tool import silent
from sightline.workspace.workspace import UNLISTED

_PAUSE_S = 0.05
#: A disk that fails for longer is not waited for, however patient somebody is.
_LONGEST_FAILING_S = 60.0


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Makes one tool call and prints its payload as one line of JSON. Waits while the answer is "
        "'not ready yet'. Errors are one line of JSON on standard error.",
        """sightline call vscode.lsp.workspaceSymbols '{"query": "Parser"}'""",
    )
    made.add_argument("tool", metavar="TOOL", help="a tool's name, as sightline tools lists it")
    made.add_argument("arguments", nargs="?", default="{}", metavar="JSON", help="its arguments")
    made.add_argument(
        "--root", action="append", default=[], metavar="DIR", help="folder to answer about"
    )
    add_wait(made, "how long to wait while retryable (default: 60)")
    form = made.add_mutually_exclusive_group()
    form.add_argument("--envelope", action="store_true", help="print the whole MCP result")
    form.add_argument(
        "--lines", action="store_true", help="print places for people: path:line: text"
    )
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    roots = roots_from(arguments.root, configuration, folders)
    given = json_object(arguments.arguments)
    style = configuration.settings.tool_names
    if arguments.lines:
        _refuse_other_answers(arguments.tool)
    log = Log(debug=configuration.settings.debug_logging)
    program = build_program(configuration, roots, folders, log)
    caller = Caller(ClientOptions(tool_names=style), NEWEST)

    async def finish_vectors() -> None:
        # What a server does behind its answers would end with this process.
        await (await program.index.get()).finish_vectors(silent)

    afterwards = finish_vectors if arguments.tool == INDEX_BUILD.name else None
    with plain_runner() as runner:
        calling = run_call(
            program, arguments.tool, given, caller, arguments.wait, afterwards=afterwards
        )
        finished = runner.run(calling)
    if arguments.lines and finished.failure is None:
        return _lines(finished, arguments.tool)
    return report(finished, envelope=arguments.envelope)


def _refuse_other_answers(tool: str) -> None:
    """Before anything is asked: an answer of another kind cannot be shown as places."""
    known = {spelled: each for each in CATALOGUE for spelled in _spellings(each.info.name)}
    if tool in known and known[tool].info.name not in PLACES:
        raise CommandError(f"what {tool} answers is not a list of places; leave --lines out")


def _spellings(name: str) -> tuple[str, str]:
    return name, underscored(name)


def _lines(finished: Finished, tool: str) -> int:
    assert not isinstance(finished.outcome, Error)
    payload: dict[str, Any] = msgspec.json.decode(finished.outcome)["structuredContent"]
    lines = lines_of(payload, os.getcwd())
    assert lines is not None, tool
    print("\n".join(lines))
    return int(Exit.OK)


async def run_call(
    program: Program,
    tool: str,
    arguments: dict[str, Any],
    caller: Caller,
    wait: float,
    *,
    afterwards: Callable[[], Awaitable[None]] | None = None,
) -> Finished:
    """One call to its end: made again while retryable, its lost pages made anew."""
    deadline = time.monotonic() + wait
    try:
        finished = await _patiently(program, tool, arguments, caller, deadline)
        if isinstance(finished.failure, CursorExpired):
            # Equal trees give equal cursors in every process, but the results behind this one were
            # kept by another. Asking for the first page makes them again.
            first = {key: value for key, value in arguments.items() if key != "cursor"}
            await _patiently(program, tool, first, caller, deadline)
            finished = await _patiently(program, tool, arguments, caller, deadline)
        if finished.failure is None and afterwards is not None:
            await afterwards()
        return finished
    finally:
        await program.close()


async def _patiently(
    program: Program, tool: str, arguments: dict[str, Any], caller: Caller, deadline: float
) -> Finished:
    """The call, made again while it is retryable and there is time."""
    failing_until = None
    while True:
        now = time.monotonic()
        finished = await program.calls.run(tool, arguments, caller, arrived=now)
        failure = finished.failure
        if not isinstance(failure, NotReady) or failure.waiting_for != UNLISTED:
            failing_until = None
        elif failing_until is None:
            failing_until = now + _LONGEST_FAILING_S
        end = min(deadline, failing_until or deadline)
        if failure is None or not failure.retryable or time.monotonic() + _PAUSE_S >= end:
            return finished
        await asyncio.sleep(_PAUSE_S)


def report(finished: Finished, *, envelope: bool) -> int:
    outcome, failure = finished
    if failure is not None or isinstance(outcome, Error):
        assert failure is not None
        return fail(str(failure), exit_for(failure), data=_error_data(outcome))
    result = msgspec.json.decode(outcome, type=dict[str, msgspec.Raw])
    if not envelope and "structuredContent" not in result:
        print("\n".join(map(plain_source, text_of(outcome).split("\n"))))
        return int(Exit.OK)
    shown = outcome if envelope else result["structuredContent"]
    write_json(bytes(shown))
    return int(Exit.OK)


def _error_data(outcome: msgspec.Raw | Error) -> dict[str, Any]:
    if isinstance(outcome, Error):
        return {"code": outcome.code, "message": outcome.message, "data": outcome.data}
    text = text_of(outcome)
    if not text.startswith("{"):
        return {"message": text}
    data: dict[str, Any] = json.loads(text)
    return data


def text_of(outcome: msgspec.Raw) -> str:
    """The text of a result that has one."""
    result: dict[str, Any] = msgspec.json.decode(outcome)
    text: str = result["content"][0]["text"]
    return text
