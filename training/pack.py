"""``python -m training.pack --pairs DIR --into FILE``: learns the vocabulary and packs mined pairs.

Held-out repositories are named here. Guards against leaks run here too: a folder of evaluation texts
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
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from sightline.index.dense.layout import Layout
from sightline.index.dense.vocabulary import Vocabulary
from sightline.index.dense.words import distinct, words
from training.guards import Runs, excluded, query_key
from training.packed import KINDS, Packed
from training.pairs import Pair

__all__ = ["HELD_OUT", "main"]

#: Models and settings are chosen on these; nothing of them is trained on.
HELD_OUT = (
    "clap-rs/clap", "eslint/eslint", "google/gson", "google/leveldb", "grpc/grpc-go", "helm/helm",
    "hyperium/hyper", "libevent/libevent", "mybatis/mybatis-3", "scrapy/scrapy", "tornadoweb/tornado",
    "typeorm/typeorm",
)  # fmt: skip
LIGHT = """
a an and are as at be been but by can could did do does for from had has have how i if in into is it its
may might must no not of on or our out should so some such than that the their them then there these they
this those to too up use used uses using was we were what when where which who why will with would you your
""".split()
_PIECES = 28_000
#: The share of a kind that is used: names are many and easy.
_SHARES = {"n": 0.5}


def read_pairs(path: Path) -> Iterator[Pair]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield Pair(*json.loads(line))


def _used(pair: Pair) -> bool:
    share = _SHARES.get(pair.kind, 1.0)
    if share == 1.0:
        return True
    digest = hashlib.blake2b(f"{pair.path}\0{pair.query}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") < share * 2**32


def learn_vocabulary(files: list[Path], size: int) -> Vocabulary:
    """Pieces for the words of all training pairs."""
    counts: Counter[str] = Counter()
    for path in files:
        for pair in read_pairs(path):
            if _used(pair):
                counts.update(distinct(words(pair.body)))
                counts.update(words(pair.query))
                counts.update(words(pair.path))
    kept = {word: count for word, count in counts.items() if count >= 3 and word.isascii()}
    tokenizer = Tokenizer(models.WordPiece(unk_token="[unk]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=["[pad]", "[unk]"], show_progress=False
    )
    # Roots of counts would flatten the choice; whole counts, bounded, keep it quick.
    lines = (" ".join([word] * min(count, 2_000)) for word, count in sorted(kept.items()))
    tokenizer.train_from_iterator(lines, trainer)
    numbered = tokenizer.get_vocab()
    pieces = sorted((p for p in numbered if p not in ("[pad]", "[unk]")), key=lambda p: numbered[p])
    return Vocabulary(["[pad]", *pieces])


class Packer:
    def __init__(self, vocabulary: Vocabulary, layout: Layout) -> None:
        self.vocabulary = vocabulary
        self.layout = layout
        self.query_values: list[np.ndarray] = []
        self.query_lengths: list[int] = []
        self.chunk_values: list[np.ndarray] = []
        self.chunk_lengths: list[list[int]] = []
        self.repositories: list[int] = []
        self.kinds: list[int] = []
        self.languages: list[int] = []
        self.places: list[int] = []
        self.language_names: dict[str, int] = {}

    def add(self, pair: Pair, repository: int) -> None:
        query = self.layout.question(self.vocabulary, pair.query)
        chunk = self.layout.chunk(self.vocabulary, pair.path, pair.name, pair.body)
        counted = Counter(chunk.fields)
        self.query_values.append(np.array(query.pieces, np.uint16))
        self.query_lengths.append(len(query.pieces))
        self.chunk_values.append(np.array(chunk.pieces, np.uint16))
        self.chunk_lengths.append([counted[0], counted[1], counted[2]])
        self.repositories.append(repository)
        self.kinds.append(KINDS.index(pair.kind))
        self.languages.append(self.language_names.setdefault(pair.language, len(self.language_names)))
        # A name-to-body pair has its container as name; the name itself is its query.
        own = pair.name.rpartition(".")[2] if pair.kind != "n" else pair.query
        place = f"{repository}\0{pair.path}\0{''.join(words(own))}"
        self.places.append(int.from_bytes(hashlib.blake2b(place.encode(), digest_size=4).digest(), "big"))

    def packed(self, trained: int, names: list[str]) -> Packed:
        return Packed(
            self.layout, list(self.vocabulary.pieces), names, list(self.language_names), trained,
            np.concatenate(self.query_values), np.array(self.query_lengths, np.uint8)[:, None],
            np.concatenate(self.chunk_values), np.array(self.chunk_lengths, np.uint8),
            np.array(self.repositories, np.uint16), np.array(self.kinds, np.uint8),
            np.array(self.languages, np.uint8), np.array(self.places, np.uint32), LIGHT,
        )  # fmt: skip


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.pack")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--guard", type=Path, help="JSON lines with 'query' and 'code' of evaluation sets")
    options = parser.parse_args(arguments)
    found = {p.name.removesuffix(".pairs.gz").replace("+", "/"): p for p in options.pairs.glob("*.pairs.gz")}
    names = sorted(name for name in found if name not in HELD_OUT and not excluded(name))
    trained_files = [found[name] for name in names]
    names += [name for name in HELD_OUT if name in found]
    queries: set[str] = set()
    runs = Runs([])
    if options.guard is not None:
        rows = [json.loads(line) for line in options.guard.read_text("utf-8").splitlines()]
        queries = {query_key(row["query"]) for row in rows}
        runs = Runs(row["code"] for row in rows)
    vocabulary = learn_vocabulary(trained_files, _PIECES)
    packer = Packer(vocabulary, Layout())
    counts: Counter[str] = Counter()
    trained = 0
    for number, name in enumerate(names):
        for pair in read_pairs(found[name]):
            if name not in HELD_OUT:
                if not _used(pair):
                    continue
                if query_key(pair.query) in queries:
                    counts["dropped: query of an evaluation set"] += 1
                    continue
                if len(runs) and runs.touch(pair.body):
                    counts["dropped: code of an evaluation set"] += 1
                    continue
                trained += 1
            counts[f"{'held out' if name in HELD_OUT else 'trained'} {pair.kind}"] += 1
            packer.add(pair, number)
    packed = packer.packed(trained, names)
    options.into.parent.mkdir(parents=True, exist_ok=True)
    packed.write(options.into)
    report = {
        "pairs": len(packed), "trained": trained, "repositories": len(names),
        "pieces": len(vocabulary), "bytes": os.path.getsize(options.into),
        "counts": dict(sorted(counts.items())),
        "languages": {
            name: int((packed.languages[:trained] == number).sum())
            for number, name in enumerate(packed.language_names)
        },
        "mean_chunk": round(float(packed.chunk_lengths.sum(axis=1).mean()), 1),
        "mean_query": round(float(packed.query_lengths.mean()), 1),
    }  # fmt: skip
    options.into.with_suffix(".json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    print(json.dumps(report, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
