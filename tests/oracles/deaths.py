"""However Sightline or somebody around it dies, no process of the tree is left after 3 s.

    python -m tests.oracles.deaths --rounds 20     writes docs/evidence/deaths.md

A round starts Sightline on a small workspace, has a question answered (so that the language server
runs), finds every process of the tree, causes one death, and watches the kernel's process table.
In every second round a call is in flight at that moment.
"""

import argparse
import contextlib
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.oracles.processes import Process, gone_after, processes_of
from tests.oracles.sample import write_files
from tests.oracles.visits import place
from tests.support.http import HttpServer, in_session
from tests.support.program import command
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["CAUSES", "LIMIT_S", "Cause", "Tally", "tally"]

LIMIT_S = 3.0
_REPOSITORY = Path(__file__).parents[2]
#: As a shell with job control starts a program: the group of its own that Ctrl-C goes to.
_OWN_GROUP = ("setsid", *command())
_CRASHING = (sys.executable, str(Path(__file__).with_name("crashing.py")))


@dataclass(frozen=True)
class Scene:
    """A running Sightline, with or without a client of ours around it."""

    home: Path
    #: The process that dies in most scenes: Sightline, or the client that started it.
    pid: int
    #: The end of the input of a stdio server, where we are its client.
    close_input: Callable[[], None] = lambda: None
    #: Asks again, where Sightline is expected to live on.
    ask: Callable[[], bool] = lambda: True


Setting = Callable[[Path, Path, bool], contextlib.AbstractContextManager[Scene]]


@dataclass(frozen=True)
class Cause:
    name: str
    setting: Setting
    strike: Callable[[Scene], None]
    #: Only the language server and its keeper go; Sightline lives on and answers.
    lives_on: bool = False

    def takes(self, process: Process) -> bool:
        """Whether a process of the tree must be gone afterwards."""
        return not self.lives_on or is_language_server(process) or is_keeper(process)


@dataclass
class Tally:
    """What was seen of one cause."""

    rounds: int = 0
    processes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    left: int = 0
    not_answering: int = 0

    @property
    def good(self) -> bool:
        return self.left == self.not_answering == 0

    def row(self, name: str) -> str:
        counts = sorted({*self.processes})
        processes = "-".join(str(count) for count in {counts[0]: 0, counts[-1]: 0})
        slowest, median = max(self.seconds), statistics.median(self.seconds)
        return (
            f"| {name} | {self.rounds} | {processes} | {self.left} | {self.not_answering} "
            f"| {slowest:.2f} | {median:.2f} |"
        )


# Settings


@contextlib.contextmanager
def over_http(
    home: Path, root: Path, busy: bool, program: tuple[str, ...] = _OWN_GROUP
) -> Iterator[Scene]:
    with HttpServer.start([str(root)], home, program=program) as server, socket.socket() as last:
        assert "result" in server.call("vscode.lsp.definition", place(root))
        if busy:
            last.connect(("127.0.0.1", server.port))
            assert server.session is not None
            last.sendall(server.encode(_question(root), headers=in_session(server.session)))

        def ask() -> bool:
            return "result" in server.call("vscode.lsp.definition", place(root))

        yield Scene(home, server.process.pid, ask=ask)


@contextlib.contextmanager
def over_stdio(
    home: Path, root: Path, busy: bool, program: tuple[str, ...] = _OWN_GROUP
) -> Iterator[Scene]:
    server = StdioServer.start([str(root)], home, program=program)
    try:
        server.initialize()
        assert "result" in server.call("vscode.lsp.definition", place(root))
        if busy:
            server.send(_question(root))
        assert server.process.stdin is not None

        def ask() -> bool:
            return "result" in server.call("vscode.lsp.definition", place(root))

        yield Scene(home, server.process.pid, server.process.stdin.close, ask)
    finally:
        server.stop()


