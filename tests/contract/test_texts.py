"""Lines, columns and cuts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.limits import MAX_DOCUMENT_BYTES
from sightline.contract.texts import (
    cut_code_points,
    cut_sentences,
    cut_utf8,
    line_length_utf16,
    line_text,
)

texts = st.text(st.characters(codec="utf-8"))


@pytest.mark.requirement("GW-3.3-positions")
@given(texts)
def test_columns_count_utf16_units(line: str) -> None:
    assert line_length_utf16(line) == len(line.encode("utf-16-le")) // 2


@given(st.text("ab\r\n"))
def test_lines_end_in_any_of_three_ways(text: str) -> None:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    assert [line_text(text, number) for number in range(len(lines))] == lines
    assert line_text(text, len(lines)) is None


@given(st.text("ab\r\n", min_size=1), st.integers(1, 20_000), st.integers(0, 2**31))
def test_lines_of_long_texts(text: str, times: int, number: int) -> None:
    lines = (text * times).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for line in (number, number % len(lines), len(lines) - 1):
        assert line_text(text * times, line) == (lines[line] if line < len(lines) else None)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n"])
def test_the_last_line_of_the_longest_document_is_found_at_once(end: str) -> None:
    """Whoever asks for it holds up all others meanwhile."""
    text = end * (MAX_DOCUMENT_BYTES // len(end)) + "x"
    before = time.thread_time()
    assert line_text(text, MAX_DOCUMENT_BYTES // len(end)) == "x"
    assert time.thread_time() - before < 0.5


def test_other_characters_end_no_line() -> None:
    assert line_text("a\u2028b\x0bc\x85d", 0) == "a\u2028b\x0bc\x85d"


@given(texts, st.integers(0, 40))
def test_cuts_by_code_points(text: str, limit: int) -> None:
    assert cut_code_points(text, limit) == (text[:limit], len(text) > limit)


@given(texts, st.integers(-3, 60))
def test_cuts_by_bytes_are_the_longest_prefix(text: str, limit: int) -> None:
    cut = cut_utf8(text, limit)
    assert text.startswith(cut)
    assert len(cut.encode()) <= max(limit, 0)
    following = text[len(cut) : len(cut) + 1]
    assert not following or len((cut + following).encode()) > limit


_SENTENCES = st.lists(
    st.from_regex(r"[A-Z][a-z ]{0,40}[a-z]\.", fullmatch=True), min_size=1, max_size=40
)


@given(sentences=_SENTENCES, limit=st.integers(80, 400))
def test_cuts_by_sentences_count_what_they_leave_out(sentences: list[str], limit: int) -> None:
    text = " ".join(sentences)
    cut = cut_sentences(text, limit)
    assert len(cut) <= limit
    if len(text) <= limit:
        assert cut == text
        return
    kept = next(n for n in range(len(sentences), -1, -1) if cut.startswith(" ".join(sentences[:n])))
    assert 0 < kept < len(sentences)
    lost = len(sentences) - kept
    said = "1 note is left out." if lost == 1 else f"{lost} notes are left out."
    assert cut == f"{' '.join(sentences[:kept])} {said}"
    assert len(" ".join(sentences[: kept + 1])) + len(" 10 notes are left out.") > limit - 2


def test_a_sentence_that_is_too_long_by_itself_is_cut() -> None:
    assert cut_sentences("A" * 99 + ".", 40) == "A" * 39 + "…"
    text = f"{'A' * 99}. Two. Three."
    assert cut_sentences(text, 40) == "A" * 17 + "… 2 notes are left out."
