"""``sightline serve --source editor``: HTTP for agents, answers from the editor that started us.

Standard input and output belong to the bridge; the log goes to standard error, which the extension
shows. Everything that decides what is served comes in the first message. What is refused is told
with a code before the program ends; when the editor is gone, so are we.
"""

import argparse
import asyncio
import os
import sys
import time
from functools import partial
from typing import Literal

import msgspec

from sightline import __version__
from sightline.cli.configuration import configure
from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders, private
from sightline.cli.loops import loop_runner
from sightline.cli.plain import plain
from sightline.cli.start import context_options
from sightline.contract.settings import ClientSettings, Settings
from sightline.editor import messages as m
from sightline.editor.bridge import Bridge, BridgeBroken
from sightline.editor.pipes import open_pipes
from sightline.editor.source import EditorSource
from sightline.editor.window import Window, roots_of
from sightline.server.compose import Program
from sightline.server.held_tokens import HeldTokens, usable
from sightline.server.http import HttpApp
from sightline.server.logs import Log
from sightline.server.ports import PortTaken, bind
from sightline.server.serve import serve_http
from sightline.server.status import StatusSocket
from sightline.server.streams import claim_standard_streams
from sightline.workspace.exclusions import chosen
from sightline.workspace.workspace import Workspace

__all__ = ["serve_editor"]

_HELLO_S = 30.0
#: Gemini CLI shows its model nothing but text.
_CLIENTS = {"gemini-cli-mcp-client": ClientSettings(content="mirror")}

Code = Literal["bridge", "hello", "trust", "tokens", "settings", "roots", "port"]


class _Refusal(Exception):
    def __init__(self, code: Code, reason: str) -> None:
        super().__init__(reason)
        self.code: Code = code


def serve_editor(arguments: argparse.Namespace) -> int:
    read_fd, write_fd = claim_standard_streams()
    with loop_runner() as runner:
        return runner.run(_serve(arguments, read_fd, write_fd))


async def _serve(arguments: argparse.Namespace, read_fd: int, write_fd: int) -> int:
    bridge = Bridge(await open_pipes(read_fd, write_fd))
    try:
        bridge.say(m.Welcome(m.BRIDGE, __version__))
        async with asyncio.timeout(_HELLO_S):
            hello = await bridge.hello()
        if hello is None:
            return int(Exit.OK)
        return await _serve_window(arguments, bridge, hello)
    except TimeoutError:
        return _refuse(bridge, _Refusal("hello", "no hello came"))
    except BridgeBroken as broken:
        return _refuse(bridge, _Refusal("hello", str(broken)))
    except _Refusal as refusal:
        return _refuse(bridge, refusal)
    finally:
        await bridge.close()


def _refuse(bridge: Bridge, refusal: _Refusal) -> int:
    bridge.say(m.Refused(refusal.code, m.reason(str(refusal))))
    print(f"sightline: {plain(refusal)}", file=sys.stderr)
    return int(Exit.REFUSED)


async def _serve_window(arguments: argparse.Namespace, bridge: Bridge, hello: m.Hello) -> int:
    folders = Folders(os.environ)
    _check(hello)
    settings, warnings = _settings(arguments, hello, folders)
    roots = roots_of(hello.roots, settings.additional_allowed_roots, folders.home)
    if not roots:
        raise _Refusal("roots", "no folder that can be served is open")
    try:
        listener = bind(settings.port)
    except PortTaken as taken:
        advice = (
            "a program of another user holds it and may have been sent your token: rotate tokens"
            if taken.other_user
            else "another window may serve on it"
        )
        raise _Refusal("port", f"port {settings.port} is taken; {advice}") from None
    except OSError as problem:
        raise _Refusal("port", f"the port cannot be used ({problem.strerror})") from None
    log = Log(debug=settings.debug_logging)
    workspace = Workspace(
        roots,
        notify=settings.change_detection == "auto",
        choose=partial(chosen, settings=settings),
    )
    tokens = HeldTokens(hello.tokens)
    window = Window(
        bridge,
        workspace,
        hello,
        clock=time.monotonic,
        tokens=tokens.replace,
        leave=bridge.closed.set,
        roots=lambda paths: roots_of(paths, settings.additional_allowed_roots, folders.home),
    )
    source = EditorSource(window, time.monotonic, os.getppid())
    program = Program.of(
        settings,
        workspace,
        source,
        source,
        environment=os.environ,
        cache=private(folders.cache),
        log=log,
        **context_options(settings, folders),
    )
    app = HttpApp(program.surface, program.runner, tokens, settings, log, time.monotonic)
    listening = asyncio.create_task(bridge.listen(window.event), name="bridge")
    status = StatusSocket(
        private(folders.run), lambda: program.report("editor", app.sessions.clients())
    )
    await status.open()

    def ready() -> None:
        program.start()
        bridge.say(m.Ready(settings.port, warnings))
        log.info("serving", port=settings.port, version=__version__)

    try:
        await serve_http(app, listener, ready, bridge.closed)
    finally:
        listening.cancel()
        await status.close()
        await program.close()
    if bridge.broken is not None:
        raise bridge.broken
    return int(Exit.OK)


def _check(hello: m.Hello) -> None:
    if hello.bridge != m.BRIDGE:
        raise _Refusal(
            "bridge", f"the extension speaks bridge {hello.bridge}, this program {m.BRIDGE}"
        )
    if not hello.trusted:
        raise _Refusal("trust", "the workspace is not trusted")
    if usable(hello.tokens) is None:
        raise _Refusal("tokens", "the tokens are not as they should be; set them anew")


def _settings(
    arguments: argparse.Namespace, hello: m.Hello, folders: Folders
) -> tuple[Settings, list[str]]:
    """The editor's settings before everything else; ``families`` is the seven tools unless said."""
    given = {key: msgspec.json.decode(raw) for key, raw in hello.settings.items()}
    given.setdefault("families", ["lsp"])
    try:
        configuration = configure(folders, os.environ, arguments.set, **given)
    except CommandError as error:
        raise _Refusal("settings", str(error)) from None
    settings = configuration.settings
    clients = _CLIENTS | dict(settings.clients)
    return msgspec.structs.replace(settings, clients=clients), list(configuration.warnings)
