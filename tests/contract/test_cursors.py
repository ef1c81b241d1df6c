"""Cursor v2: what is written is read back, and nothing else is."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.cursors import Cursor, decode, encode
from sightline.contract.failures import CursorInvalid

K = "e2d003a32d2401610331caf8666277c9fbcd0ff66f5c9c151ed6f2233316cd4f"
S = "78f2a1c21cba03dbd4b38f4db481e54e24b5e6d57a8158dbc19a3462d0a612a9"
GOOD = encode(Cursor(100, K, S))


def spelled(payload: object) -> str:
    text = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.requirement("GW-3.6-structure", "GW-3.6-encoding")
def test_the_bytes() -> None:
    raw = base64.urlsafe_b64decode(GOOD + "=" * (-len(GOOD) % 4))
    assert raw == b'{"v":2,"o":100,"k":"%b","s":"%b"}' % (K.encode(), S.encode())
    assert "=" not in GOOD and "+" not in GOOD and "/" not in GOOD


@given(st.integers(min_value=0), st.sampled_from([K, "k"]), st.sampled_from([S, "s"]))
def test_round_trip(offset: int, request: str, snapshot: str) -> None:
    cursor = Cursor(offset, request, snapshot)
    assert decode(encode(cursor), request) == cursor


@given(st.data())
def test_no_other_text_is_read(data: st.DataObject) -> None:
    """Every changed, dropped or added character makes it a different text, which is refused
    unless it is itself exactly what ``encode`` writes."""
    place = data.draw(st.integers(0, len(GOOD)))
    cut = data.draw(st.integers(0, 2))
    alphabet = st.sampled_from("ABab01-_+/= \n\t.,;é\0")
    added = data.draw(st.text(alphabet, max_size=3))
    mutated = GOOD[:place] + added + GOOD[place + cut :]
    if mutated == GOOD:
        return
    try:
        cursor = decode(mutated, K)
    except CursorInvalid:
        return
    assert encode(cursor) == mutated and cursor.request == K


@pytest.mark.requirement("GW-3.6-reject-undecodable")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        "!",
        "a",
        "é",
        GOOD + "=",
        GOOD + "\n",
        " " + GOOD,
        GOOD[:-1],
        GOOD[:-1] + chr(ord(GOOD[-1]) + 1),
        base64.b64encode(b"\xff\xfe").decode(),
        spelled(""),
        spelled("null"),
        spelled("[]"),
        spelled('"x"'),
        spelled("{"),
        spelled("[" * 900),
        spelled({}),
        spelled({"v": 2, "o": 0, "k": K}),
        spelled({"o": 0, "v": 2, "k": K, "s": S}),
        spelled({"v": 2, "o": 0, "k": K, "s": S, "x": 1}),
        spelled(f'{{"v":2,"o":0,"o":0,"k":"{K}","s":"{S}"}}'),
        spelled(f'{{"v": 2,"o":0,"k":"{K}","s":"{S}"}}'),
        spelled({"v": 2, "o": 0, "k": K, "s": 5}),
        spelled({"v": 2, "o": 0, "k": K, "s": "x" * 2_000}),
        spelled({"v": 2, "o": 0, "k": K, "s": "\ud800"}),
        spelled({"v": 2, "o": 0, "k": "\udfff", "s": S}),
    ],
)
def test_what_was_not_written_here_is_refused(text: str) -> None:
    assert text != GOOD
    with pytest.raises(CursorInvalid):
        decode(text, K)


@pytest.mark.requirement("GW-3.6-reject-version")
@pytest.mark.parametrize("version", [1, 3, 0, -2, "2", 2.0, 2.5, None, True])
def test_another_version_is_refused(version: Any) -> None:
    with pytest.raises(CursorInvalid):
        decode(spelled({"v": version, "o": 0, "k": K, "s": S}), K)


@pytest.mark.requirement("GW-3.6-reject-offset")
@pytest.mark.parametrize("offset", [-1, 1.5, 1.0, "0", None, True, False, [], {}, 1e300])
def test_another_offset_is_refused(offset: Any) -> None:
    with pytest.raises(CursorInvalid):
        decode(spelled({"v": 2, "o": offset, "k": K, "s": S}), K)


@pytest.mark.requirement("GW-3.6-reject-other-question")
def test_another_question_is_refused() -> None:
    with pytest.raises(CursorInvalid):
        decode(GOOD, S)
