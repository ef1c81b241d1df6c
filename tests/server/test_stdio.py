"""The stdio transport: bad lines are answered, long ones drained, nothing else is ever written."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.server.stdio import Input
from tests.support.leaks import OUTSIDE
from tests.support.program import command, environment, run
from tests.support.stdio import StdioServer
from tests.support.watching import HANG_S

MIB = 1 << 20
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIST = b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}'


@pytest.fixture(scope="module")
def peer(place: Path) -> Iterator[StdioServer]:
    started = StdioServer.start([str(place / "ws")], place / f"home-{OUTSIDE}")
    started.initialize()
    yield started
    started.stop()


def error(message: Any) -> tuple[Any, int]:
    assert message.keys() == {"jsonrpc", "id", "error"}
    return message["id"], message["error"]["code"]


@pytest.mark.requirement("GT-stdio", "GT-strict-json", "GW-6.2-base-codes")
@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"{", (None, -32700)),
        (b"nonsense", (None, -32700)),
        (b"\xff\xfe", (None, -32700)),
        (b"\xef\xbb\xbf" + PING, (None, -32700)),
        (PING + PING, (None, -32700)),
        (b'{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}', (None, -32700)),
        (b"[" * 10_000, (None, -32700)),
        (b"[]", (None, -32600)),
        (b"[" + PING + b"]", (None, -32600)),
        (b"1", (None, -32600)),
        (b'{"jsonrpc":"1.0","id":9,"method":"ping"}', (9, -32600)),
        (b'{"jsonrpc":"2.0","id":9,"method":"ping","x":1}', (9, -32600)),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":9}', (9, -32600)),
        (b'{"jsonrpc":"2.0","id":9,"result":1,"error":1}', (None, -32600)),
        (b'{"jsonrpc":"2.0","id":9,"method":"nothing"}', (9, -32601)),
        (b'{"jsonrpc":"2.0","id":"9","method":"tools/call"}', ("9", -32602)),
        (b'{"jsonrpc":"2.0","id":9,"method":"initialize"}', (9, -32600)),
    ],
)
def test_bad_lines_are_answered(peer: StdioServer, line: bytes, answer: tuple[Any, int]) -> None:
    peer.write(line + b"\n" + PING + b"\n")
    assert error(peer.receive()) == answer
    assert peer.receive() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"   ",
        b"\t\r",
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%b}}'
        % (b"9" * 400),
        b'{"jsonrpc":"2.0","method":"initialize"}',
        b'{"jsonrpc":"2.0","method":"whatever"}',
        b'{"jsonrpc":"2.0","id":4,"result":{}}',
    ],
)
def test_lines_that_get_no_answer(peer: StdioServer, line: bytes) -> None:
    peer.write(line + b"\n" + PING + b"\n")
    assert peer.receive()["id"] == 1


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \t\r\n", b"\n\n\r\n\n"])
def test_line_ends(peer: StdioServer, end: bytes) -> None:
    peer.write(PING + end + LIST + end)
    assert [peer.receive()["id"], peer.receive()["id"]] == [1, 2]


@pytest.mark.requirement("GT-size", "GT-stdio")
@pytest.mark.parametrize("size", [MIB + 1, 3 * MIB])
def test_a_long_line_is_drained_and_answered_once(peer: StdioServer, size: int) -> None:
    peer.write(PING[:-1] + b" " * (size - len(PING)) + b"}\n" + LIST + b"\n")
    assert error(peer.receive()) == (None, -32700)
    assert peer.receive()["id"] == 2


def test_a_line_of_exactly_one_mebibyte(peer: StdioServer) -> None:
    peer.write(PING[:-1] + b" " * (MIB - len(PING)) + b"}\n")
    assert peer.receive()["id"] == 1


def test_a_message_in_many_pieces(peer: StdioServer) -> None:
    for start in range(0, len(PING), 7):
        peer.write(PING[start : start + 7])
    peer.write(b"\n")
    assert peer.receive()["id"] == 1


def test_every_answer_is_one_line(peer: StdioServer) -> None:
    peer.write(b'{"jsonrpc":"2.0","id":"a\\nb\\u2028","method":"ping"}\n')
    line = peer.receive_line()
    assert b"\n" not in line and json.loads(line)["id"] == "a\nb\u2028"


def test_answers_that_nobody_reads_yet(stdio: Callable[..., StdioServer], sample: Path) -> None:
    """None of them is lost or overtakes another."""
    server, count = stdio(sample), 1_000
    server.initialize()
    lines = [b'{"jsonrpc":"2.0","id":%d,"method":"tools/list"}' % n for n in range(count)]
    writer = threading.Thread(target=server.write, args=(b"\n".join(lines) + b"\n",))
    writer.start()
    assert [server.receive()["id"] for _ in range(count)] == list(range(count))
    writer.join()


# The whole life of a process


@pytest.mark.requirement("GT-stdio")
def test_the_end_of_input_without_a_line_end(home: Path, sample: Path) -> None:
    done = run(home, "stdio", sample, stdin=PING.decode())
    assert done.returncode == 0 and done.stderr == ""
    assert error(json.loads(done.stdout)) == (1, -32600)


@pytest.mark.parametrize("stdin", ["", "\n\n", " "])
def test_an_empty_conversation(home: Path, sample: Path, stdin: str) -> None:
    done = run(home, "stdio", sample, stdin=stdin)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_input_and_output_that_are_files(home: Path, sample: Path, tmp_path: Path) -> None:
    """Neither a file nor /dev/null can be waited for like a pipe."""
    said, heard = tmp_path / "said", tmp_path / "heard"
    said.write_bytes(PING + b"\n")
    for source, count in ((said, 1), (Path("/dev/null"), 0)):
        with source.open("rb") as stdin, heard.open("wb") as stdout:
            done = subprocess.run(
                command("stdio", sample),
                stdin=stdin,
                stdout=stdout,
                stderr=subprocess.PIPE,
                env=environment(home),
                check=False,
                timeout=HANG_S,
            )
        assert (done.returncode, done.stderr) == (0, b"")
        assert len(heard.read_bytes().splitlines()) == count


@pytest.mark.requirement("GA-protocol")
@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_all_four_revisions(stdio: Callable[..., StdioServer], sample: Path, revision: str) -> None:
    server = stdio(sample)
    assert server.initialize(revision)["result"]["protocolVersion"] == revision
    tool = server.request("tools/list")["result"]["tools"][0]
    assert ("outputSchema" in tool) == (revision >= "2025-06-18")
    assert ("annotations" in tool) == (revision >= "2025-03-26")
    arguments = {"uri": (sample / "main.py").as_uri()}
    result = server.call("vscode.lsp.documentSymbols", arguments)["result"]
    if revision >= "2025-06-18":
        assert result["content"] == [] and "symbols" in result["structuredContent"]
    else:
        assert "structuredContent" not in result
        assert "symbols" in json.loads(result["content"][0]["text"])


@pytest.mark.requirement("GT-stdio")
def test_stray_prints_never_reach_the_client(home: Path, sample: Path) -> None:
    """Whatever writes to descriptor 1 in the process writes to standard error instead."""
    code = (
        "import os, sys\n"
        "from sightline.server import streams\n"
        "claim = streams.claim_standard_streams\n"
        "def claimed():\n"
        "    found = claim()\n"
        "    print('stray print', flush=True)\n"
        "    os.write(1, b'stray write\\n')\n"
        "    os.system('echo stray child')\n"
        "    return found\n"
        "streams.claim_standard_streams = claimed\n"
        "from sightline.cli.main import main\n"
        f"sys.exit(main(['stdio', {str(sample)!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=PING + b"\n",
        capture_output=True,
        env=environment(home),
        check=False,
        timeout=HANG_S,
    )
    assert done.returncode == 0
    assert error(json.loads(done.stdout)) == (1, -32600)
    assert done.stderr.split(b"\n")[:3] == [b"stray print", b"stray write", b"stray child"]


def call(root: Path, id: Any) -> bytes:
    arguments = {"uri": (root / "main.py").as_uri()}
    params = {"name": "vscode.lsp.documentSymbols", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}
    return json.dumps(message).encode() + b"\n"


@pytest.mark.requirement("ST-7.1-one-answer", "ST-7.1-code")
def test_the_two_ways_to_cancel(stdio: Callable[..., StdioServer], sample: Path) -> None:
    """In one write, so that the cancel is read before the call has taken its first step."""
    server = stdio(sample)
    server.initialize()
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"8"}}\n'
    lsp = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":9}}\n'
    server.write(call(sample, 8) + cancelled + call(sample, "9") + lsp + PING + b"\n")
    found = [server.receive(), server.receive()]
    assert {message["id"] for message in found} == {1, "9"}
    (answer,) = [message for message in found if message["id"] == "9"]
    assert error(answer) == ("9", -32800)
    assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CANCELLED"}
    server.write(PING + b"\n")
    assert server.receive()["id"] == 1, "request 8 was never answered"
    server.write(call(sample, 8))
    assert server.answer_to(8)["id"] == 8, "its id is free again"


def test_a_duplicate_id(stdio: Callable[..., StdioServer], sample: Path) -> None:
    server = stdio(sample)
    server.initialize()
    server.write(call(sample, 8) + call(sample, "8"))
    first, second = server.receive(), server.receive()
    assert error(first) == ("8", -32600)
    assert second["id"] == 8 and "jsonrpc" in second


# The reader itself


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 64])
async def test_lines_in_any_pieces(piece: int) -> None:
    data = b"ab\n\ncdefgh\nij\n" + b"x" * 20 + b"\n" + b"y" * 9 + b"\n12345678\r\n12345678\r\r\nend"
    read_fd, write_fd = os.pipe()
    found: list[bytes | None] = []
    task = asyncio.create_task(Input(found.append, limit=8).read(read_fd))
    for start in range(0, len(data), piece):
        os.write(write_fd, data[start : start + piece])
        await asyncio.sleep(0)
    os.close(write_fd)
    await asyncio.wait_for(task, HANG_S)
    os.close(read_fd)
    assert found == [b"ab", b"", b"cdefgh", b"ij", None, None, b"12345678", None, b"end"]


async def test_lines_that_are_held() -> None:
    """Neither those that were read already nor those that come are taken until they may go on."""
    read_fd, write_fd = os.pipe()
    found: list[bytes | None] = []

    def take(line: bytes | None) -> None:
        found.append(line)
        if line in (b"b", b"d"):
            reader.hold()

    reader = Input(take)
    task = asyncio.create_task(reader.read(read_fd))
    os.write(write_fd, b"a\nb\nc\n")
    async with asyncio.timeout(HANG_S):
        while len(found) < 2:
            await asyncio.sleep(0)
    os.write(write_fd, b"d\ne\nf")
    os.close(write_fd)
    for _ in range(10):
        await asyncio.sleep(0)
    assert found == [b"a", b"b"]
    reader.go_on()
    async with asyncio.timeout(HANG_S):
        while len(found) < 4:
            await asyncio.sleep(0)
    assert found == [b"a", b"b", b"c", b"d"] and not task.done()
    reader.go_on()
    await asyncio.wait_for(task, HANG_S)
    os.close(read_fd)
    assert found == [b"a", b"b", b"c", b"d", b"e", b"f"]


@pytest.mark.parametrize(
    ("families", "told", "untold"),
    [
        ("lsp,index,context", ["vscode.lsp.definition", "search", "context.resolve"], []),
        ("lsp", ["vscode.lsp.definition", "0-based"], ["search", "context."]),
        ("index", ["search", "index_build", "nextCursor"], ["vscode.lsp", "context."]),
    ],
)
def test_models_are_told_of_the_tools_that_they_have(
    place: Path, families: str, told: list[str], untold: list[str]
) -> None:
    words = [str(place / "ws"), "--tools", families]
    peer = StdioServer.start(words, place / f"home-{OUTSIDE}")
    try:
        instructions: str = peer.initialize()["result"]["instructions"]
    finally:
        peer.stop()
    assert len(instructions) <= 1_000
    assert all(word in instructions for word in told)
    assert not any(word in instructions for word in untold)
    first, *others = instructions.splitlines()
    assert first.startswith("Sightline") and all(line.startswith("- ") for line in others)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_a_low_limit_of_open_files_is_raised(home: Path, tmp_path: Path) -> None:
    """What a shell gives is often too little for folders, language servers and the index."""
    import resource

    low = ("sh", "-c", 'ulimit -Sn 256; exec "$@"', "sh", *command())
    (tmp_path / "ws").mkdir()
    server = StdioServer.start([str(tmp_path / "ws")], home, program=low)
    try:
        server.initialize()
        soft, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
        assert soft == min(hard, 65_536)
    finally:
        server.stop()
