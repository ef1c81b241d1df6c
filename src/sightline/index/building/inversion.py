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
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.index.cutting.chunks import KIND_BITS, Chunk
from sightline.index.storage.postings import add_up, encode_counted, encode_plain, pack, unpack
from sightline.index.storage.records import pack_record
from sightline.index.storage.segment import Columns, term_bytes
from sightline.index.terms.stems import stem
from sightline.index.terms.trigrams import trigrams_of
from sightline.index.terms.words import (
    MAX_RAW,
    MAX_TERM,
    STOPWORDS,
    blanked,
    compact,
    name_terms,
    parts_of,
    raw_words,
    raw_words_of,
)

__all__ = ["Inversion", "Keys"]

Ints = NDArray[np.int64]
_MAX_REMEMBERED = 400_000
_KEY_BYTES = 8


class _Numbers(dict[bytes, int]):
    """Numbers words in the order they are first seen."""

    def __missing__(self, word: bytes) -> int:
        number = self[word] = len(self)
        return number


class _Known(dict[str, bytes]):
    """What was worked out for a text when it was first asked for."""

    def __init__(self, make: Callable[[str], bytes]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, text: str) -> bytes:
        if len(self) > _MAX_REMEMBERED:
            self.clear()
        made = self[text] = self._make(text)
        return made


class _Field:
    """The keys of raw words in one field. Parts of words come again and again, so they are kept."""

    def __init__(self, letter: str) -> None:
        self._letter = letter
        self._parts = _Known(self._part)

    def word(self, raw: str) -> bytes:
        """The keys of what ``name_terms`` says, side by side."""
        if not raw.isascii() or len(raw) > MAX_RAW:
            return b"".join([term_bytes(self._letter + term) for term in name_terms(raw)])
        parts = parts_of(raw)
        if len(parts) == 1:
            return self._parts[parts[0]]
        known = self._parts
        keys = b"".join([known[part] for part in parts])
        whole = "".join(parts).lower()
        if not 0 < len(whole) <= MAX_TERM:
            return keys
        return keys + term_bytes(self._letter + whole)

    def name(self, name: str) -> bytes:
        """The keys of a declared name."""
        return b"".join([self.word(raw) for raw in raw_words(name)])

    def _part(self, part: str) -> bytes:
        if not 1 < len(part) <= MAX_TERM:
            return b""
        return term_bytes(self._letter + stem(part.lower()))


class Keys:
    """The keys of words as they lie in a segment, remembered between batches."""

    def __init__(self) -> None:
        self._bodies: dict[bytes, bytes] = {}
        self._body = _Field("b")
        self.names = _Known(_Field("n").name)
        self.containers = _Known(_Field("c").name)
        self.inner = _Known(_Field("d").name)
        self.paths = _Known(_Field("p").name)
        #: A symbol is found by its whole name, and by it in any spelling.
        self.symbols = _Known(
            lambda name: term_bytes("s" + name) + term_bytes("l" + compact(name)),
        )

    def body(self, raw: bytes) -> bytes:
        """Under which keys a raw word of a text is indexed."""
        known = self._bodies.get(raw)
        if known is None:
            if len(self._bodies) > _MAX_REMEMBERED:
                self._bodies.clear()
            text = raw.decode()
            known = b"" if text.lower() in STOPWORDS else self._body.word(text)
            self._bodies[raw] = known
        return known


