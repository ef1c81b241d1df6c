"""Encoding the chunks of files: what a worker does with an ``EncodeJob``.

A chunk whose name and text are the same as before in the same file keeps its vector and is not
encoded again. A file that is no longer what was indexed is passed over; whoever asked sees that it
is missing.
"""

import os
from collections.abc import Callable
from functools import partial

import numpy as np

from sightline.index.chunks import Chunk
from sightline.index.dense.encoder import encode_chunks
from sightline.index.dense.vectors import VectorLog, Vectors, chunk_key, log_path, path_key
from sightline.index.dense.weights import Weights
from sightline.index.jobs import Encoded, EncodeFile, EncodeJob
from sightline.index.records import Record
from sightline.index.segment import Segment
from sightline.index.sources import read_source
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet

__all__ = ["Logs", "encode"]

#: Chunks between two signs of life.
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
    encoded = 0
    for number, file in enumerate(job.files):
        at(number)
        source = read_source(gate, f"{job.root}/{file.path}")
        if source.reason or source.hash != file.hash:
            continue
        if file.segment not in segments:
            path = os.path.join(job.folder, file.segment)
            segments[file.segment] = Segment(path, verify=False)
        record = Record(segments[file.segment].record(file.place))
        entry, new = _file(weights, log, file, record, source.data, partial(at, number))
        made.append(entry)
        encoded += new
    log.add(made)
    return Encoded(len(made), encoded)


def _file(
    weights: Weights,
    log: VectorLog,
    file: EncodeFile,
    record: Record,
    data: bytes,
    alive: Callable[[], None],
) -> tuple[_Made, int]:
    path = path_key(file.path)
    chunks = [record[number] for number in range(len(record))]
    texts = [_text(data, chunk) for chunk in chunks]
    names = [f"{chunk.container}.{chunk.name}".strip(".") for chunk in chunks]
    keys = [chunk_key(name, text) for name, text in zip(names, texts, strict=True)]
    vectors = np.zeros((len(chunks), weights.size), np.int8)
    old = log.get(path)
    known = {key: row for row, key in enumerate(old.keys)} if old is not None else {}
    missing: list[int] = []
    for number, key in enumerate(keys):
        if old is not None and key in known:
            vectors[number] = old.vectors[known[key]]
        else:
            missing.append(number)
    for begin in range(0, len(missing), _TOGETHER):
        alive()
        part = missing[begin : begin + _TOGETHER]
        rows = [(file.path, names[n], texts[n].decode("utf-8", "replace")) for n in part]
        vectors[part] = encode_chunks(weights, rows)
    return (path, file.hash, keys, vectors), len(missing)


def _text(data: bytes, chunk: Chunk) -> bytes:
    parts: list[bytes] = []
    room = _MAX_TEXT
    for start, end in chunk.spans:
        if room <= 0:
            break
        parts.append(data[start : min(end, start + room)])
        room -= end - start
    return b"\n".join(parts)
