"""``python -m training.pack --pairs DIR --into FILE``: learns the vocabulary and packs mined pairs.

Held-out repositories are named here. Guards against leaks run here too: a file of evaluation texts
(``--guard``) may be given, and a pair whose query or code touches one of them is dropped and counted.
"""

import argparse
import gzip
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from sightline.index.dense.layout import BODY, NAME, PATH, Layout
from sightline.index.dense.vocabulary import Vocabulary
from sightline.index.dense.words import distinct, words
from training.guards import Runs, excluded, query_key
from training.packed import KINDS, Packed
from training.pairs import Pair
from training.split import HELD_OUT, LIGHT, TUNED_ON

__all__ = ["main", "read_pairs"]

_PIECES = 28_000
#: The share of each kind that is trained on. Sentences about code are what is asked most like a
#: question, so they are all used; names, comments and commits are many and teach less.
SHARES = {"d": 1.0, "c": 0.5, "p": 1.0, "i": 0.45, "n": 0.25, "h": 0.5}
_LANGUAGES = (
    "bash c cpp csharp go java javascript kotlin markdown php python restructuredtext ruby rust scala "
    "swift tsx typescript"
).split()


def read_pairs(path: Path) -> Iterator[Pair]:
    """The pairs of one repository, as ``mine.py`` wrote them."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield Pair(*json.loads(line))


# The vocabulary


def _count(path: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    for number, pair in enumerate(read_pairs(path)):
        if number % 8 == 0:  # the mean of so many words needs no more
            counts.update(distinct(words(pair.body)))
            counts.update(words(pair.query))
            counts.update(words(pair.path))
    return counts


def learn_vocabulary(counts: Counter[str], size: int) -> Vocabulary:
    """Pieces for the words of all training pairs."""
    kept = {word: count for word, count in counts.items() if count >= 2 and word.isascii()}
    tokenizer = Tokenizer(models.WordPiece(unk_token="[unk]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    # Single letters are numbered here: the trainer would do it in the order of its hash table, which
    # is another one in every run, and ties between pieces hang on it.
    inner = sorted({f"##{letter}" for word in kept for letter in word[1:]})
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[pad]", "[unk]", *inner], show_progress=False
    )
    # Bounded counts keep it quick and change only which of the most frequent pieces comes first.
    lines = (" ".join([word] * min(count, 1_000)) for word, count in sorted(kept.items()))
    tokenizer.train_from_iterator(lines, trainer)
    numbered = tokenizer.get_vocab()
    pieces = sorted((p for p in numbered if p not in ("[pad]", "[unk]")), key=lambda p: numbered[p])
    return Vocabulary(["[pad]", *pieces])


# One repository


@dataclass
class Part:
    """The numbers of one repository's pairs."""

    query_values: list[int] = field(default_factory=list)
    query_lengths: list[int] = field(default_factory=list)
    chunk_values: list[int] = field(default_factory=list)
    chunk_lengths: list[list[int]] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    languages: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, pair: Pair, vocabulary: Vocabulary, layout: Layout) -> None:
        query = layout.question(vocabulary, pair.query)
        chunk = layout.chunk(vocabulary, pair.path, pair.name, pair.body)
        fields = Counter(chunk.fields)
        self.query_values += query.pieces
        self.query_lengths.append(len(query.pieces))
        self.chunk_values += chunk.pieces
        self.chunk_lengths.append([fields[PATH], fields[NAME], fields[BODY]])
        self.kinds.append(KINDS.index(pair.kind))
        self.languages.append(_LANGUAGES.index(pair.language))
        # A name-to-body pair has its container as name; the name itself is its query.
        own = pair.name.rpartition(".")[2] if pair.kind != "n" else pair.query
        place = f"{pair.path}\0{''.join(words(own))}".encode()
        self.places.append(int.from_bytes(hashlib.blake2b(place, digest_size=4).digest(), "big"))


def _chosen(pair: Pair) -> bool:
    """Whether a pair is in the share of its kind; only its text decides."""
    text = f"{pair.kind}\0{pair.query}\0{pair.path}\0{pair.name}"
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=4).digest(), "big")
    return number < SHARES[pair.kind] * 2**32


