"""However a server spells and cuts its answers, they are read the same."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.wire.client import Client, ServerError, ServerGone
from sightline.lsp.wire.framing import frame
from sightline.lsp.wire.messages import ReferencesResult

_PLACE = {"start": {"line": 3, "character": 4}, "end": {"line": 3, "character": 9}}
_FOUND = [{"uri": "file:///a.py", "range": _PLACE}] * 3

_WRONG = "wrong"
_GONE = "gone"
#: The members of an answer, and what it comes to.
ANSWERS: list[tuple[dict[str, Any], object]] = [
    ({"jsonrpc": "2.0", "id": 1, "result": _FOUND}, _FOUND),
    ({"jsonrpc": "2.0", "id": 1, "result": None}, None),
    ({"jsonrpc": "2.0", "result": _FOUND, "id": 1}, _FOUND),
    ({"id": 1, "jsonrpc": "2.0", "result": _FOUND}, _FOUND),
    ({"jsonrpc": "2.0", "id": 1, "result": _FOUND, "error": None}, _FOUND),
    ({"jsonrpc": "2.0", "id": 1, "result": None, "error": {"code": 7}}, _WRONG),
    ({"jsonrpc": "2.0", "id": 1, "error": {"code": 7}}, _WRONG),
    ({"jsonrpc": "2.0", "id": 1, "result": [{"uri": 5}]}, _WRONG),
    ({"jsonrpc": "2.0", "id": 1, "result": "text"}, _WRONG),
]
#: Bodies that nobody can read, and what they come to.
BROKEN = [
    (b'{"jsonrpc":"2.0","id":1,"result":[}', _WRONG),
    (b'{"jsonrpc":"2.0","id":1,"result":[]]}', _WRONG),
    (b'{"jsonrpc":"2.0","id":1,"result":[]', _WRONG),
    (b'{"jsonrpc":"2.0","id":1,"result":}', _WRONG),
    (b'{"jsonrpc":"2.0","id":1,"result":null}}', _WRONG),
    (b'{"jsonrpc":"2.0","result":[[],"\t"],"id":1}', _WRONG),
    (b'{"jsonrpc":"2.0","result":["\\"]","id":1}', _GONE),
    (b'{"jsonrpc":"2.0","id":01,"result":[]}', _GONE),
    (b'{"jsonrpc":"2.0","id":1}]', _GONE),
    (b'[{"jsonrpc":"2.0","id":1,"result":[]}]', _GONE),
    (b"{]}()", _GONE),
]


class Writer:
    """What the client says goes nowhere."""

    transport = type("Transport", (), {"get_write_buffer_size": lambda self: 0})()

    def write(self, data: bytes) -> None: ...

    def is_closing(self) -> bool:
        return False


async def outcome(pieces: list[bytes], *, unasked: bytes = b"") -> object:
    """What a question comes to when its server says this."""
    heard: list[Callable[[bytes], None]] = []
    client = Client(
        lambda hear, ended: heard.append(hear),
        Writer(),  # type: ignore[arg-type]
        configuration=lambda section: None,
        notified=lambda method, params: None,
    )
    asked = asyncio.create_task(client.request("textDocument/references", {}, ReferencesResult))
    await asyncio.sleep(0)
    for piece in [unasked, *pieces]:
        heard[0](piece)
    try:
        return msgspec.to_builtins(await asked)
    except ServerError:
        return _WRONG
    except ServerGone:
        return _GONE


def cut(data: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in places})
    return [data[a:b] for a, b in zip([0, *ends], [*ends, len(data)], strict=True)]


@given(st.sampled_from(ANSWERS), st.booleans(), st.booleans(), st.lists(st.integers(0, 999)))
def test_an_answer_is_the_same_however_it_is_spelled_and_cut(
    answer: tuple[dict[str, Any], object], compact: bool, first: bool, places: list[int]
) -> None:
    message, expected = answer
    body = json.dumps(message, separators=(",", ":") if compact else None).encode()
    log = frame(b'{"jsonrpc":"2.0","method":"window/logMessage","params":{}}')
    told = log + frame(body) if first else frame(body) + log
    assert asyncio.run(outcome(cut(told, places))) == expected


@pytest.mark.parametrize(("body", "expected"), BROKEN)
async def test_what_cannot_be_read_ends_the_connection_where_nobody_can_be_told(
    body: bytes, expected: str
) -> None:
    assert await outcome([frame(body)]) == expected


async def test_an_answer_to_nothing_is_not_read() -> None:
    other = frame(b'{"jsonrpc":"2.0","id":2,"result":[]}')
    answer = frame(json.dumps(ANSWERS[0][0]).encode())
    assert await outcome([answer], unasked=other) == _FOUND
