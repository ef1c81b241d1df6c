"""What a search leaves out to be quick changes no answer."""

import random
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.index.building.inversion import Inversion, Keys
from sightline.index.cutting.windows import cut_windows
from sightline.index.index import Index
from sightline.index.searching import ranked
from sightline.index.searching.filters import Filters
from sightline.index.searching.search import Item, Request
from sightline.index.searching.snippets import Marks
from sightline.index.storage.segment import Segment, write_segment
from sightline.index.terms.trigrams import text_codes
from sightline.tools.tool import silent
from tests.support.index import bench, build

_WORDS = "load file parse request retry token cache index vector merge close open read".split()
_QUESTIONS = [
    "load a file",
    "how is a token retried when the cache is closed",
    '"parse request" index',
    "merge_vector",
    "tests of open and read",
    "\n".join(["merge fails", *(f"the {word} of {other}" for word in _WORDS for other in "abc")]),
]


def _tree(root: Path) -> None:
    """A thousand declarations in which few words are everywhere and most have little of them."""
    rng = random.Random(4)
    for number in range(50):
        folder = root / ("tests" if number % 5 == 0 else "src")
        folder.mkdir(exist_ok=True)
        made = []
        for place in range(20):
            name = f"{rng.choice(_WORDS)}_{rng.choice(_WORDS)}"
            words = [min(rng.choices(_WORDS, k=3)) for _ in range(rng.randint(1, 25))]
            body = "\n    ".join(f"{word}({place})" for word in words)
            made.append(f"def {name}():\n    {body}\n    return parse_request\n")
        (folder / f"file{number}.py").write_text("\n\n".join(made))


async def _all(index: Index, request: Request, first: int) -> list[Item]:
    answer = await index.search(request, silent, first=first)
    assert answer.made == min(first, len(answer))
    return [answer.item(place) for place in range(len(answer))]


async def test_chunks_with_little_are_left_out_where_they_cannot_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    _tree(root)
    shares: list[float] = []
    totals = ranked.Ranked._totals

    def watched(
        self: ranked.Ranked, evidence: ranked._Evidence, share: float
    ) -> tuple[ranked.Ints, ranked.Floats]:
        shares.append(share)
        return totals(self, evidence, share)

    monkeypatch.setattr(ranked.Ranked, "_totals", watched)
    async with bench(tmp_path / "cache") as made, made.open(root) as index:
        await build(index)
        [builder] = index.builders.values()
        assert (await index.dense.finish(builder)).complete
        enough = 0
        for text in _QUESTIONS:
            for filters in (Filters(), Filters(paths=("src/**",)), Filters(kind="function")):
                request = Request(text, filters=filters, explain=True)
                shares.clear()
                quick = await _all(index, request, 10)
                enough += len(shares) == 1
                with monkeypatch.context() as patched:
                    patched.setattr(ranked, "_MUCH", 0.0)
                    assert await _all(index, request, 0) == quick
        assert enough, "nothing was ever left out"


@given(
    st.lists(st.text("ab\nA", min_size=1, max_size=3), max_size=4),
    st.text("abAB\n", max_size=60),
)
def test_marks_are_what_a_pattern_of_them_would_find(stems: list[str], text: str) -> None:
    longest = sorted(set(stems), key=lambda stem: (-len(stem), stem))
    lower = text.lower()
    matches = re.finditer("|".join(map(re.escape, longest)), lower) if stems else ()
    expected = [(lower.count("\n", 0, match.start()), match[0]) for match in matches]
    assert Marks(stems).lines(text) == expected


@settings(deadline=None)
@given(st.lists(st.text("abc ", max_size=12), min_size=1, max_size=40), st.data())
def test_trigrams_of_some_files_are_those_of_all(texts: list[str], data: st.DataObject) -> None:
    inversion = Inversion(Keys())
    for number, text in enumerate(texts):
        raw = text.encode()
        inversion.add(f"{number}.txt", raw, cut_windows(raw))
    with TemporaryDirectory() as home:
        write_segment(f"{home}/one.segment", inversion.finish())
        segment = Segment(f"{home}/one.segment")
        some = data.draw(st.lists(st.integers(0, len(texts) - 1), unique=True).map(sorted))
        for code in text_codes(b"abc abca cba"):
            flags = np.zeros(segment.files, bool)
            segment.mark_trigram(code, flags)
            found = segment.with_trigram(code, np.array(some, np.int64))
            assert found.tolist() == flags[some].tolist()
