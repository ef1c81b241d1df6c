"""Words, tokens and scores against straightforward statements of the same rules."""

import re
from fractions import Fraction
from struct import pack, unpack

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.context.documents import document_id, tokens_of, version_of
from sightline.context.scores import ratio, single, spelled
from sightline.context.words import WHITE_SPACE, count_terms, count_words, lower, words
from tests.context.support import PATIENT

TEXT = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from(
            WHITE_SPACE + "\x1c\x1d\x1e\x1f\u200b\ufeff\u180eΣ\u03c3ςİIßẞA.'\u0301\u00ad"
        ),
    )
)


@PATIENT
@given(TEXT)
@pytest.mark.requirement("CX-words")
def test_words_are_runs_without_white_space(text: str) -> None:
    spaces = {chr(code) for code in (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B))}
    spaces |= set("\u2028\u2029\u202f\u205f\u3000")
    assert spaces == set(WHITE_SPACE)
    expected = [""]
    for character in lower(text):
        if character in spaces:
            expected.append("")
        else:
            expected[-1] += character
    assert words(text) == [word for word in expected if word]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ΟΔΟΣ ΣΑΣ. ΑΣ\u0301 Σ", ["οδος", "σας.", "ας\u0301", "\u03c3"]),
        ("İstanbul", ["i\u0307stanbul"]),
        ("STRASSE ẞ ǅ", ["strasse", "ß", "ǆ"]),
        ("a\x1cb\u180ec\u200bd\ufeffe", ["a\x1cb\u180ec\u200bd\ufeffe"]),
        ("a\x85b\u2028c\x0bd", ["a", "b", "c", "d"]),
        # Letters that Unicode 15, 16 and 17 added: the same on every Python.
        ("\u1c89\ua7cb\ua7dc\U00010d50\U00016ea0", ["\u1c8a\u0264\u019b\U00010d70\U00016ebb"]),
    ],
)
@pytest.mark.requirement("CX-words")
def test_lower_case_and_white_space(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@PATIENT
@given(st.lists(st.tuples(TEXT, st.sampled_from(WHITE_SPACE)), max_size=30), st.integers(0, 40))
def test_counting_in_pieces_changes_nothing(parts: list[tuple[str, str]], copies: int) -> None:
    text = "".join(a + b for a, b in parts) * (1 + copies * 50)
    total, counts = count_words(text)
    expected = words(text)
    assert total == len(expected)
    assert counts is not None
    assert dict(counts) == {word: expected.count(word) for word in set(expected[:2000])}
    terms = dict.fromkeys(list(counts)[:3], 2)
    assert count_terms(text, terms) == 2 * sum(counts[word] for word in terms)


def test_a_text_of_too_many_words_is_counted_and_not_kept() -> None:
    text = " ".join(map(str, range(1000)))
    assert count_words(text, most=999) == (1000, None)
    assert count_terms(text, {"7": 1, "999": 1, "1000": 1}) == 2


@PATIENT
@given(st.integers(0, 10**7), st.integers(0, 10**7))
@example(1, 16_777_217)
@example(100_000_001, 99_999_999)
@pytest.mark.requirement("CX-score-value")
@pytest.mark.requirement("CX-score-text")
def test_scores_are_correctly_rounded_and_shortest(matches: int, total: int) -> None:
    score = ratio(matches, total)
    if not matches or not total:
        assert spelled(score) == "0.0"
        return
    exact = Fraction(single(matches)) / Fraction(single(total))
    below, above = _neighbours(score)
    assert abs(Fraction(score) - exact) <= min(
        abs(Fraction(below) - exact), abs(Fraction(above) - exact)
    )
    text = spelled(score)
    assert single(float(text)) == score
    digits = len(re.sub(r"e.*|\.", "", text).strip("0"))
    one_digit_less = Fraction(10) ** (_exponent(score) - digits + 2)
    shorter = int(Fraction(score) / one_digit_less)
    for candidate in (shorter, shorter + 1):
        assert digits == 1 or single(float(candidate * one_digit_less)) != score


def _neighbours(score: float) -> tuple[float, float]:
    bits = unpack("<I", pack("<f", score))[0]
    return unpack("<f", pack("<I", bits - 1))[0], unpack("<f", pack("<I", bits + 1))[0]


def _exponent(score: float) -> int:
    return int(f"{score:e}".partition("e")[2])


@pytest.mark.parametrize(
    ("matches", "total", "text"),
    [
        (3, 4, "0.75"),
        (1, 1, "1.0"),
        (1, 3, "0.33333334"),
        (1, 16385, "0.00006103143"),
        (1, 1_000_000, "0.000001"),
        (1, 1_000_001, "9.99999e-7"),
        (2, 1, "2.0"),
        (0, 5, "0.0"),
        (5, 0, "0.0"),
    ],
)
@pytest.mark.requirement("CX-score-text")
def test_spelling(matches: int, total: int, text: str) -> None:
    assert spelled(ratio(matches, total)) == text


@PATIENT
@given(TEXT)
@pytest.mark.requirement("CX-tokens")
@pytest.mark.requirement("CX-version")
def test_tokens_and_versions_are_of_the_bytes(text: str) -> None:
    import hashlib
    import math

    assert tokens_of(text) == math.ceil(len(text.encode()) / 4)
    assert version_of(text.encode()) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("Guide.md", "guide.md"),
        ("a\\b.md", "a/b.md"),
        ("././x.md", "x.md"),
        (".\\.\\Y.md", "y.md"),
        (".hidden.md", ".hidden.md"),
        ("ΑΣ/x.md", "ας/x.md"),
        ("É/İ.md", "é/i\u0307.md"),
        ("\ua7dc/\ua7da.md", "\u019b/\ua7db.md"),  # newer than the tables of Python 3.11
    ],
)
@pytest.mark.requirement("CX-id")
def test_ids(path: str, expected: str) -> None:
    assert document_id(path) == expected
