"""The evidence page of search quality, from the measured ranks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.meaning.measure import bootstrap
from tools import evidence

__all__ = ["write_page"]

_HEAD = """# Search by meaning

Mean reciprocal rank at 10 of the one right declaration; the
figure in brackets is the difference of *both* to *words* with its 95 % paired bootstrap interval.

The questions are first sentences of docs; all docs were taken out of the code before it was indexed,
so no sentence can be found as written. *Short questions* are the first five telling words of each.
*Names* are the bare names of the same declarations, for which vectors are not used. *fts5* is
SQLite's full-text search over the same chunks, names taken apart, with weights for path and name.
Nothing of these code bases was trained on or used to choose a model or a weight.

| language | code base | chunks | questions | set | fts5 | words | vectors | both | both - words |
|---|---|---|---|---|---|---|---|---|---|
"""
_SPEED = """
## Speed and size

One thread, by CPU time, on the machine that measured. *Added* is what vectors add to one search, at the
median: the query encoded and compared with every chunk.

| language | chunks encoded per CPU second | added, ms | bytes a chunk |
|---|---|---|---|
"""
_WEAK = """
## What this does not show

Doc sentences are not the questions that users type; they are the same kind as a quarter of the training
pairs, so real questions may gain less. One code base per language. A - is a figure that was not taken. Change descriptions, long issue
texts, a general small model and installable peers were not measured here; see the model card. The
figures on the page were taken on another machine than the other pages', and those of *fts5* before
names were taken apart in its queries too: they may be low.
"""


def write_page(results: Mapping[str, Any]) -> None:
    lines: list[str] = []
    speeds: list[str] = []
    for language, result in results.items():
        for name, ways in result["gains"].items():
            gains = {way: np.array(values) for way, values in ways.items()}
            difference = gains["both"] - gains["words"]
            low, high = bootstrap(difference)
            means = " | ".join(
                f"{gains[way].mean():.3f}" if way in gains else "-"
                for way in ("fts5", "words", "vectors", "both")
            )
            lines.append(
                f"| {language} | {result['corpus']} | {result['chunks']} | {len(difference)} | {name} | "
                f"{means} | {difference.mean():+.3f} [{low:+.3f}, {high:+.3f}] |\n"
            )
        speed = result["speed"]
        speeds.append(
            f"| {language} | {speed['chunks_per_s']:.0f} | {speed['query_ms']:.2f} | "
            f"{speed['bytes_per_chunk']:.0f} |\n"
        )
    text = _HEAD + "".join(lines) + _SPEED + "".join(speeds) + _WEAK
    evidence.write_page("meaning.md", "python -m bench.meaning", text)
