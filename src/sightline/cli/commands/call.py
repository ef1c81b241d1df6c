"""``sightline call``: one tool call through the same path as every server, without one."""

import argparse
import asyncio
import json
import os
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from sightline.calls.calls import Caller, Finished
from sightline.cli.exits import CommandError, Exit, exit_for, fail
from sightline.cli.folders import Folders
from sightline.cli.loops import plain_runner
from sightline.cli.main import add_common, make_parser
from sightline.cli.places import lines_of
from sightline.cli.plain import write_json
from sightline.cli.start import build_program, configuration_from, roots_from
from sightline.contract.failures import CursorExpired
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Error, Malformed
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.server.compose import Program
from sightline.server.logs import Log
from sightline.tools.index_build import INFO as INDEX_BUILD
from sightline.tools.tool import silent

_PAUSE_S = 0.05
_LONGEST_WAIT_S = 86_400


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
    made.add_argument(
        "--wait",
        type=_seconds,
        default=60,
        metavar="SECONDS",
        help="how long to wait while retryable (default: 60)",
    )
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
    given = _parse(arguments.arguments)
    log = Log(debug=configuration.settings.debug_logging)
    program = build_program(configuration, roots, folders, log)
    style = configuration.settings.tool_names
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


def _lines(finished: Finished, tool: str) -> int:
    assert not isinstance(finished.outcome, Error)
    payload: dict[str, Any] = msgspec.json.decode(finished.outcome)["structuredContent"]
    lines = lines_of(payload, os.getcwd())
    if lines is None:
        raise CommandError(f"what {tool} answers is not a list of places; leave --lines out")
    print("\n".join(lines))
    return int(Exit.OK)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= _LONGEST_WAIT_S:
        raise ValueError(text)
    return value


def _parse(text: str) -> dict[str, Any]:
    try:
        value = jsonrpc.parse(text.encode("utf-8", "surrogateescape"))
    except Malformed:
        raise CommandError(
            'the arguments are not strict JSON, such as \'{"query": "Parser"}\'', Exit.USAGE
        ) from None
    if not isinstance(value, dict):
        raise CommandError("the arguments must be a JSON object", Exit.USAGE)
    return value


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
    while True:
        now = time.monotonic()
        finished = await program.calls.run(tool, arguments, caller, arrived=now)
        retry = finished.failure is not None and finished.failure.retryable
        if not retry or time.monotonic() + _PAUSE_S >= deadline:
            return finished
        await asyncio.sleep(_PAUSE_S)


def report(finished: Finished, *, envelope: bool) -> int:
    outcome, failure = finished
    if failure is not None or isinstance(outcome, Error):
        assert failure is not None
        return fail(str(failure), exit_for(failure), data=_error_data(outcome))
    result = msgspec.json.decode(outcome, type=dict[str, msgspec.Raw])
    shown = outcome if envelope else result["structuredContent"]
    write_json(bytes(shown))
    return int(Exit.OK)


def _error_data(outcome: msgspec.Raw | Error) -> dict[str, Any]:
    if isinstance(outcome, Error):
        return {"code": outcome.code, "message": outcome.message, "data": outcome.data}
    result: dict[str, Any] = msgspec.json.decode(outcome)
    data: dict[str, Any] = json.loads(result["content"][0]["text"])
    return data