@contextlib.contextmanager
def under_a_client(home: Path, root: Path, busy: bool) -> Iterator[Scene]:
    client = subprocess.Popen(
        [sys.executable, "-m", "tests.oracles.hosting", str(home), str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=_REPOSITORY,
    )
    assert client.stdin is not None and client.stdout is not None
    with client:
        try:
            client.stdin.write("busy\n" if busy else "idle\n")
            client.stdin.flush()
            assert client.stdout.readline() == "ready\n"
            yield Scene(home, client.pid)
        finally:
            client.kill()


def crashing(setting: Callable[..., contextlib.AbstractContextManager[Scene]]) -> Setting:
    return lambda home, root, busy: setting(home, root, busy, _CRASHING)


def _question(root: Path) -> dict[str, object]:
    """A call that was not made before, so that its answer is not remembered."""
    arguments = {"uri": (root / "other.py").as_uri()}
    params = {"name": "vscode.lsp.documentSymbols", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": params}


# Deaths


def signalled(number: signal.Signals) -> Callable[[Scene], None]:
    return lambda scene: os.kill(scene.pid, number)


def interrupted(scene: Scene) -> None:
    """Ctrl-C: the terminal signals the whole foreground group."""
    assert os.getpgid(scene.pid) == scene.pid
    os.killpg(scene.pid, signal.SIGINT)


def input_ended(scene: Scene) -> None:
    scene.close_input()


def killed(which: Callable[[Process], bool]) -> Callable[[Scene], None]:
    """SIGKILL of some processes below Sightline."""

    def strike(scene: Scene) -> None:
        victims = [process for process in processes_of(str(scene.home)) if which(process)]
        assert victims
        for process in victims:
            os.kill(process.pid, signal.SIGKILL)

    return strike


def is_keeper(process: Process) -> bool:
    return "keeper.py" in process.command


def is_language_server(process: Process) -> bool:
    return not is_keeper(process) and process.command.endswith("ty server")


CAUSES = (
    Cause("`serve` gets SIGKILL", over_http, signalled(signal.SIGKILL)),
    Cause("`stdio` gets SIGKILL", over_stdio, signalled(signal.SIGKILL)),
    Cause(
        "the client that started `stdio` gets SIGKILL", under_a_client, signalled(signal.SIGKILL)
    ),
    Cause("`serve` is interrupted by Ctrl-C", over_http, interrupted),
    Cause("`stdio` is interrupted by Ctrl-C", over_stdio, interrupted),
    Cause("`serve` gets SIGTERM", over_http, signalled(signal.SIGTERM)),
    Cause("`stdio` sees the end of its input", over_stdio, input_ended),
    Cause("`serve` crashes (SIGSEGV)", over_http, signalled(signal.SIGSEGV)),
    Cause("`stdio` crashes (SIGSEGV)", over_stdio, signalled(signal.SIGSEGV)),
    Cause("`serve` fails with an injected error", crashing(over_http), signalled(signal.SIGUSR1)),
    Cause("`stdio` fails with an injected error", crashing(over_stdio), signalled(signal.SIGUSR1)),
    Cause(
        "the language server of `serve` gets SIGKILL",
        over_http,
        killed(is_language_server),
        lives_on=True,
    ),
    Cause(
        "the keeper of a language server gets SIGKILL", over_http, killed(is_keeper), lives_on=True
    ),
)


def play(cause: Cause, seen: Tally, *, busy: bool) -> None:
    """One round."""
    with tempfile.TemporaryDirectory(prefix="sightline-death-") as folder:
        home = Path(folder) / "home"
        home.mkdir()
        root = write_files(Path(folder) / "ws")
        with cause.setting(home, root, busy) as scene:
            tree = [p for p in processes_of(str(home)) if cause.takes(p)]
            assert any(map(is_language_server, tree)), "the language server runs"
            cause.strike(scene)
            if cause.lives_on:
                took = gone_after(str(home), set(tree).__contains__, limit_s=LIMIT_S)
                seen.not_answering += not scene.ask()
            else:
                took = gone_after(str(home), limit_s=LIMIT_S)
        if gone_after(str(home), limit_s=LIMIT_S) is None:
            took = None  # what was started meanwhile must not outlive Sightline either
    seen.rounds += 1
    seen.processes.append(len(tree))
    seen.left += took is None
    seen.seconds.append(LIMIT_S if took is None else took)


def tally(cause: Cause, rounds: int) -> Tally:
    seen = Tally()
    for number in range(rounds):
        play(cause, seen, busy=bool(number % 2))
    return seen


_INTRODUCTION = """\
# Deaths

However Sightline or somebody around it dies, no process of its tree is left after 3 s. Each round
starts Sightline on a small Python workspace, has a definition answered, so that the language
server runs, counts the processes of the tree (Sightline, the keeper, the language server), causes
the death and watches the process table. In every second round a call is in flight. Processes are
found by the home folder they were started with, so one that changed its parent is found too.

Where only the language server or its keeper dies, Sightline lives on: it must answer the same
question again, and end with everything it started when it is told to.

Weakness: one language server (`ty`), which obeys SIGTERM; trees that do not are in tests/process.
The seconds are wall time on a machine that was busy with other work.

| cause | rounds | processes | rounds with one left | not answering again | slowest, s | median, s |
|---|---|---|---|---|---|---|
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.oracles.deaths")
    parser.add_argument("--rounds", type=int, default=20, help="rounds per cause (default: 20)")
    parser.add_argument("--cause", default="", help="only causes that contain this text")
    chosen = parser.parse_args(arguments)
    rows: list[str] = []
    good = True
    for cause in CAUSES:
        if chosen.cause in cause.name:
            seen = tally(cause, chosen.rounds)
            good = good and seen.good
            rows.append(seen.row(cause.name))
            print(rows[-1], flush=True)
    if not chosen.cause:
        command = f"python -m tests.oracles.deaths --rounds {chosen.rounds}"
        write_page("deaths.md", command, _INTRODUCTION + "\n".join(rows) + "\n")
    return not good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
