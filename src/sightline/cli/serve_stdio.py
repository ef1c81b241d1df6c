"""``sightline stdio`` from the configuration to the last answer.

The engines begin first. What speaks to the client is imported while the language servers start.
"""

import argparse
import asyncio
import contextlib
import gc
import os
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.cli.folders import Folders, private
from sightline.cli.start import build_engines, configuration_from, program_on, roots_from
from sightline.process.keepers import Keepers
from sightline.server.descriptors import raise_descriptor_limit
from sightline.server.streams import claim_standard_streams

if TYPE_CHECKING:
    from sightline.server.compose import Program

__all__ = ["serve_stdio"]

_BY_HAND = (
    "sightline: waiting for messages of an MCP client; clients start this by themselves "
    "(sightline config CLIENT); Ctrl-C ends it"
)
_LATER = ("sightline.server.compose", "sightline.server.status", "sightline.server.stdio")


async def serve_stdio(arguments: argparse.Namespace) -> None:
    """Serves one client until it is gone."""
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    roots = roots_from(arguments.roots, configuration, folders)
    read_fd, write_fd = claim_standard_streams()
    raise_descriptor_limit()
    if os.isatty(read_fd):  # somebody tries it out, who would wait for something to happen
        print(_BY_HAND, file=sys.stderr, flush=True)
    keepers = Keepers()
    if configuration.settings.asks_servers:
        keepers.ahead()
        await asyncio.sleep(0)  # it starts while everything else is imported
    try:
        engines = build_engines(configuration, roots, folders, keepers)
        engines.go_ahead()
    except BaseException:
        await keepers.close()
        raise
    try:
        await asyncio.to_thread(_import, *_LATER)
        checking = asyncio.create_task(asyncio.to_thread(_import, "jsonschema_rs"))
        from sightline.server.logs import Log

        log = Log(debug=configuration.settings.debug_logging)
        program = program_on(engines, folders, log)
    except BaseException:
        await engines.close()
        raise
    gc.freeze()  # what is there now is never looked through again
    gc.enable()
    await _serve(program, read_fd, write_fd, private(folders.run))
    await checking


def _import(*names: str) -> None:
    for name in names:
        import_module(name)


async def _serve(program: "Program", read_fd: int, write_fd: int, run_folder: Path) -> None:
    from sightline.server.endings import ending_signals
    from sightline.server.status import StatusSocket
    from sightline.server.stdio import StdioServer

    stdio = StdioServer(
        program.surface, program.runner, time.monotonic, program.log.bug, program.start
    )
    server = asyncio.create_task(stdio.serve(read_fd, write_fd))
    status = StatusSocket(run_folder, lambda: program.report("stdio", [stdio.client]))
    await status.open()
    loop = asyncio.get_running_loop()
    for number in ending_signals():
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, server.cancel)
    try:
        await server
    except asyncio.CancelledError:
        pass
    finally:
        await status.close()
        await program.close()
