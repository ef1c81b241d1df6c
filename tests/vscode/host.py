"""A real editor for the tests: VS Code's server, its window in a headless browser, a hand inside.

``Editor.start`` opens a folder or a workspace file. ``js`` runs code in the extension host, and
``page`` moves the window as a person would. Everything has a home of its own, by which its
processes are found; ``stop`` leaves none behind.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

from tests.oracles.processes import Process, gone_after, processes_of
from tests.support.http import free_port
from tools.vscode import EXTENSION, Host

__all__ = ["SIGHTLINE", "Editor", "Peer"]

HERE = Path(__file__).parent
SIGHTLINE = Path(sys.executable).with_name("sightline")
_START_S = 120
_GRACE_S = 5
#: How often a window that missed its folders is loaded again.
_RELOADS = 20

_USER_SETTINGS = {
    "files.autoSave": "off",
    "git.enabled": False,
    "security.workspace.trust.startupPrompt": "never",
    "telemetry.telemetryLevel": "off",
    "workbench.quickOpen.closeOnFocusLost": False,
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "workbench.startupEditor": "none",
}


@dataclass
class Peer:
    """Somebody who answers one JSON line with another."""

    incoming: IO[bytes]
    outgoing: IO[bytes]
    last_id: int = 0

    def receive(self) -> dict[str, Any]:
        line = self.incoming.readline()
        assert line, "the other side is gone"
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, **question: Any) -> Any:
        self.last_id += 1
        self.outgoing.write(json.dumps(question | {"id": self.last_id}).encode() + b"\n")
        self.outgoing.flush()
        while (answer := self.receive())["id"] != self.last_id:
            pass
        if "error" in answer:
            raise AssertionError(answer["error"])
        return answer["result"]


@dataclass
class Editor:
    home: Path
    server: subprocess.Popen[bytes]
    browser: subprocess.Popen[bytes]
    page_peer: Peer
    listener: socket.socket
    #: The port that Sightline was told to serve on.
    port: int
    address: str
    screenshots: Path
    driver: Peer | None = None
    _connections: list[socket.socket] = field(default_factory=list)

    @classmethod
    def start(
        cls,
        host: Host,
        place: Path,
        home: Path,
        screenshots: Path,
        *,
        extensions: Sequence[Path] = (),
        settings: dict[str, Any] | None = None,
        trusted: bool = True,
    ) -> "Editor":
        """Opens ``place`` in a new window of a new editor."""
        port, own_port = free_port(), free_port()
        _furnish(home, [HERE / "driver", *extensions], own_port, settings or {})
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(home / "driver.sock"))
        listener.listen()
        listener.settimeout(_START_S)
        server = _start_server(host, home, port, trusted=trusted)
        browser = subprocess.Popen(
            [host.node, HERE / "page.mjs", host.modules, host.browser],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(home / "browser")},
        )
        assert browser.stdin is not None and browser.stdout is not None
        kind = "folder" if place.is_dir() else "workspace"
        address = f"http://127.0.0.1:{port}/?{kind}={place}"
        page = Peer(browser.stdout, browser.stdin)
        editor = cls(home, server, browser, page, listener, own_port, address, screenshots)
        try:
            page.receive()
            editor.page("open", url=address)
            editor.connect()
            if place.is_file():
                editor.see_the_folders()
        except BaseException:
            editor.stop()
            raise
        return editor

    # The window

    def page(self, do: str, **more: Any) -> Any:
        """One action of a person, or a look at the window."""
        return self.page_peer.ask(do=do, **more)

    def command(self, title: str) -> None:
        """Runs a command from the palette."""
        self.page("command", title=title)

    def screenshot(self, name: str) -> None:
        """A picture for people. Where the browser cannot take one, nothing is wrong with us."""
        self.screenshots.mkdir(parents=True, exist_ok=True)
        try:
            self.page("screenshot", path=str(self.screenshots / f"{name}.png"))
        except AssertionError as problem:
            if "Unable to capture screenshot" not in str(problem):
                raise

    # The extension host

    def connect(self) -> None:
        """Waits for the driver of a new extension host."""
        connection, _ = self.listener.accept()
        self._connections.append(connection)
        stream = cast("IO[bytes]", connection.makefile("rwb"))
        self.driver = Peer(stream, stream)
        self.driver.receive()

    def see_the_folders(self) -> None:
        """Reloads a window that missed the folders of its workspace file, one of ten.

        A browser begins with what it kept of the file, nothing, while the file is read. If that
        ends just before the window has made a workspace of nothing, nobody hears of it: VS Code
        1.139, ``updateWorkspaceAndInitializeConfiguration``. Such a window stays empty for good.
        """
        count = "return vscode.workspace.workspaceFolders?.length ?? 0"
        for _ in range(_RELOADS):
            if self.js(count):
                return
            self.page("reload")
            self.connect()
        assert self.js(count), "the window stays empty"

    def js(self, code: str, **arguments: Any) -> Any:
        """Runs the body of an async function of ``vscode`` and ``args`` in the extension host."""
        assert self.driver is not None
        return self.driver.ask(code=code, args=arguments)

    def is_active(self, extension: str) -> bool:
        """Whether an extension, which must be there, has been activated."""
        active: bool = self.js(
            "return vscode.extensions.getExtension(args.id).isActive", id=extension
        )
        return active

    def status(self) -> str:
        """What the status bar says about Sightline."""
        text: str = self.page("text", selector="#sightline\\.sightline\\.sightline\\.status")
        return text.strip()

    def token(self) -> str:
        """The token as a user gets it: from a copied configuration."""
        self.js("await vscode.commands.executeCommand('sightline.copyStanza', 'Plain JSON')")
        copied = json.loads(self.js("return vscode.env.clipboard.readText()"))
        server = copied["mcpServers"]["sightline"]
        assert server["url"] == self.url
        bearer: str = server["headers"]["Authorization"]
        return bearer.removeprefix("Bearer ")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    # Processes

    def child(self) -> Process | None:
        """The running ``sightline``, if any."""
        for process in processes_of(str(self.home)):
            if str(SIGHTLINE) in process.command and "--source editor" in process.command:
                return process
        return None

    def until(self, state: Callable[[], bool], seconds: float = 90) -> None:
        """Waits for a state, which a hang alone keeps from coming."""
        deadline = time.monotonic() + seconds
        while not state():
            assert time.monotonic() < deadline, f"the editor did not get there: {self._seen()}"
            time.sleep(0.05)

    def _seen(self) -> str:
        """What there is to see where something did not come."""
        child, status, logs = self.child(), "nothing", list[str]()
        with contextlib.suppress(Exception):  # whatever is wrong with the editor itself
            status = self.status()
        for file in sorted(self.home.rglob("*.log")):
            if "exthost" in str(file):
                logs.append(f"{file.name}: {file.read_text(errors='replace')[-1_000:]}")
        return "\n".join([f"child {child}; status {status}", *logs])

    def serving(self) -> bool:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            return True
        return False

    def left_after(self, seconds: float) -> list[Process]:
        """The processes besides the editor's server that are left after a while."""

        def counts(process: Process) -> bool:
            words = ("extensionHost", str(SIGHTLINE), "tsserver", "langserver")
            return any(word in process.command for word in words)

        if gone_after(str(self.home), counts, limit_s=seconds) is None:
            return [process for process in processes_of(str(self.home)) if counts(process)]
        return []

    def stop(self) -> None:
        if self.browser.poll() is None and self.browser.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.browser.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.browser.wait(10)
        for process in (self.browser, self.server):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in (self.browser, self.server):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for connection in self._connections:
            connection.close()
        self.listener.close()
        if self.browser.stdout is not None:
            self.browser.stdout.close()
        for left in processes_of(str(self.home)):
            with contextlib.suppress(ProcessLookupError):
                os.kill(left.pid, signal.SIGKILL)


