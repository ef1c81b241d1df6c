"""``python -m bench.meaning.tune --repositories DIR --json FILE``: how vectors join words, on
held-out repositories.

Only repositories that nothing was trained on and that no page measures are looked at, so that the
test sets stay untouched. For every query the parts of its score are computed once; then ways of
adding them are compared: the weight of vectors, the same for every query (*spread*) or less where
the nearest chunk hardly stands out (*clear*), and what the search does (*shipped*).
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.meaning.changes import bare_folder, changes, stretches
from bench.meaning.literals import literals
from bench.meaning.opened import Asked, Opened, opened
from bench.meaning.questions import questions, shortened, without_docs
from sightline.index.dense.weights import Weights, read_weights
from sightline.index.searching.filters import Filters, Scope
from sightline.index.searching.fusion import CANDIDATES, clearness, fusion_for
from sightline.index.searching.query import understand
from sightline.index.searching.rank import score
from sightline.index.searching.ranked import _REPEAT, Ranked
from sightline.index.searching.results import Records
from sightline.index.searching.scanning import Scanner
from sightline.index.searching.texts import Texts

Floats = NDArray[np.float64]

#: Repository to the language of its questions; of some only changes are asked for.
HELD_OUT = {
    "tornadoweb/tornado": "python",
    "helm/helm": "go",
    "typeorm/typeorm": "typescript",
    "google/gson": "java",
    "hyperium/hyper": "rust",
    "clap-rs/clap": "",
    "eslint/eslint": "",
    "google/leveldb": "",
    "grpc/grpc-go": "",
    "libevent/libevent": "",
    "marshmallow-code/marshmallow": "",
    "mybatis/mybatis-3": "",
    "preactjs/preact": "",
    "pydicom/pydicom": "",
    "scrapy/scrapy": "",
}
_CHANGES = 400
_QUESTIONS = 120
_LITERALS = 60
_WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0)
_FORMS = ("spread", "clear")
_DEEP = 120


def kind_of(text: str) -> str:
    """The kind of question that a text is taken for."""
    query = understand(text)
    if query.exact or query.phrases or not query.terms or len(text.split()) == 1:
        return "exact"
    return ("long" if not query.short else "") + ("names" if query.names else "") or "plain"


class _Parts:
    """The parts of every chunk's score for one query, for the chunks that can be among the first."""

    def __init__(self, corpus: Opened, text: str) -> None:
        snapshot = corpus.snapshot
        query = understand(text)
        lookup = corpus.index.lookup
        records = Records(snapshot)
        scope = Scope(snapshot, lookup, Filters())
        scanner = Scanner(snapshot, lookup, Texts(snapshot, corpus.root), records, lambda: None)
        ranked = Ranked(snapshot, lookup, scanner, records, query, scope, lambda: None)
        chunks = np.flatnonzero(scope.chunks)
        owners = snapshot.chunk_file[chunks]
        scores = score(snapshot, lookup, query.terms, ranked.weights)
        base = ranked._base(scores, chunks, owners)
        near = corpus.near(text)[chunks]
        extra, _, must, self.written, _ = ranked._evidence()
        bonus = np.zeros(len(chunks)) if extra is None else extra[chunks]
        kept = _best(base) | _best(near) | (bonus > 0.0)
        if must is not None:
            kept &= must[chunks]
        self.lowest = float(near[_best(near)].min(initial=1.0))
        self.clearness = clearness(near[_best(near)])
        self.weight = fusion_for(query)
        self.near_ones = (_best(near) | _best(base))[kept]
        self.base, self.near, self.bonus = base[kept], near[kept], bonus[kept]
        self.chunks, self.files = chunks[kept], owners[kept]
        self.factors = ranked._factors()[self.files]
        self.order = snapshot.path_ranks[self.files]

    def first(self, form: str, weight: float) -> list[tuple[int, int]]:
        """The first chunks with their files, as the search would order them."""
        if self.written:
            weight = 0.0
        elif form == "clear":
            weight *= self.clearness
        highest = float(self.near.max(initial=0.0))
        share = np.clip((self.near - self.lowest) / max(highest - self.lowest, 1e-3), 0.0, 1.0)
        joined = (self.base + weight * np.where(self.near_ones, share, 0.0)) / (1.0 + weight)
        total = np.rint((joined * self.factors + self.bonus) * 10_000)
        best = np.lexsort((self.chunks, self.order, -total))[:_DEEP]
        seen: dict[int, int] = defaultdict(int)
        spread: list[tuple[float, int]] = []
        for place in best.tolist():
            file = int(self.files[place])
            spread.append((-total[place] * _REPEAT ** seen[file], place))
            seen[file] += 1
        spread.sort(key=lambda row: row[0])
        return [(int(self.chunks[p]), int(self.files[p])) for _, p in spread]


