"""The worker: reads, cuts and counts files, and merges segments, away from the server's process.

Run as ``python -I -m sightline.index.building.worker``. It takes one job at a time from standard
input and says on standard output how far it is, so that whoever waits can tell a slow file from a
grammar that hangs. It opens files only through the gate, and writes only the segment it is told to.
It keeps nothing but caches: ending it at any moment loses one job.
"""

import gc
import os
import sys
import time
from typing import TYPE_CHECKING, BinaryIO

import msgspec
import numpy as np

from sightline.contract.failures import Unavailable
from sightline.index.building.inversion import Inversion, Keys
from sightline.index.building.jobs import (
    LENGTH,
    MAX_FRAME,
    At,
    Broken,
    Done,
    Indexed,
    IndexJob,
    Job,
    Merged,
    MergeJob,
    Reply,
    Task,
    decode_task,
    frame,
)
from sightline.index.building.merge import Living, merge
from sightline.index.cutting.cut import cut
from sightline.index.reading.roles import role_of
from sightline.index.reading.sources import Source, read_source
from sightline.index.storage.segment import DamagedSegment, Segment, write_segment
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet

if TYPE_CHECKING:
    from sightline.index.building.encoding import Logs

__all__ = ["Worker", "main"]

_NICE = 5
_ADDRESS_SPACE = 6 << 30
_MAX_CHUNKS = 20_000
_SAY_S = 0.1


class Worker:
    def __init__(self, source: BinaryIO, target: BinaryIO) -> None:
        self._source = source
        self._target = target
        self._keys = Keys()
        #: Of the roots that vectors were made for.
        self._logs: Logs | None = None

    def run(self) -> None:
        """Does jobs until there are no more."""
        while (head := self._source.read(LENGTH.size)) and len(head) == LENGTH.size:
            (length,) = LENGTH.unpack(head)
            if length > MAX_FRAME:
                return
            job = decode_task(self._source.read(length))
            try:
                reply = self._do(job)
            except Unavailable as failure:
                reply = Broken(failure.advice)
            except DamagedSegment as damage:
                reply = Broken(str(damage), damaged=True)
            except OSError as error:
                reply = Broken(error.strerror or "an I/O error")
            self._say(reply)

    def _do(self, job: Job) -> Reply:
        if isinstance(job, IndexJob):
            return self._index(job)
        if isinstance(job, MergeJob):
            return self._merge(job)
        from sightline.index.building.encoding import Logs, encode
        from sightline.index.dense.weights import bundled

        self._logs = self._logs or Logs()
        return encode(job, self._logs, bundled(), lambda task: self._say(At(task)))

    def _index(self, job: IndexJob) -> Reply:
        gate = Gate(RootSet.of([Root(job.root, job.root)]))
        inversion = Inversion(self._keys)
        files: list[Indexed] = []
        placed = 0
        said = 0.0
        for number, task in enumerate(job.tasks):
            if job.careful or time.monotonic() - said > _SAY_S:
                self._say(At(number))
                said = time.monotonic()
            source = read_source(gate, f"{job.root}/{task.path}")
            done = self._file(inversion, task, source, placed)
            placed += done.place >= 0
            files.append(done)
        if not placed:
            return Done(files, 0, 0)
        columns = inversion.finish()
        size = write_segment(job.target, columns)
        gc.collect(0)  # what was made for this job; the caches of earlier ones hold no cycles
        return Done(files, size, len(columns["chunk_length"]))

    def _file(self, inversion: Inversion, task: Task, source: Source, place: int) -> Indexed:
        role = int(role_of(task.path, source.language, source.data[:4096]))
        done = Indexed(
            task.path, source.stamp, source.hash, source.size, source.language, role, -1, 0, 0,
            source.reason,
        )  # fmt: skip
        if source.reason:
            return done
        if task.known == source.hash:
            return _with(done, same=True)
        chunks = cut(source.data, source.language, parse=task.parse)
        if len(chunks) > _MAX_CHUNKS:
            chunks = cut(source.data, "text", parse=False)
        inversion.add(task.path, source.data, chunks)
        symbols = sum(len(chunk.symbols) for chunk in chunks)
        return _with(done, place=place, chunks=len(chunks), symbols=symbols)

    def _merge(self, job: MergeJob) -> Reply:
        parts = [
            Living(Segment(path), np.frombuffer(alive, "<u4").astype(np.int64))
            for path, alive in job.segments
        ]
        columns = merge(parts)
        size = write_segment(job.target, columns)
        files = len(columns["chunk_first"]) - 1
        return Merged(size, files, len(columns["chunk_length"]))

    def _say(self, reply: Reply) -> None:
        self._target.write(frame(reply))
        self._target.flush()


def _with(done: Indexed, **changes: object) -> Indexed:
    return msgspec.structs.replace(done, **changes)


def main() -> None:
    target = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not speak to the index
    _be_modest()
    gc.disable()
    gc.freeze()
    Worker(sys.stdin.buffer, target).run()


def _be_modest() -> None:
    if sys.platform == "win32":
        return
    import resource

    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