def _furnish(home: Path, extensions: Sequence[Path], port: int, settings: dict[str, Any]) -> None:
    """The folders of an editor that was never used: extensions and settings."""
    for folder in ("extensions", "data/User", "data/Machine", "browser"):
        (home / folder).mkdir(parents=True)
    for extension in extensions:
        shutil.copytree(extension, home / "extensions" / extension.name)
    # Ours is the package that users install, and nothing but it.
    (package,) = (EXTENSION / "dist").glob("*.vsix")
    with zipfile.ZipFile(package) as archive:
        archive.extractall(home / "package")
    (home / "package/extension").rename(home / "extensions/sightline")
    machine = {
        "mcpLspGateway.enabled": True,
        "mcpLspGateway.port": port,
        "sightline.path": str(SIGHTLINE),
    }
    (home / "data/User/settings.json").write_text(json.dumps(_USER_SETTINGS))
    (home / "data/Machine/settings.json").write_text(json.dumps(machine | settings))


def _start_server(host: Host, home: Path, port: int, *, trusted: bool) -> subprocess.Popen[bytes]:
    flags = {
        "--config": home / "config.yaml",
        "--bind-addr": f"127.0.0.1:{port}",
        "--auth": "none",
        "--user-data-dir": home / "data",
        "--extensions-dir": home / "extensions",
        "--reconnection-grace-time": _GRACE_S,
    }
    switches = ["disable-telemetry", "disable-update-check", "disable-getting-started-override"]
    if trusted:
        switches.append("disable-workspace-trust")
    command = [str(host.node), str(host.code_server / "out/node/entry.js")]
    command += [str(word) for pair in flags.items() for word in pair]
    command += [f"--{switch}" for switch in switches]
    environment = {
        "PATH": f"{host.node.parent}:/usr/bin:/bin",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "SIGHTLINE_TEST_DRIVER": str(home / "driver.sock"),
        "SIGHTLINE_TEST_LANGUAGES": str(host.languages),
        "EXTENSIONS_GALLERY": '{"serviceUrl":""}',
    }
    with (home / "server.log").open("wb") as log:
        server = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, cwd=home
        )
    deadline = time.monotonic() + _START_S
    while True:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return server
        assert server.poll() is None and time.monotonic() < deadline, (
            home / "server.log"
        ).read_text()
        time.sleep(0.05)
