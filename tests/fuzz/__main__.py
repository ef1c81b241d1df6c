"""``python -m tests.fuzz``: so many messages in process, so many over sockets, one seed."""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.grammar import OutOfContract
from tests.fuzz.in_process import InProcess
from tests.fuzz.sockets import Sockets
from tests.support.http import HttpServer
from tests.support.leaks import OUTSIDE, ledger


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="in process")
    parser.add_argument("--socket-messages", type=int, default=1_000, help="over sockets")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    try:
        inside = InProcess(arguments.seed)
        took = _timed(lambda: inside.run(arguments.messages))
        print(f"in process: {arguments.messages} messages, {took:.1f} s of CPU, {inside.counts}")
        if arguments.socket_messages:
            _over_sockets(arguments.seed, arguments.socket_messages)
    except OutOfContract as problem:
        print(f"FAILED {problem}\n  because of {problem.__cause__!r}", file=sys.stderr)
        return 1
    if leaks := ledger.leaks():
        print("LEAKED", *leaks, sep="\n  ", file=sys.stderr)
        return 1
    return 0


def _over_sockets(seed: int, messages: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home, root = Path(folder) / f"home-{OUTSIDE}", Path(folder) / "ws"
        home.mkdir()
        root.mkdir()
        (root / "main.py").write_text("x: int = 'a'\n", encoding="utf-8")
        arguments = [str(root), "--tools", "lsp", "--set", "debug_logging=true"]
        with HttpServer.start(arguments, home) as server:
            outside = Sockets(server, seed)
            took = _timed(lambda: outside.run(messages))
            print(f"over sockets: {messages} requests, {took:.1f} s of CPU, {outside.counts}")


def _timed(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
