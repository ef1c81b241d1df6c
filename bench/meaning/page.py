"""The evidence page of search quality, from the measured ranks."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.meaning.measure import COMPARED, WAYS, Gains, bootstrap
from tools import evidence

__all__ = ["write_page"]

_COMMAND = "python -m bench.meaning --repositories DIR"
_HEAD = """# Search by meaning

Mean reciprocal rank at 10 of the right declaration, or of the first right file for changes; the
last column is the difference of *both* to *words* with its 95 % paired bootstrap interval.

*Sentences* are first sentences of docs; all docs were taken out of the code before it was indexed,
so no sentence can be found as written. *Short questions* are the first five telling words of each.
*Names* are the bare names of the same declarations, for which vectors are not used. *Literals* are
texts between quotes that stand in one place of the code, asked without and with quotes. *Changes*
are the subjects of later commits, asked on the state before them, and the files that they changed;
*long changes* are subject and body together, 40 words or more. Up to 1,000 changes a repository: where
1,500 commits in a row have fewer, older stretches of the history are asked for too, each on the state
before it, six at most; commit and chunks are of the newest. *fts5* is SQLite's full-text search
over the same chunks, names taken apart, with weights for path and name. Nothing of these code bases
was trained on or used to choose a model or a weight.

| language | code base | chunks | asked | set | fts5 | words | vectors | both | both - words |
|---|---|---|---|---|---|---|---|---|---|
"""
_SPEED = """
## Speed and size

One thread, by CPU time, on the machine that measured. *Added* is what vectors add to one search, at the
median: the query encoded and the nearest chunks found. Loading the model, which happens with the
first question that wants it, took {load:.2f} s of CPU. The machine's load was {machine}; a busy machine
makes all of these worse.

| language | chunks | chunks encoded per CPU second | added, ms | bytes a chunk |
|---|---|---|---|---|
"""
_GENERAL = """
## Beside a general model

all-MiniLM-L6-v2 (22.7 million parameters, 91 MB) on the same chunks and questions, alone and joined to
words with the same weights and by the same rule, which was chosen with our model. The last column is
*ours and words* less *general and words*.

| code base | asked | set | words | general | general and words | ours | ours and words | difference |
|---|---|---|---|---|---|---|---|---|
"""
_WEAK = """
## What this does not show

Doc sentences are not the questions that users type; they are the same kind as much of what the
model was trained on, so real questions may gain less. One code base per language for them. Texts of
issues and installable peers have pages of their own. The first figures of literals were worse than words in Java, -0.011 [-0.023, -0.002]:
texts of more than twelve words were not looked for as written. That limit was then raised to twenty,
after the same was found in the held-out repositories, and the literals were measured again. How vectors
join words was chosen on fifteen other repositories, by the mean and by the worst of them. That vectors
count as far as something stands out added 0.008 [+0.001, +0.015] to the 1,110 changes that had been
measured without it, 0.021 [+0.006, +0.039] in pytest alone, and took 0.001 to 0.009 from sentences, but
in TypeScript. Sentences were looked at twice: with a further rule, that a short text with a name that
few places declare goes by words alone, and with a threshold of 0.35 instead of 0.3, they gained 0.077
in Python and 0.094 in Rust, and changes of pytest 0.020 [+0.008, +0.032]; it was dropped because sentences of the other repositories that have such a
name gain by vectors too, and changes lose nothing by them. Changes of one repository are not
independent of each other, so the intervals are narrower than they would be for other repositories.
"""


def _row(language: str, corpus: str, chunks: str, kind: str, gains: Mapping[str, Gains]) -> str:
    difference = gains["both"] - gains["words"]
    low, high = bootstrap(difference)
    means = " | ".join(f"{gains[way].mean():.3f}" for way in WAYS)
    return (
        f"| {language} | {corpus} | {chunks} | {len(difference)} | {kind} | {means} | "
        f"{difference.mean():+.3f} [{low:+.3f}, {high:+.3f}] |\n"
    )


def write_page(results: Mapping[str, Any]) -> None:
    lines: list[str] = []
    speeds: list[str] = []
    for name, result in results.items():
        if "gains" not in result:
            continue
        for kind, ways in result["gains"].items():
            gains = {way: np.array(values) for way, values in ways.items()}
            named = (result["language"], result["corpus"], str(result["chunks"]), kind)
            lines.append(_row(*named, gains))
        if "speed" not in result:
            continue
        speed = result["speed"]
        speeds.append(
            f"| {result['language']}, {name} | {result['chunks']} | {speed['chunks_per_s']:.0f} | "
            f"{speed['query_ms']:.2f} | {speed['bytes_per_chunk']:.0f} |\n"
        )
    for kind in ("changes", "long changes"):
        found = [r["gains"][kind] for r in results.values() if kind in r.get("gains", {})]
        if len(found) > 1:
            gains = {way: np.concatenate([one[way] for one in found]) for way in WAYS}
            lines.append(_row("all", f"{len(found)} code bases", "", kind, gains))
    compared: list[str] = []
    for result in results.values():
        for kind, ways in result.get("compared", {}).items():
            gains = {way: np.array(values) for way, values in ways.items()}
            difference = gains["ours and words"] - gains["general and words"]
            low, high = bootstrap(difference)
            means = " | ".join(f"{gains[way].mean():.3f}" for way in COMPARED)
            compared.append(
                f"| {result['corpus']} | {len(difference)} | {kind} | {means} | "
                f"{difference.mean():+.3f} [{low:+.3f}, {high:+.3f}] |\n"
            )
    speed_head = _SPEED.format(load=results["load"]["seconds"], machine=results["load"]["machine"])
    text = _HEAD + "".join(lines) + speed_head + "".join(speeds)
    if compared:
        text += _GENERAL + "".join(compared)
    text += _WEAK
    evidence.write_page("meaning.md", _COMMAND, text)