def _best(values: Floats) -> NDArray[np.bool_]:
    if len(values) <= CANDIDATES:
        return values > 0.0
    least = np.partition(values, len(values) - CANDIDATES)[len(values) - CANDIDATES]
    found: NDArray[np.bool_] = (values > 0.0) & (values >= least)
    return found


def _rows(corpus: Opened, name: str, asked: Sequence[Asked]) -> Iterator[dict[str, Any]]:
    for one in asked:
        parts = _Parts(corpus, one.text)
        gains = {
            f"{form} {weight:g}": round(corpus.gain(parts.first(form, weight), one), 4)
            for form in _FORMS
            for weight in _WEIGHTS
        }
        gains["shipped"] = round(corpus.gain(parts.first("clear", parts.weight), one), 4)
        gains["vectors"] = round(corpus.gain(corpus.nearest(one.text), one), 4)
        yield {"set": name, "kind": kind_of(one.text), "gains": gains}


async def measured(
    folder: Path, repository: str, weights: Weights | None = None
) -> list[dict[str, Any]]:
    """What every way gains for every query of one repository."""
    language = HELD_OUT[repository]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="sightline-tune-") as scratch:
        source, bare = Path(scratch, "source"), Path(scratch, "bare")
        repo = bare_folder(folder, repository)
        described = changes(repo, stretches(repo)[0], source, _CHANGES)
        if language:
            without_docs(source, language, bare)
            found = questions(source, language, _QUESTIONS)
            sets = {
                "question": [Asked.chunk(q, q.text) for q in found],
                "short": [Asked.chunk(q, shortened(q.text)) for q in found],
                "literal": [Asked.chunk(q, q.text) for q in literals(bare, language, _LITERALS)],
            }
            async with opened(bare, weights) as corpus:
                for name, asked in sets.items():
                    rows += _rows(corpus, name, asked)
        async with opened(source, weights) as corpus:
            rows += _rows(corpus, "change", [Asked(d.text, files=d.files) for d in described.short])
            rows += _rows(corpus, "long", [Asked(d.text, files=d.files) for d in described.long])
    return [{"repository": repository, **row} for row in rows]


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The mean of every way, by set and kind of query, and by set and repository."""
    groups: dict[str, list[dict[str, float]]] = defaultdict(list)
    for row in rows:
        for part in (row["kind"], row["repository"]):
            groups[f"{row['set']}, {part}"].append(row["gains"])
    return {
        name: {
            "count": len(gains),
            **{way: round(float(np.mean([g[way] for g in gains])), 4) for way in gains[0]},
        }
        for name, gains in sorted(groups.items())
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.meaning.tune")
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--json", type=Path, required=True, help="where the means go")
    parser.add_argument("--rows", type=Path, help="where every query's figures go")
    parser.add_argument("--weights", type=Path, help="a model other than the package's")
    parser.add_argument("names", nargs="*", default=list(HELD_OUT))
    options = parser.parse_args(arguments)
    weights = None if options.weights is None else read_weights(str(options.weights))
    rows: list[dict[str, Any]] = []
    for repository in options.names:
        rows += asyncio.run(measured(options.repositories, repository, weights))
        options.json.write_text(json.dumps(summary(rows), indent=1) + "\n", "utf-8")
        if options.rows:
            options.rows.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
        print(repository, len(rows), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
