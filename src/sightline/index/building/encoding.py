"""Encoding the chunks of files: what a worker does with an ``EncodeJob``.

A chunk whose name and text are the same as before in the same file keeps its vector and is not
encoded again. A file that is no longer what was indexed is passed over; whoever asked sees that it
is missing. Chunks of several files are encoded together: those of a small file alone are too few
to be worth it.
"""

import os
from collections.abc import Callable

import numpy as np

from sightline.index.building.jobs import Encoded, EncodeFile, EncodeJob
from sightline.index.cutting.chunks import Chunk
from sightline.index.dense.encoder import encode_rows
from sightline.index.dense.layout import Row
from sightline.index.dense.vectors import VectorLog, Vectors, chunk_key, log_path, path_key
from sightline.index.dense.weights import Weights
from sightline.index.reading.sources import read_source
from sightline.index.storage.records import Record
from sightline.index.storage.segment import Segment
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet

__all__ = ["Logs", "encode"]

#: Chunks that are encoded together, between two signs of life.
_TOGETHER = 128
#: More of a chunk's text is not read; it would be cut off anyway.
_MAX_TEXT = 16_384

_Made = tuple[bytes, bytes, list[bytes], Vectors]


class Logs(dict[str, VectorLog]):
    """The logs by their paths, as a worker last saw them: only what is new is read."""

    def of(self, folder: str, weights: Weights) -> VectorLog:
        path = log_path(folder, weights.digest)
        log = self.setdefault(path, VectorLog(path, weights.size))
        log.refresh()
        return log


def encode(job: EncodeJob, logs: Logs, weights: Weights, at: Callable[[int], None]) -> Encoded:
    """Encodes what is missing and adds it to the log of the root."""
    gate = Gate(RootSet.of([Root(job.root, job.root)]))
    log = logs.of(job.folder, weights)
    segments: dict[str, Segment] = {}
    made: list[_Made] = []
    batch = _Batch(weights)
    for number, file in enumerate(job.files):
        at(number)
        source = read_source(gate, f"{job.root}/{file.path}")
        if source.reason or source.hash != file.hash:
            continue
        if file.segment not in segments:
            path = os.path.join(job.folder, file.segment)
            segments[file.segment] = Segment(path, verify=False)
        record = Record(segments[file.segment].record(file.place))
        made.append(_file(batch, log, file, record, source.data))
        while len(batch) >= _TOGETHER:
            at(number)
            batch.encode(_TOGETHER)
    batch.encode(_TOGETHER)
    log.add(made)
    return Encoded(len(made), batch.encoded)


class _Batch:
    """Chunks that wait to be encoded, and where their vectors belong."""

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        self.encoded = 0
        self._rows: list[Row] = []
        self._places: list[tuple[Vectors, int]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, chunk: tuple[str, str, str], vectors: Vectors, place: int) -> None:
        """A chunk as path, qualified name and text, and the row for its vector."""
        self._rows.append(self.weights.layout.chunk(self.weights.vocabulary, *chunk))
        self._places.append((vectors, place))

    def encode(self, count: int) -> None:
        """Encodes the first of them."""
        found = encode_rows(self.weights, self.weights.chunks, self._rows[:count])
        for (vectors, place), vector in zip(self._places[:count], found, strict=True):
            vectors[place] = vector
        self.encoded += len(found)
        del self._rows[:count], self._places[:count]


def _file(batch: _Batch, log: VectorLog, file: EncodeFile, record: Record, data: bytes) -> _Made:
    """The entry of a file. What is not known of it yet is added to the batch."""
    path = path_key(file.path)
    chunks = [record[number] for number in range(len(record))]
    texts = [_text(data, chunk) for chunk in chunks]
    names = [f"{chunk.container}.{chunk.name}".strip(".") for chunk in chunks]
    keys = [chunk_key(name, text) for name, text in zip(names, texts, strict=True)]
    vectors = np.zeros((len(chunks), batch.weights.size), np.int8)
    old = log.get(path)
    known = {key: row for row, key in enumerate(old.keys)} if old is not None else {}
    for number, key in enumerate(keys):
        if old is not None and key in known:
            vectors[number] = old.vectors[known[key]]
        else:
            text = texts[number].decode("utf-8", "replace")
            batch.add((file.path, names[number], text), vectors, number)
    return path, file.hash, keys, vectors


def _text(data: bytes, chunk: Chunk) -> bytes:
    parts: list[bytes] = []
    room = _MAX_TEXT
    for start, end in chunk.spans:
        if room <= 0:
            break
        parts.append(data[start : min(end, start + room)])
        room -= end - start
    return b"\n".join(parts)
