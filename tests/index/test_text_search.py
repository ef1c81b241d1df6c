"""Literal and pattern search find exactly what a scan of every file finds."""

import asyncio
import random
import re
import threading
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sightline.contract.failures import InvalidArguments
from sightline.index.searching.patterns import ANY, Need, needed
from sightline.index.searching.scanning import compile_pattern
from sightline.index.searching.search import Item, Request
from sightline.index.terms.trigrams import trigrams_of
from sightline.tools.tool import silent
from sightline.workspace.linear import BadPattern, compile_expression
from tests.support.corpus import WORDS, source_file
from tests.support.index import bench, build, found
from tests.support.watching import HANG_S

SUFFIXES = (".py", ".go", ".ts", ".md", ".json", ".txt")


def lines_with(root: Path, pattern: "re.Pattern[str]") -> set[tuple[str, int]]:
    """(path, line) of everything that matches, by reading every file."""
    hits: set[tuple[str, int]] = set()
    for file in root.rglob("*"):
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            for match in pattern.finditer(text):
                if match.end() > match.start():
                    hits.add((str(file.relative_to(root)), text.count("\n", 0, match.start()) + 1))
    return hits


async def test_what_a_scan_finds_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    rng = random.Random(11)
    for number in range(60):
        suffix = rng.choice(SUFFIXES)
        file = root / rng.choice(["src", "tests", "docs", "."]) / f"f{number}{suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source_file(rng, suffix), encoding="utf-8")
    (root / "wide.txt").write_text("naïve Straße 漢字テスト\nΔΞΨ δψ\nend", encoding="utf-8")
    literals = ["return", "def ", "): ", "é", "ß", "漢字", "(", "\t", "no such text", "Straße 漢"]
    literals += [" ".join(rng.sample(WORDS, 2)) for _ in range(10)] + rng.sample(WORDS, 10)
    patterns = [
        r"def \w+_\w+\(", r"^func ", r"\d{2}\)$", r"(cache|queue)_\w+", r"(?i)RETURN", r"[a-f]{4,}",
        r"\bnode\b", r"\w+ = \w+\(\d\)", r"class (\w+) \{", "漢.テ", r"Δ\S+", r"(?i)straSSe|STRAßE",
        r".", r"x*", r"(a|b|)c", r"^", r"#\s+\S+$", r"(?s)\{.*?\}", r"[^\n]+;", r"\Qdef\E",
    ]  # fmt: skip
    async with bench(tmp_path / "cache") as tools, tools.open(root) as index:
        await build(index)
        for text in literals:
            items = await found(index, text, mode="literal")
            expected = lines_with(root, re.compile(re.escape(text)))
            assert {path for path, _ in expected} == {item.path for item in items}, text
            assert _starts(items) <= expected, text
        for pattern in patterns:
            items = await found(index, pattern, mode="regex")
            same = pattern.replace(r"\Q", "").replace(r"\E", "")
            expected = lines_with(root, re.compile(same, re.MULTILINE))
            assert {path for path, _ in expected} == {item.path for item in items}, pattern
            assert _starts(items) <= expected, pattern


def _starts(items: list[Item]) -> set[tuple[str, int]]:
    return {(item.path, item.position.line + 1) for item in items}


