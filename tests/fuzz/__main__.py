"""``python -m tests.fuzz``: so many messages in process, so many over sockets, one seed."""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.fuzz.grammar import OutOfContract
from tests.fuzz.in_process import InProcess
from tests.fuzz.sockets import Sockets
from tests.support.http import HttpServer
from tests.support.leaks import OUTSIDE, ledger
from tools.evidence import write_page

_PAGE = """# Fuzzing the protocol

Generated messages, from well-formed to mutilated (tests/fuzz/grammar.py): wrong types, unknown and
repeated members, deep and broken JSON, ids of every kind, calls with arguments that are nearly
right, cancelling, sessions begun and broken. After each, the answer must be one the contract
allows (tests/fuzz/grammar.py says which), and no text may hold a planted secret, a path outside
the workspace or a traceback. One answer outside the contract ends the run with the message.

| where | messages | seed | processor s | what came |
|---|---|---|---|---|
{rows}

Weakness: the grammar knows the protocol, so it finds what its author thought of breaking; the
seven tools answer from a stand-in in process, and from a real language server over sockets.
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--messages", type=int, default=20_000, help="in process")
    parser.add_argument("--socket-messages", type=int, default=1_000, help="over sockets")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--page", action="store_true", help="write docs/evidence/fuzz.md")
    arguments = parser.parse_args()
    rows: list[str] = []
    print(f"seed {arguments.seed}")
    try:
        inside = InProcess(arguments.seed)
        took = _timed(lambda: inside.run(arguments.messages))
        print(f"in process: {arguments.messages} messages, {took:.1f} s of CPU, {inside.counts}")
        rows.append(_row("in process", arguments.messages, arguments.seed, took, inside.counts))
        if arguments.socket_messages:
            rows.append(_over_sockets(arguments.seed, arguments.socket_messages))
    except OutOfContract as problem:
        print(f"FAILED {problem}\n  because of {problem.__cause__!r}", file=sys.stderr)
        return 1
    if leaks := ledger.leaks():
        print("LEAKED", *leaks, sep="\n  ", file=sys.stderr)
        return 1
    if arguments.page:
        sizes = f"--messages {arguments.messages} --socket-messages {arguments.socket_messages}"
        command = f"python -m tests.fuzz {sizes} --seed {arguments.seed} --page"
        write_page("fuzz.md", command, _PAGE.format(rows="\n".join(rows)))
    return 0


def _row(where: str, messages: int, seed: int, took: float, counts: Mapping[str, int]) -> str:
    came = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
    return f"| {where} | {messages:,} | {seed} | {took:.0f} | {came} |"


def _over_sockets(seed: int, messages: int) -> str:
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
            return _row("over sockets", messages, seed, took, outside.counts)


def _timed(work: Callable[[], None]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    sys.exit(main())
