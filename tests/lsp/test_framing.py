"""Framing: however the bytes are cut, the same messages come out, and nonsense is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.wire.framing import MAX_MESSAGE_BYTES, BadFraming, Framer, frame

_HEADERS = st.sampled_from(
    [
        "Content-Length: {}\r\n\r\n",
        "content-length:{}\r\n\r\n",
        "Content-Length:  {} \r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: {}\r\n\r\n",
    ]
)


@given(st.lists(st.tuples(st.binary(max_size=50), _HEADERS), max_size=6), st.data())
def test_any_cut_gives_the_same_messages(
    messages: list[tuple[bytes, str]], data: st.DataObject
) -> None:
    whole = b"".join(header.format(len(body)).encode() + body for body, header in messages)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    framer = Framer()
    heard: list[bytes | bytearray] = []
    for begin, end in zip([0, *cuts], [*cuts, len(whole)], strict=True):
        heard += framer.feed(whole[begin:end])
    assert heard == [body for body, _ in messages]
    assert not framer.inside


@given(st.binary(max_size=40), st.integers(1, 60))
def test_a_begun_message_is_known_as_one(body: bytes, size: int) -> None:
    message = frame(body)
    framer = Framer()
    begun = message[: min(size, len(message) - 1)]
    assert framer.feed(begun) == []
    assert framer.inside
    assert framer.feed(message[len(begun) :]) == [body]


@pytest.mark.parametrize(
    "nonsense",
    [
        b"Starting server on stdio\xe2\x80\xa6\n",
        b"{}\n",
        b"Content-Type: text/plain\r\n\r\n{}",
        b"Content-Length: -2\r\n\r\n{}",
        b"Content-Length: ten\r\n\r\n{}",
        b"Content-Length: %d\r\n\r\n" % (MAX_MESSAGE_BYTES + 1),
        b"Content-Length: %s\r\n\r\n" % (b"9" * 40),
        b"x" * 5_000,
    ],
)
@pytest.mark.parametrize("before", [b"", frame(b"{}")])
def test_what_is_no_message_is_refused(nonsense: bytes, before: bytes) -> None:
    with pytest.raises(BadFraming):
        Framer().feed(before + nonsense)
