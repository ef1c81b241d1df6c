"""``sightline stdio``: one client over standard input and output."""

import argparse
import asyncio
import contextlib
import os
import signal
import sys
import time
from pathlib import Path

from sightline.cli.context_root import unsigned_seconds
from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders, private
from sightline.cli.main import make_parser
from sightline.cli.start import (
    add_common,
    build_program,
    configuration_from,
    loop_runner,
    roots_from,
)
from sightline.contract.limits import MAX_CONTEXT_TIMEOUT_S
from sightline.server.compose import Program
from sightline.server.logs import Log
from sightline.server.status import StatusSocket
from sightline.server.stdio import StdioServer, claim_standard_streams


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Serves one MCP client over standard input and output. Clients start this by themselves.",
        "claude mcp add sightline -- sightline stdio ~/src/project",
    )
    made.add_argument(
        "roots", nargs="*", metavar="ROOT", help="folders to serve (default: this project)"
    )
    made.add_argument(
        "--strict-v0",
        action="store_true",
        help="with --tools context: the lines of mcp-context-server 0.1.0, byte for byte",
    )
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    if arguments.strict_v0:
        return _serve_strict_v0(configuration.settings.families)
    roots = roots_from(arguments.roots, configuration, folders)
    read_fd, write_fd = claim_standard_streams()
    log = Log(debug=configuration.settings.debug_logging)
    program = build_program(configuration, roots, folders, log)
    with loop_runner() as runner:
        runner.run(_serve(program, read_fd, write_fd, private(folders.run)))
    return 0


def _serve_strict_v0(families: tuple[str, ...]) -> int:
    from sightline.context.caches import Caches
    from sightline.server.strict_v0 import StrictServer

    if families != ("context",):
        raise CommandError("--strict-v0 goes with --tools context and nothing else", Exit.USAGE)
    root = os.environ.get("CONTEXT_CACHE_ROOT")
    seconds = unsigned_seconds(os.environ.get("CONTEXT_TOOL_TIMEOUT_SECS"))
    if root is None or seconds is None:
        problem = (
            "CONTEXT_CACHE_ROOT environment variable is not set"
            if root is None
            else "CONTEXT_TOOL_TIMEOUT_SECS must be a positive integer"
        )
        print(f"mcp-context-server: configuration error: {problem}", file=sys.stderr)
        return 1
    read_fd, write_fd = claim_standard_streams()
    timeout_s = min(seconds, MAX_CONTEXT_TIMEOUT_S)
    StrictServer(Caches(root, strict=True), timeout_s).serve(read_fd, write_fd)
    return 0


async def _serve(program: Program, read_fd: int, write_fd: int, run_folder: Path) -> None:
    stdio = StdioServer(
        program.surface, program.runner, time.monotonic, program.log.bug, program.start
    )
    server = asyncio.create_task(stdio.serve(read_fd, write_fd))
    status = StatusSocket(run_folder, lambda: program.report("stdio", [stdio.client]))
    await status.open()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, server.cancel)
    try:
        await server
    except asyncio.CancelledError:
        pass
    finally:
        await status.close()
        await program.close()
