"""``sightline serve``: HTTP on 127.0.0.1 for any number of clients."""

import argparse
import asyncio
import os
import shlex
import signal
import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sightline import __version__
from sightline.cli.client_tables import ClientTables
from sightline.cli.clients import own_program
from sightline.cli.configuration import configure
from sightline.cli.exits import CommandError
from sightline.cli.folders import Folders, private, unwritable
from sightline.cli.loops import loop_runner
from sightline.cli.main import add_common, make_parser
from sightline.cli.plain import plain
from sightline.cli.start import build_program, configuration_from, roots_from
from sightline.contract.settings import Settings
from sightline.server.compose import Program
from sightline.server.descriptors import raise_descriptor_limit
from sightline.server.endings import ending_signals
from sightline.server.http import HttpApp
from sightline.server.logs import Log
from sightline.server.ports import PortTaken, bind
from sightline.server.roots_socket import RootsSocket
from sightline.server.serve import serve_http
from sightline.server.status import StatusSocket, read_all
from sightline.server.tokens import BadTokenFile, TokenFile
from sightline.workspace.roots import BadRoot, Root, RootSet, open_root

#: One language server and the index of a small project take about 40.
_FEW_FILES = 64


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Serves MCP over HTTP on 127.0.0.1, path /mcp, for any number of clients with the token, "
        "until Ctrl-C. Then, in another terminal, connect each client:\n\n"
        "  sightline config CLIENT --http --write --check\n\n"
        "Clients that start the server themselves need none: sightline config CLIENT --write.",
        "sightline serve ~/src/project --port 3939",
    )
    made.add_argument(
        "roots", nargs="*", metavar="ROOT", help="folders to serve (default: this project)"
    )
    made.add_argument("--port", type=int, help="port to listen on (default: 3939)")
    made.add_argument("--token-file", type=Path, metavar="FILE", help="where the tokens are kept")
    # For an editor's extension only, which speaks docs/bridge.md; people have no use for it.
    made.add_argument(
        "--source", choices=("servers", "editor"), default="servers", help=argparse.SUPPRESS
    )
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.source == "editor":
        from sightline.cli.serve_editor import serve_editor

        return serve_editor(arguments)
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders, port=arguments.port)
    settings = configuration.settings
    roots = roots_from(arguments.roots, configuration, folders)
    if arguments.token_file is None:
        private(folders.data)
    tokens = TokenFile(arguments.token_file or folders.tokens)

    def opened(path: str) -> Root:
        root = open_root(path, home=folders.home)
        if RootSet.of([root]).containing(os.path.realpath(tokens.path)) is not None:
            raise BadRoot("the token file lies inside a root; keep it outside of any repository")
        return root

    try:
        roots = [opened(root.given) for root in roots]
        _provision(tokens)
    except (BadTokenFile, BadRoot) as problem:
        raise CommandError(str(problem)) from None
    listener = _listener(settings.port, roots, folders)
    log = Log(debug=settings.debug_logging)
    program = build_program(configuration, roots, folders, log)

    tables = ClientTables(folders, settings, lambda: configure(folders, os.environ, arguments.set))

    def ready() -> None:
        program.start()
        print(_banner(program, settings.port), file=sys.stderr, flush=True)
        if (files := raise_descriptor_limit()) < _FEW_FILES:
            said = f"only {files} files may be open at a time, too few for language servers"
            print(f"  {said}: run ulimit -n 1024 before", file=sys.stderr, flush=True)

    async def serve() -> None:
        surface = program.surface._replace(options_for=tables.options_for)
        app = HttpApp(
            surface, program.runner, tokens, settings, log, time.monotonic, tables.settings
        )
        status = StatusSocket(
            private(folders.run),
            lambda: program.report("serve", app.sessions.clients()) | {"port": settings.port},
        )
        roots_socket = RootsSocket(folders.run, program.workspace, opened, program.source.warm)
        await status.open()
        await roots_socket.open()
        try:
            await serve_http(app, listener, ready)
        finally:
            await roots_socket.close()
            await status.close()
            await program.close()
            # Everything is ended. Who asks again now must not turn a clean exit into a killed one.
            if sys.platform != "win32":
                signal.pthread_sigmask(signal.SIG_BLOCK, ending_signals())

    with loop_runner() as runner:
        runner.run(serve())
    return 0


def _listener(port: int, roots: Sequence[Root], folders: Folders) -> socket.socket:
    try:
        return bind(port)
    except PortTaken as problem:
        own = None if problem.other_user else _own_server(folders, port)
        yours = "sightline status shows servers of yours"
        said = _already(own, roots, port) if own else f"{problem} ({yours})"
        raise CommandError(said) from None
    except OSError as problem:
        raise CommandError(f"the server cannot start ({problem.strerror})") from None


def _own_server(folders: Folders, port: int) -> dict[str, Any] | None:
    """The running ``serve`` of this user that listens on a port."""
    programs = asyncio.run(read_all(folders.run))
    return next((each for each in programs if each.get("port") == port), None)


def _already(own: dict[str, Any], roots: Sequence[Root], port: int) -> str:
    """What to do in place of a second server."""
    served = [str(row["path"]) for row in own["roots"]]
    missing = [root.given for root in roots if root.given not in served]
    words = ["sightline", "roots", "add", *missing] if missing else [*_connect(port), "--check"]
    return (
        f"port {port} is taken by your own sightline serve (pid {own['pid']}), which serves "
        f"{', '.join(served) or 'context caches'}; one is enough for several clients: "
        f"{shlex.join(words)}. For a second one use another --port"
    )


def _connect(port: int) -> list[str]:
    """The command that connects a client, without its last flag."""
    other = ["--port", str(port)] if port != Settings().port else []
    return ["sightline", "config", "CLIENT", "--http", *other, "--write"]


def _provision(tokens: TokenFile) -> None:
    try:
        tokens.provision()
    except OSError as problem:
        raise unwritable(Path(tokens.path).parent, problem) from None


def _banner(program: Program, port: int) -> str:
    names = [plain(root.given) for root in program.workspace.roots.roots]
    roots = ", ".join(names) or "context caches"
    program_name = plain(own_program.typed(sys.argv[0]))
    connect = " ".join([program_name, *_connect(port)[1:]])
    return (
        f"sightline {__version__} serves {roots}\n"
        f"  http://127.0.0.1:{port}/mcp   (token: {program_name} token show; stop: Ctrl-C)\n"
        f"  connect a client: {connect} --check"
    )
