"""A stand-in language server for Python that starts, says it is there, and never answers.

``SlowServer.install`` puts it into a home, so that the real program starts it in place of the
default one.
"""

import os
import select
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.watching import HANG_S

__all__ = ["SlowServer"]

_PROGRAM = r"""
import json, os, signal, subprocess, sys

signal.signal(signal.SIGTERM, signal.SIG_IGN)
helper = subprocess.Popen(
    [sys.executable, "-I", "-S", "-c",
     "import signal; signal.signal(15, signal.SIG_IGN)\nwhile True: signal.pause()"],
    start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

def read():
    size = 0
    while (line := sys.stdin.buffer.readline().strip()):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            size = int(value)
    return json.loads(sys.stdin.buffer.read(size)) if size else None

def write(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()

while (message := read()) is not None:
    if message.get("method") == "initialize":
        write({"id": message["id"], "result": {"capabilities": {}}})
    elif message.get("method") == "textDocument/hover":
        with open(os.environ["HOME"] + "/asked", "w") as file:
            file.write("yes")
while True:
    signal.pause()
"""


@dataclass(frozen=True)
class SlowServer:
    #: What the environment of the program needs.
    extra: dict[str, str]
    _asked: int

    @classmethod
    def install(cls, home: Path) -> "SlowServer":
        folder = home / "programs"
        folder.mkdir(parents=True)
        program = folder / "slow-ls"
        program.write_text(f"#!{sys.executable} -IS\n{_PROGRAM}", encoding="utf-8")
        program.chmod(0o755)
        config = home / ".config/sightline"
        config.mkdir(parents=True)
        (config / "sightline.toml").write_text(
            '[servers.ty]\ncommand = ["slow-ls"]\nfound = "path"\ndeclarations = "server"\n',
            encoding="utf-8",
        )
        os.mkfifo(home / "asked")
        asked = os.open(home / "asked", os.O_RDONLY | os.O_NONBLOCK)
        return cls({"PATH": f"{folder}:/usr/bin:/bin"}, asked)

    def close(self) -> None:
        """Whether it is asked does not matter any more."""
        os.close(self._asked)

    def wait_until_asked(self) -> None:
        """Returns when the question has reached the language server."""
        ready, _, _ = select.select([self._asked], [], [], HANG_S)
        self.close()
        assert ready, "the language server was never asked"