async def test_every_match_is_counted(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.py").write_text("def one():\n    needle(needle)\n\n\ndef two():\n    needle()\n")
    (root / "b.txt").write_text("needle needle\n" * 3)
    async with bench(tmp_path / "cache") as tools, tools.open(root) as index:
        await build(index)
        answer = await index.search(Request("needle", "literal"), silent)
        assert (len(answer), answer.matches, answer.capped) == (3, 9, False)
        names = [answer.item(place).name for place in range(3)]
        assert names == ["one", "two", ""], "source before text, then by line"


async def test_lines_that_end_in_returns_are_searched_as_they_are_shown(tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    text = "def one():\n    return 9\n\n\ndef two():\n    return 9\n"
    (root / "a.py").write_bytes(text.encode())
    (root / "b.py").write_bytes(text.replace("\n", "\r\n").encode())
    for number in range(20):  # so that trigrams rule files out
        (root / f"other{number}.py").write_text("def one(): return 8\n")
    both = {("a.py", 2), ("a.py", 6), ("b.py", 2), ("b.py", 6)}
    patterns = {
        r"return 9$": both,
        r"one\(\):\n    return 9\n\n": {("a.py", 1), ("b.py", 1)},
        r"9\s+def two": {("a.py", 2), ("b.py", 2)},
        r"9\r\n": {("b.py", 2), ("b.py", 6)},
    }
    literals = {
        "one():\n    return 9\n\n\n": {("a.py", 1), ("b.py", 1)},
        "9\r\n": {("b.py", 2), ("b.py", 6)},
    }
    async with bench(tmp_path / "cache") as tools, tools.open(root) as index:
        await build(index)
        for pattern, expected in patterns.items():
            assert _starts(await found(index, pattern, mode="regex")) == expected, pattern
        for literal, expected in literals.items():
            items = await found(index, literal, mode="literal")
            assert _starts(items) == expected, literal
            assert all("return 9" in item.snippet for item in items)


@pytest.mark.parametrize("pattern", ["(", "[a", "a{2,1}", "(?<=a)b", r"\1", "(?P<n>a", "a**", "\\"])
async def test_a_bad_pattern_is_refused_with_its_reason(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(InvalidArguments, match="regular expression"):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", [".{900}a|x.{900}b", r"[\p{L}]{64}", "." * 2_000])
def test_a_pattern_that_takes_minutes_for_one_file_is_refused(pattern: str) -> None:
    with pytest.raises(InvalidArguments, match=r"\(\d+,\d{3} steps of at most 12,000"):
        compile_pattern(pattern)


@pytest.mark.parametrize("pattern", [r"\W{1000}", ".{1,1000}", "|".join(WORDS * 20), r"\p{L}+"])
def test_a_pattern_that_is_large_enough_for_people_is_run(pattern: str) -> None:
    assert compile_pattern(pattern).steps < 12_000


async def test_searches_that_cannot_be_stopped_leave_threads_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws/a.py").write_text("one = 1\n", encoding="utf-8")
    ended = threading.Event()
    async with bench(tmp_path / "cache") as tools, tools.open(tmp_path / "ws") as index:
        await build(index)
        with monkeypatch.context() as patch:
            patch.setattr(index, "_search", lambda *_: ended.wait(HANG_S))
            asking = [asyncio.create_task(found(index, "one")) for _ in range(100)]
            try:
                while not index._places.locked():  # every place is taken
                    await asyncio.to_thread(int)
                assert await asyncio.wait_for(asyncio.to_thread(int), HANG_S) == 0
                for search in asking:
                    search.cancel()
                await asyncio.wait(asking)
                assert index._places.locked(), "a thread still searches for a caller that left"
                assert await asyncio.wait_for(asyncio.to_thread(int), HANG_S) == 0
                assert not ended.is_set()
            finally:
                ended.set()
        assert len(await found(index, "one")) == 1


# What the trigrams of a pattern promise: every text with a match has them.

ATOMS = st.one_of(
    st.sampled_from(["a", "b", "c", "é", ".", r"\d", r"\w", "[ab]", "[^a]", "[a-c]", "^", "$"]),
    st.just(r"\b"),
    st.sampled_from(["abc", "bca", "cab", "caba", "ab c", r"\.", r"\(", "(?i)ab", "s", "k"]),
    st.sampled_from([r"\Qabc\E", r"\Q\E", "cab(?i)", "(?-i)", "{01}", "{1,02}", "abc{01}b"]),
)
QUANTIFIERS = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,2}", "+?", "{0}", "{01}"])
PATTERNS = st.recursive(
    ATOMS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda parts: "(?:" + "|".join(parts) + ")"),
        st.tuples(inner, QUANTIFIERS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(inner, QUANTIFIERS).map("".join),
    ),
    max_leaves=8,
)
PARTS = st.sampled_from([*"abcABC .(1é\nksK\u017f\u212a", "abc", "cab", "{01}", "{1,02}"])
TEXTS = st.lists(PARTS, max_size=24).map("".join)


def has(codes: set[int], need: Need) -> bool:
    return need.trigrams <= codes and all(
        any(has(codes, option) for option in options) for options in need.either
    )


@example("x{01}yzw", ["x{01}yzw"])
@example(r"\\u{0041}'", ["\\u{0041}'"])
@example(r"\Qabc\E{2}", ["abcc"])
@example("cab(?i)?", ["ca"])
@given(PATTERNS, st.lists(TEXTS, min_size=1, max_size=8))
def test_no_match_lies_outside_what_is_needed(pattern: str, texts: list[str]) -> None:
    try:
        compiled = compile_expression(f"(?m){pattern}")
    except BadPattern:
        assume(False)
    need = needed(pattern)
    for text in texts:
        data = text.encode()
        if next(compiled.spans(data), None) is not None:
            assert need == ANY or has(set(trigrams_of(data).tolist()), need)
