"""JSON-RPC that fails closed: the whole table of what is and is not a message."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sightline.contract.limits import ENVELOPE_RESERVE_BYTES
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import (
    Error,
    Fault,
    Id,
    Malformed,
    Notification,
    Request,
    Response,
    read,
)

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def nested(levels: int) -> bytes:
    """A request whose params nest so that the whole message has ``levels`` levels."""
    inner = levels - 1
    return b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b%b}' % (b"[" * inner, b"]" * inner)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (PING, Request(1, "ping", None)),
        (b" \t\r\n" + PING + b"\r\n", Request(1, "ping", None)),
        (b'{"method":"m","id":"a","jsonrpc":"2.0"}', Request("a", "m", None)),
        (b'{"jsonrpc":"2.0","id":" ","method":"m"}', Request(" ", "m", None)),
        (b'{"jsonrpc":"2.0","id":-1,"method":"m"}', Request(-1, "m", None)),
        (b'{"jsonrpc":"2.0","id":0,"method":"m"}', Request(0, "m", None)),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"m"}', Request(1.5, "m", None)),
        (b'{"jsonrpc":"2.0","id":1e300,"method":"m"}', Request(1e300, "m", None)),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":{}}', Request(1, "m", {})),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}', Request(1, "m", [1])),
        (b'{"jsonrpc":"2.0","method":"m"}', Notification("m", None)),
        (b'{"jsonrpc":"2.0","id":1,"result":null}', Response(1)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}', Response(1)),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1.5,"message":"m","data":0}}', Response(1)),
        ('{"jsonrpc":"2.0","id":"é","method":"😀"}'.encode(), Request("é", "😀", None)),
        (
            b'{"jsonrpc":"2.0","id":"\\ud83d\\ude00","method":"m"}',
            Request("\U0001f600", "m", None),
        ),
        (
            b'{"jsonrpc":"2.0","id":1,"method":"\\u006d","params":[' + b"9" * 300 + b"]}",
            Request(1, "m", [int("9" * 300)]),
        ),
    ],
)
def test_messages(body: bytes, message: object) -> None:
    assert read(body) == message


@pytest.mark.requirement("GT-strict-json", "GA-strict-envelope")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b" ",
        b"{",
        b"}",
        b"nul",
        PING + b"x",
        PING + PING,
        PING[:-1] + b",}",
        b"\xef\xbb\xbf" + PING,
        PING.decode().encode("utf-16"),
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xed\xa0\x80"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\xc0\xaf"}',
        b'{"jsonrpc":"2.0","id":1,"method":"a\nb"}',
        b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"\\udc00":1}}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":["\\ude00\\ud83d"]}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":[NaN]}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":[Infinity]}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":[-Infinity]}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":[1e400]}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":[' + b"9" * 5_000 + b"]}",
        b'{"jsonrpc":"2.0","id":1e400,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"id":1,"method":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","m\\u0065thod":"m"}',
        b'{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":[{"b":1,"b":1}]}}',
        nested(65),
        nested(100_000),
        b"[" * 500_000,
        b'{"a":' * 100_000,
    ],
    ids=range(30),
)
def test_what_is_not_json_here(body: bytes) -> None:
    with pytest.raises(Malformed) as malformed:
        read(body)
    assert (malformed.value.fault, malformed.value.id) == (Fault.PARSE, None)


def test_sixty_four_levels_are_read() -> None:
    assert isinstance(read(nested(64)), Request)


def test_many_brackets_in_a_flat_message_are_read() -> None:
    params: list[Any] = [{"a": []} for _ in range(1_000)]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "m", "params": params}).encode()
    assert read(body) == Request(1, "m", params)


@pytest.mark.requirement("GA-strict-envelope")
@pytest.mark.parametrize(
    ("body", "id"),
    [
        (b"[]", None),
        (b"[" + PING + b"]", None),
        (b'"x"', None),
        (b"1", None),
        (b"null", None),
        (b"true", None),
        (b"{}", None),
        (b'{"id":1,"method":"m"}', 1),
        (b'{"jsonrpc":"1.0","id":1,"method":"m"}', 1),
        (b'{"jsonrpc":2.0,"id":1,"method":"m"}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","zzz":1}', 1),
        (b'{"jsonrpc":"2.0","id":1,"Method":"m"}', 1),
        (b'{"jsonrpc":"2.0","id":null,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":"","method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":true,"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":{},"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":[1],"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":"' + b"x" * 257 + b'","method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":' + b"9" * 257 + b',"method":"m"}', None),
        (b'{"jsonrpc":"2.0","id":1}', 1),
        (b'{"jsonrpc":"2.0","id":1,"params":{}}', 1),
        (b'{"jsonrpc":"2.0"}', None),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":""}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"  "}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":null}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":null}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":"x"}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","params":1}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","result":1}', 1),
        (b'{"jsonrpc":"2.0","id":1,"method":"m","error":{}}', 1),
        (b'{"jsonrpc":"2.0","result":1}', None),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"error":{"code":1,"message":"m"}}', None),
        (b'{"jsonrpc":"2.0","id":1,"result":1,"params":{}}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":"1","message":"m"}}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":true,"message":"m"}}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":" "}}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":{"code":1}}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":null}', None),
    ],
)
def test_what_is_json_but_no_message(body: bytes, id: object) -> None:
    """The id is kept only where a request's was readable: a response is never answered."""
    with pytest.raises(Malformed) as malformed:
        read(body)
    assert malformed.value.fault is Fault.INVALID
    assert malformed.value.id == id