class Inversion:
    """Collects a batch of files."""

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._numbers = _Numbers()
        self._words: list[NDArray[np.uint32]] = []
        self._lengths = array("I")
        self._kinds = array("I")
        self._chunk_first = array("I", [0])
        #: The keys of declared names, and how many of them each chunk has.
        self._name_keys: list[bytes] = []
        self._name_sizes = array("I")
        self._path_keys: list[bytes] = []
        self._records: list[bytes] = []
        self._grams: list[NDArray[np.uint32]] = []

    def add(self, path: str, data: bytes, chunks: Sequence[Chunk]) -> None:
        """One file, its text and what it was cut into."""
        words: list[bytes] = []
        plain = blanked(data) if data.isascii() else None
        for chunk in chunks:
            before = len(words)
            for start, end in chunk.spans:
                if plain is not None:
                    words += plain[start:end].split()
                else:
                    words += raw_words_of(data[start:end])
            self._lengths.append(len(words) - before)
            self._add_names(chunk)
            bits = KIND_BITS[chunk.kind]
            for symbol in chunk.symbols:
                bits |= KIND_BITS[symbol.kind]
            self._kinds.append(bits)
        numbers = map(self._numbers.__getitem__, words)
        self._words.append(np.fromiter(numbers, np.uint32, len(words)))
        known = self._keys.paths
        self._path_keys.append(b"".join([known[part] for part in path.split("/")]))
        self._chunk_first.append(len(self._lengths))
        self._records.append(zlib.compress(pack_record(chunks), 1))
        self._grams.append(trigrams_of(data))

    def _add_names(self, chunk: Chunk) -> None:
        keys = self._keys
        found = keys.names[chunk.name] + keys.containers[chunk.container]
        for symbol in chunk.symbols:
            found += keys.symbols[symbol.name]
            if symbol.name != chunk.name:
                found += keys.inner[symbol.name]
        self._name_keys.append(found)
        self._name_sizes.append(len(found) // _KEY_BYTES)

    def finish(self) -> Columns:
        """The columns of the segment that holds this batch."""
        sizes = [len(grams) for grams in self._grams]
        grams = np.concatenate([*self._grams, np.zeros(0, np.uint32)])
        gram_files = np.repeat(np.arange(len(sizes), dtype=np.uint64), sizes)
        path_keys, path_sizes = _side_by_side(self._path_keys)
        paths, path_ranks = np.unique(path_keys, return_inverse=True)
        path_files = np.repeat(np.arange(len(path_sizes)), path_sizes)
        packed_paths = np.unique(pack(path_ranks, path_files))
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
        words = np.concatenate([*self._words, np.zeros(0, np.uint32)]).astype(np.uint64)
        chunks = np.repeat(np.arange(len(self._lengths), dtype=np.uint64), self._lengths)
        pairs = (chunks << np.uint64(32)) | words
        pairs.sort()
        first = _starts(pairs)
        counts = np.diff(np.append(first, len(pairs)))
        pairs = pairs[first]
        chunk = (pairs >> np.uint64(32)).astype(np.int64)
        word = (pairs & np.uint64(0xFFFF_FFFF)).astype(np.int64)
        # Each distinct raw word stands for a few terms.
        flat, several_of = _side_by_side([self._keys.body(raw) for raw in self._numbers])
        names, _ = _side_by_side(self._name_keys)
        keys, ranks = np.unique(np.concatenate([flat, names]), return_inverse=True)
        starts = np.cumsum(several_of) - several_of
        several = several_of[word]
        row = np.repeat(np.arange(len(word)), several)
        inside = np.arange(len(row)) - np.repeat(np.cumsum(several) - several, several)
        bodies = pack(ranks[starts[word[row]] + inside], chunk[row], counts[row])
        named = np.repeat(np.arange(len(self._name_sizes)), self._name_sizes)
        others = pack(ranks[len(flat) :], named)
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


def _side_by_side(parts: Sequence[bytes]) -> tuple[NDArray[np.uint64], Ints]:
    """Keys that lie in several places as one array, and how many each place has."""
    sizes: Ints = np.fromiter(map(len, parts), np.int64, len(parts)) // _KEY_BYTES
    return np.frombuffer(b"".join(parts), "<u8").astype(np.uint64, copy=False), sizes


def _array(values: "array[int]", kind: type[np.generic]) -> NDArray[Any]:
    return np.frombuffer(values, kind) if len(values) else np.zeros(0, kind)
