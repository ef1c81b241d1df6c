"""From files to the columns of a segment: every term with the chunks that have it.

Terms are counted for a whole batch of files at once: raw words become numbers as they are read, and
everything after that is sorting of arrays. Runs in worker processes only.

Fields, each under keys of its own:

    b   words of the chunk's own text          n   words of its declared name
    s   exact names of its symbols             l   the same without case and underscores
    c   words of the names around it           d   words of the small symbols declared in it
"""

import zlib
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.index.chunks import KIND_BITS, Chunk
from sightline.index.postings import add_up, encode_counted, encode_plain, pack, unpack
from sightline.index.records import pack_record
from sightline.index.segment import Columns, term_key
from sightline.index.trigrams import trigrams_of
from sightline.index.words import compact, name_terms, raw_words, raw_words_of, terms

__all__ = ["Inversion", "Keys"]

Ints = NDArray[np.int64]
_MAX_REMEMBERED = 400_000


class _Numbers(dict[bytes, int]):
    """Numbers words in the order they are first seen."""

    def __missing__(self, word: bytes) -> int:
        number = self[word] = len(self)
        return number


class Keys:
    """The keys of words, remembered between batches."""

    def __init__(self) -> None:
        self._terms: dict[str, int] = {}
        self._bodies: dict[bytes, tuple[int, ...]] = {}
        self._names: dict[tuple[str, str], tuple[int, ...]] = {}

    def body(self, raw: bytes) -> tuple[int, ...]:
        """Under which keys a raw word of a text is indexed."""
        known = self._bodies.get(raw)
        if known is None:
            if len(self._bodies) > _MAX_REMEMBERED:
                self._bodies.clear()
            known = self._bodies[raw] = tuple([self._key("b" + t) for t in terms(raw.decode())])
        return known

    def name(self, field: str, name: str) -> tuple[int, ...]:
        """Under which keys a declared name is indexed in a field."""
        known = self._names.get((field, name))
        if known is None:
            if len(self._names) > _MAX_REMEMBERED:
                self._names.clear()
            words = [term for raw in raw_words(name) for term in name_terms(raw)]
            known = self._names[field, name] = tuple([self._key(field + t) for t in words])
        return known

    def symbol(self, name: str) -> tuple[int, ...]:
        """Under which keys a symbol is found by its whole name."""
        known = self._names.get(("s", name))
        if known is None:
            known = self._names["s", name] = (term_key("s" + name), term_key("l" + compact(name)))
        return known

    def _key(self, term: str) -> int:
        known = self._terms.get(term)
        if known is None:
            if len(self._terms) > _MAX_REMEMBERED:
                self._terms.clear()
            known = self._terms[term] = term_key(term)
        return known


