"""``servers install`` that is asked to end: it ends soon, and nothing is left of what it began.

The installation is one of many small files, so that it is asked while it unpacks, or of a package
that a slow npm brings, so that it is asked while it fetches.
"""

import base64
import hashlib
import io
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import msgspec
import pytest

from sightline.lsp.install.locks import Lock, LockedFile
from sightline.lsp.registry import builtin
from tests.support.program import environment

NAME = "bash"
VERSION = builtin().packages[NAME].version
FILES = 20_000
STEPS = ("fetching", "unpacking")
pytestmark = pytest.mark.usefixtures("hangups_count")

#: The command, with a lock of the test's own in place of the one that is shipped.
PROGRAM = """
import pathlib, sys, msgspec
from sightline.cli import launch
from sightline.cli.commands import servers
from sightline.lsp.install.locks import Lock
lock = pathlib.Path(sys.argv.pop(1)).read_bytes()
servers.read_lock = lambda name: msgspec.json.decode(lock, type=Lock)
launch.run()
"""

NPM = """#!/bin/sh
for each in "$@"; do case "$each" in --pack-destination=*) out=${each#*=};; esac; done
%s
cp '%s' "$out/sample-1.0.0.tgz"
"""


@pytest.fixture(scope="module")
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("registry") / "sample.tgz"
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for number in range(FILES):
            info = tarfile.TarInfo(f"package/{number // 50}/sub/{number}")
            info.size = 10
            tar.addfile(info, io.BytesIO(b"0123456789"))
    return path


class Installation:
    """One that runs, and the folder that it fills."""

    def __init__(self, home: Path, tarball: Path, waits: str, ignored: str = "") -> None:
        digest = base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
        file = LockedFile("sample", "1.0.0", "node_modules/sample", hash=f"sha512-{digest}")
        lock = home / "lock.json"
        lock.write_bytes(msgspec.json.encode(Lock("npm", VERSION, (file,))))
        tools = home / "tools"
        tools.mkdir()
        (tools / "npm").write_text(NPM % (waits, tarball))
        (tools / "npm").chmod(0o755)
        self.store = home / ".local/share/sightline/servers"
        own = [sys.executable, "-c", PROGRAM, str(lock), "servers", "install", NAME]
        self.process = subprocess.Popen(
            ["sh", "-c", f'{ignored} exec "$@"', "sh", *own],
            env=environment(home, {"PATH": f"{tools}:/usr/bin:/bin"}),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def has_made(self, name: str) -> None:
        """Looks until a file is there, or the installation has ended."""
        while self.process.poll() is None:
            if any(self.store.glob(f".partial-*/{name}")):
                return
        pytest.fail("it ended too soon")

    def end(self, *signals: signal.Signals) -> tuple[int, str]:
        """Its exit code, and what it said since."""
        for number in signals:
            self.process.send_signal(number)
        try:
            _, said = self.process.communicate(timeout=60)
        finally:
            self.process.kill()
        return self.process.returncode, said

    def left(self) -> list[str]:
        return sorted(os.listdir(self.store))


@pytest.mark.parametrize(
    "signals",
    [[signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGTERM]],
    ids=lambda signals: "+".join(each.name for each in signals),
)
def test_asked_while_it_unpacks(home: Path, tarball: Path, signals: list[signal.Signals]) -> None:
    installation = Installation(home, tarball, "")
    installation.has_made("tree/node_modules/sample/40/sub/2000")
    code, said = installation.end(*signals)
    assert code == 130
    assert said.splitlines() == [f"bash {VERSION}: {step} 1 file" for step in STEPS]
    assert installation.left() == [".lock"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_asked_while_it_fetches(home: Path, tarball: Path, number: signal.Signals) -> None:
    installation = Installation(home, tarball, ">there; exec tail -f /dev/null")
    installation.has_made("there")
    code, _ = installation.end(number)
    assert code == 130
    assert installation.left() == [".lock"]


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
def test_what_was_to_be_outlived_is(home: Path, name: str) -> None:
    """``nohup`` and a shell that runs it in the background have said so."""
    os.mkfifo(home / "on")
    with tarfile.open(home / "small.tgz", "w:gz") as small:
        small.addfile(tarfile.TarInfo("package/x"))
    waits = f">there; read -r on <'{home}/on'"
    installation = Installation(home, home / "small.tgz", waits, f"trap '' {name};")
    installation.has_made("there")
    installation.process.send_signal(getattr(signal, f"SIG{name}"))
    (home / "on").write_text("on\n")
    _, said = installation.process.communicate(timeout=60)
    assert installation.process.returncode == 0, said
    assert installation.left() == [".lock", NAME]
