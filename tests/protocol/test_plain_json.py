"""Most messages take a quick way through the parser, which reads nothing that is refused."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Malformed, Request

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8)
values = st.recursive(
    scalars | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(values)
def test_both_ways_read_the_same(value: Any) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "m", "params": {"value": value}}
    compact = msgspec.json.encode(message)
    spacious = json.dumps(message).encode()
    read = [jsonrpc.read(compact), jsonrpc.read(spacious)]
    assert read[0] == read[1] == Request(1, "m", {"value": value})


@pytest.mark.parametrize(
    "params",
    [
        b'{"a":1,"a":1}',
        b'{"a":1,"a":2}',
        b'{"b":{"a":[],"a":[]}}',
        b'[{"":0,"":0}]',
        b'{"a":1,"\\u0061":1}',
        b'{"a":NaN}',
        b'{"a":1e999}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b"[" * 65 + b"]" * 65,
    ],
)
def test_what_is_refused_stays_refused_in_compact_json(params: bytes) -> None:
    with pytest.raises(Malformed):
        jsonrpc.read(b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % params)


def test_numbers_keep_their_value() -> None:
    numbers = b"[1.0,-0,1e2,123456789012345678901234567890]"
    read = jsonrpc.read(b'{"jsonrpc":"2.0","id":1,"method":"m","params":%b}' % numbers)
    assert isinstance(read, Request)
    assert read.params == [1.0, 0, 100.0, 123456789012345678901234567890]