class Inversion:
    """Collects a batch of files."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._numbers = _Numbers()
        self._words = array("I")
        self._lengths = array("I")
        self._kinds = array("I")
        self._chunk_first = array("I", [0])
        self._names_key = array("Q")
        self._names_chunk = array("I")
        self._path_key = array("Q")
        self._path_file = array("I")
        self._records: list[bytes] = []
        self._grams: list[NDArray[np.uint32]] = []

    def add(self, path: str, data: bytes, chunks: Sequence[Chunk]) -> None:
        """One file, its text and what it was cut into."""
        number = self._numbers.__getitem__
        for chunk in chunks:
            before = len(self._words)
            for start, end in chunk.spans:
                self._words.extend(map(number, raw_words_of(data[start:end])))
            self._add_names(len(self._lengths), chunk)
            self._lengths.append(len(self._words) - before)
            bits = KIND_BITS[chunk.kind]
            for symbol in chunk.symbols:
                bits |= KIND_BITS[symbol.kind]
            self._kinds.append(bits)
        file = len(self._records)
        words = dict.fromkeys(key for part in path.split("/") for key in self._keys.name("p", part))
        self._path_key.extend(words)
        self._path_file.extend([file] * len(words))
        self._chunk_first.append(len(self._lengths))
        self._records.append(zlib.compress(pack_record(chunks), 1))
        self._grams.append(trigrams_of(data))

    def _add_names(self, number: int, chunk: Chunk) -> None:
        keys = self._keys
        found = [*keys.name("n", chunk.name), *keys.name("c", chunk.container)]
        for symbol in chunk.symbols:
            found += keys.symbol(symbol.name)
            if symbol.name != chunk.name:
                found += keys.name("d", symbol.name)
        self._names_key.extend(found)
        self._names_chunk.extend([number] * len(found))

    def finish(self) -> Columns:
        """The columns of the segment that holds this batch."""
        sizes = [len(grams) for grams in self._grams]
        grams = np.concatenate([*self._grams, np.zeros(0, np.uint32)])
        gram_files = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
        paths, path_ranks = np.unique(_array(self._path_key, np.uint64), return_inverse=True)
        packed_paths = pack(path_ranks, _array(self._path_file, np.uint32))
        packed_paths.sort()
        packed_grams = pack(grams, gram_files)
        packed_grams.sort()
        return assemble(
            self._terms(),
            (paths, packed_paths),
            packed_grams,
            {
                "chunk_first": _array(self._chunk_first, np.uint32),
                "chunk_length": _array(self._lengths, np.uint32),
                "chunk_kinds": _array(self._kinds, np.uint32),
                "record_first": np.cumsum([0, *map(len, self._records)]),
                "records": np.frombuffer(b"".join(self._records), np.uint8),
            },
        )

    def _terms(self) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The sorted keys, and the sorted postings of all fields in terms of their ranks."""
        words = _array(self._words, np.uint32).astype(np.uint64)
        chunks = np.repeat(np.arange(len(self._lengths), dtype=np.uint64), self._lengths)
        pairs = (chunks << np.uint64(32)) | words
        pairs.sort()
        first = _starts(pairs)
        counts = np.diff(np.append(first, len(pairs)))
        pairs = pairs[first]
        chunk = (pairs >> np.uint64(32)).astype(np.int64)
        word = (pairs & np.uint64(0xFFFF_FFFF)).astype(np.int64)
        # Each distinct raw word stands for a few terms.
        flat = array("Q")
        bounds = array("I", [0])
        body = self._keys.body
        for raw in self._numbers:
            flat.extend(body(raw))
            bounds.append(len(flat))
        names = _array(self._names_key, np.uint64)
        keys, ranks = np.unique(
            np.concatenate([_array(flat, np.uint64), names]), return_inverse=True
        )
        starts = _array(bounds, np.uint32).astype(np.int64)
        several = np.diff(starts)[word]
        row = np.repeat(np.arange(len(word)), several)
        inside = np.arange(len(row)) - np.repeat(np.cumsum(several) - several, several)
        bodies = pack(ranks[starts[word[row]] + inside], chunk[row], counts[row])
        others = pack(ranks[len(flat) :], _array(self._names_chunk, np.uint32))
        packed = np.concatenate([bodies, others])
        packed.sort()
        return keys, add_up(packed)


def assemble(
    terms: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    paths: tuple[NDArray[np.uint64], NDArray[np.uint64]],
    grams: NDArray[np.uint64],
    columns: Columns,
) -> Columns:
    """All columns, from sorted postings and the columns that are ready."""
    files = len(columns["chunk_first"]) - 1
    data, first, _ = encode_counted(*unpack(terms[1]))
    ranks, documents, _ = unpack(paths[1])
    path_data, path_first, path_dense, _ = encode_plain(ranks, documents, files)
    codes, documents, _ = unpack(grams)
    gram_data, gram_first, gram_dense, rows = encode_plain(codes, documents, files)
    return {
        **columns,
        "term_keys": terms[0],
        "term_first": first,
        "terms": data,
        "path_keys": paths[0],
        "path_first": path_first,
        "path_dense": path_dense,
        "paths": path_data,
        "gram_keys": codes[rows],
        "gram_first": gram_first,
        "gram_dense": gram_dense,
        "grams": gram_data,
    }


def _starts(values: NDArray[np.uint64]) -> Ints:
    if not len(values):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.append(True, values[1:] != values[:-1]))


def _array(values: "array[int]", kind: type[np.generic]) -> NDArray[Any]:
    return np.frombuffer(values, kind) if len(values) else np.zeros(0, kind)
