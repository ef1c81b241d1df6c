"""A fixed part of the fuzz run, on every build. ``make fuzz`` runs the long one."""

import json
from pathlib import Path

import pytest

from tests.fuzz.generate import MARK, Generator
from tests.fuzz.grammar import OutOfContract, check_answer, check_refusal
from tests.fuzz.in_process import InProcess
from tests.fuzz.sockets import Sockets
from tests.support.http import HttpServer

SEED = 20_251_125


@pytest.mark.requirement("GW-9-fail-closed", "GW-6.3-nothing-leaks")
def test_twenty_thousand_messages_in_process() -> None:
    run = InProcess(SEED)
    run.run(20_000)
    assert run.counts.keys() == {"malformed", "answered", "called", "cancelled"}
    assert min(run.counts.values()) > 50, "every path was taken many times"


@pytest.mark.requirement("GW-9-fail-closed", "GT-empty-body")
def test_messages_over_sockets(home: Path, sample: Path) -> None:
    arguments = [str(sample), "--tools", "lsp", "--set", "debug_logging=true"]
    with HttpServer.start(arguments, home) as server:
        run = Sockets(server, SEED)
        run.run(1_000)
    assert {"200", "202", "400", "401", "404", "405"} <= run.counts.keys()


def test_the_seed_decides() -> None:
    one, other = Generator(7), Generator(7)
    assert [one.message() for _ in range(500)] == [other.message() for _ in range(500)]
    assert Generator(8).message() != Generator(9).message()


@pytest.mark.parametrize(
    "answer",
    [
        {"jsonrpc": "2.0", "id": None, "result": {}},
        {"jsonrpc": "2.0", "id": 1, "result": {"surprise": 1}},
        {"jsonrpc": "2.0", "id": 1, "result": {}, "extra": 1},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32000, "message": "x"}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no ping"}},
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": f"bad {MARK}"}},
        {"jsonrpc": "2.0", "method": "window/logMessage", "params": {}},
        {
            "jsonrpc": "2.0",
            "id": 1,
            "error": {
                "code": -32603,
                "message": "Internal error: it broke somewhere [MCP_LSP_GATEWAY/INTERNAL]",
                "data": {"code": "MCP_LSP_GATEWAY/INTERNAL"},
            },
        },
    ],
)
def test_the_grammar_refuses_what_it_should(answer: dict[str, object]) -> None:
    with pytest.raises(OutOfContract):
        check_answer(json.dumps(answer).encode())


@pytest.mark.parametrize(
    ("status", "headers", "body"),
    [
        (500, {"content-length": "0"}, b""),
        (400, {"content-length": "3"}, b"bad"),
        (400, {"content-length": "0", "server": "x"}, b""),
    ],
)
def test_refusals_have_a_grammar_too(status: int, headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(OutOfContract):
        check_refusal(status, headers, body)