@lru_cache(maxsize=1)
def _guards(path: Path | None) -> tuple[frozenset[str], Runs]:
    if path is None:
        return frozenset(), Runs([])
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return frozenset(query_key(row["query"]) for row in rows), Runs(row["code"] for row in rows)


def _pack(path: Path, pieces: tuple[str, ...], guard: Path | None, held: bool) -> Part:
    vocabulary = _vocabulary(pieces)
    queries, runs = _guards(guard)
    part = Part()
    for pair in read_pairs(path):
        if not held and not _chosen(pair):
            part.counts[f"left out {pair.kind}"] += 1
        elif not held and query_key(pair.query) in queries:
            part.counts["dropped: query of an evaluation set"] += 1
        elif not held and len(runs) and runs.touch(pair.body):
            part.counts["dropped: code of an evaluation set"] += 1
        else:
            part.counts[f"{'held out' if held else 'trained'} {pair.kind}"] += 1
            part.add(pair, vocabulary, Layout())
    return part


@lru_cache(maxsize=1)
def _vocabulary(pieces: tuple[str, ...]) -> Vocabulary:
    return Vocabulary(pieces)


# All


def _joined(parts: list[Part], names: list[str], trained: int, pieces: tuple[str, ...]) -> Packed:
    def column(name: str, kind: type[np.generic]) -> np.ndarray:
        return np.concatenate([np.array(getattr(part, name), kind) for part in parts])

    repositories = np.repeat(np.arange(len(parts)), [len(part.kinds) for part in parts])
    return Packed(
        Layout(), list(pieces), names, _LANGUAGES, sum(len(p.kinds) for p in parts[:trained]),
        column("query_values", np.uint16), column("query_lengths", np.uint8)[:, None],
        column("chunk_values", np.uint16), column("chunk_lengths", np.uint8),
        repositories.astype(np.uint16), column("kinds", np.uint8), column("languages", np.uint8),
        column("places", np.uint32), LIGHT,
    )  # fmt: skip


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.pack")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument(
        "--guard", type=Path, help="JSON lines with 'query' and 'code' of evaluation sets"
    )
    parser.add_argument("--pieces", type=int, default=_PIECES, help="of the vocabulary, at most")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args(arguments)
    mined = {
        p.name.removesuffix(".pairs.gz").replace("+", "/"): p
        for p in options.pairs.glob("*.pairs.gz")
    }
    apart = {*HELD_OUT, *TUNED_ON}
    names = sorted(name for name in mined if name not in apart and not excluded(name))
    trained = len(names)
    names += [name for name in HELD_OUT if name in mined]
    counts: Counter[str] = Counter()
    with ProcessPoolExecutor(options.processes) as pool:
        for found in pool.map(_count, [mined[name] for name in names[:trained]]):
            counts.update(found)
        pieces = learn_vocabulary(counts, options.pieces).pieces
        futures = [
            pool.submit(_pack, mined[name], pieces, options.guard, name in HELD_OUT)
            for name in names
        ]
        parts = [future.result() for future in futures]
    packed = _joined(parts, names, trained, pieces)
    options.into.parent.mkdir(parents=True, exist_ok=True)
    digest = packed.write(options.into)
    total: Counter[str] = sum((part.counts for part in parts), Counter())
    languages = np.bincount(packed.languages[: packed.trained], minlength=len(_LANGUAGES))
    report = {
        "pairs": len(packed),
        "trained": packed.trained,
        "repositories": names,
        "pieces": len(pieces),
        "bytes": os.path.getsize(options.into),
        "digest": digest,
        "counts": dict(sorted(total.items())),
        "languages": dict(zip(_LANGUAGES, languages.tolist(), strict=True)),
        "mean_chunk": round(float(packed.chunk_lengths.sum(axis=1).mean()), 1),
        "mean_query": round(float(packed.query_lengths.mean()), 1),
    }
    options.into.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