@pytest.mark.parametrize(
    ("body", "spelled"),
    [
        (b"1.0", b"1"),
        (b"-0", b"0"),
        (b"-0.0", b"0"),
        (b"1e21", b"1e+21"),
        (b"1e2", b"100"),
        (b"0.1", b"0.1"),
        (b"-7", b"-7"),
        (b"12345678901234567890", b"12345678901234567890"),
        (b"9" * 256, b"9" * 256),
        (b'"8"', b'"8"'),
        (b'"\\u00e9\\u2028"', '"é\u2028"'.encode()),
    ],
)
def test_an_id_comes_back_as_it_went(body: bytes, spelled: bytes) -> None:
    request = read(b'{"jsonrpc":"2.0","id":%b,"method":"m"}' % body)
    assert isinstance(request, Request)
    assert jsonrpc.result_bytes(request.id, {}) == (
        b'{"jsonrpc":"2.0","id":%b,"result":{}}' % spelled
    )


@pytest.mark.requirement("ST-7.2-ids")
def test_ids_are_compared_as_strings() -> None:
    assert jsonrpc.id_key(8) == jsonrpc.id_key("8") == jsonrpc.id_key(8.0) == "8"
    assert jsonrpc.id_key(2**53) != jsonrpc.id_key(2**53 + 1)
    assert jsonrpc.id_key(1.5) == "1.5"


def test_errors() -> None:
    error = Error(-32601, "Method not found")
    assert jsonrpc.error_bytes(None, error) == (
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}'
    )
    with_data = Error(-32602, "Invalid params", {"code": "X"})
    assert jsonrpc.error_bytes("é", with_data).endswith(
        b'"error":{"code":-32602,"message":"Invalid params","data":{"code":"X"}}}'
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
members = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error", "x"])


@pytest.mark.requirement("GW-9-fail-closed")
@given(st.dictionaries(members, json_values | st.just("2.0")).map(json.dumps) | st.text())
def test_any_text_is_a_message_or_malformed(text: str) -> None:
    body = text.encode("utf-8", "surrogatepass")
    try:
        message = read(body)
    except Malformed:
        return
    envelope: dict[str, Any] = json.loads(body)
    assert envelope["jsonrpc"] == "2.0"
    assert isinstance(message, Notification) == ("id" not in envelope)


@given(st.binary())
def test_any_bytes_are_a_message_or_malformed(body: bytes) -> None:
    with pytest.raises(Malformed):
        read(body)


@pytest.mark.requirement("GW-5.3-response-bytes")
@given(
    st.text('\x00\x01\x1f"\\\x7fé7', min_size=1, max_size=256)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
)
@example("\x01" * 252 + "1234")
@example(-(10**255))
def test_every_id_fits_what_is_reserved_for_it(id: Id) -> None:
    assume(jsonrpc.is_id(id))
    assert len(jsonrpc.result_bytes(id, msgspec.Raw(b""))) <= ENVELOPE_RESERVE_BYTES
