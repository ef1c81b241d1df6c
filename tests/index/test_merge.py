"""Merging segments: the result is the segment that the living files make by themselves."""

from itertools import count
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.index.building.inversion import Inversion, Keys
from sightline.index.building.merge import Living, merge
from sightline.index.cutting.windows import cut_windows
from sightline.index.storage.segment import SECTIONS, Columns, Segment, write_segment

#: Few words, so that lists are long enough to become bitmaps, and some that nobody else has.
_WORDS = st.sampled_from(["load", "file", "parseHTTPRequest", "utf_8", "größe", "x", "the"])
_TEXTS = st.lists(_WORDS | st.text("abcé_1", max_size=6), max_size=30).map(" \n".join)
_FILES = st.lists(st.tuples(st.sampled_from(["a", "tests", "docs"]), _TEXTS), max_size=40)
_PARTS = st.lists(_FILES, min_size=1, max_size=5)


def _columns(files: list[tuple[str, str]]) -> Columns:
    inversion = Inversion(Keys())
    for path, text in files:
        data = text.encode()
        inversion.add(path, data, cut_windows(data))
    return inversion.finish()


@settings(deadline=None)
@given(_PARTS, st.randoms(use_true_random=False), st.sampled_from([0.0, 0.3, 1.0]))
def test_a_merge_is_what_the_living_files_make(
    parts: list[list[tuple[str, str]]], random: Random, deaths: float
) -> None:
    numbers = count()
    kept: list[tuple[str, str]] = []
    living: list[Living] = []
    with TemporaryDirectory() as home:
        for part, files in enumerate(parts):
            named = [(f"{folder}/file{next(numbers) % 7}.txt", text) for folder, text in files]
            target = str(Path(home) / str(part))
            write_segment(target, _columns(named))
            alive = [place for place in range(len(named)) if random.random() >= deaths]
            living.append(Living(Segment(target), np.array(alive, np.int64)))
            kept += [named[place] for place in alive]
        merged = merge(living)
    built = _columns(kept)
    for name, kind in SECTIONS.items():
        expected = np.asarray(built[name], kind)
        assert np.asarray(merged[name], kind).tolist() == expected.tolist(), name
