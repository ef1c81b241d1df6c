"""Where lines begin: as in a plain count, whatever a text holds and wherever its parts end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.line_starts import LineStarts


def plainly(text: str) -> list[int]:
    starts, place = [0], 0
    while place < len(text):
        place += 2 if text.startswith("\r\n", place) else 1
        if text[place - 1] in "\r\n":
            starts.append(place)
    return starts


@given(st.text("a\n\r\u2028\U0001f600", max_size=40), st.integers(1, 5))
def test_lines_begin_where_a_count_says(text: str, part: int) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("sightline.contract.line_starts._PART", part)
        starts, counted = LineStarts(text), plainly(text)
        assert [starts.of(line) for line in range(len(counted))] == counted
        assert starts.of(len(counted)) is None
        for place in range(len(text)):
            assert starts.line_at(place) == sum(start <= place for start in counted) - 1
