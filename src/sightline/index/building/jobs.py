"""The messages between the index and its worker processes: MessagePack, each behind its length.

Nothing here can carry code: a message decodes to one of these values or it is refused.
"""

import struct
from typing import Any

import msgspec
from msgspec import Struct

__all__ = [
    "MAX_FRAME",
    "At",
    "Broken",
    "Done",
    "EncodeFile",
    "EncodeJob",
    "Encoded",
    "IndexJob",
    "Indexed",
    "Merged",
    "MergeJob",
    "Reply",
    "Task",
    "decode_reply",
    "decode_task",
    "frame",
]

MAX_FRAME = 256 << 20
LENGTH = struct.Struct("<I")


class Task(Struct, frozen=True):
    """One file to index. ``known`` is the hash that is indexed already."""

    path: str
    known: bytes = b""
    #: False after its grammar hung or crashed on it.
    parse: bool = True


class IndexJob(Struct, frozen=True, tag="index"):
    """Index files below a root into a new segment at ``target``."""

    root: str
    target: str
    tasks: list[Task]
    #: Whether every single file must be announced, to learn which one breaks the worker.
    careful: bool = False


class MergeJob(Struct, frozen=True, tag="merge"):
    """Merge the living files of segments into a new one. ``alive`` holds little-endian uint32."""

    target: str
    segments: list[tuple[str, bytes]]


class EncodeFile(Struct, frozen=True):
    """A file whose chunks need vectors: what was indexed of it, and where its record lies."""

    path: str
    hash: bytes
    #: The name of its segment's file in the folder of the index.
    segment: str
    place: int


class EncodeJob(Struct, frozen=True, tag="encode"):
    """Encode the chunks of files below a root into the log of vectors in ``folder``."""

    root: str
    folder: str
    files: list[EncodeFile]


class Encoded(Struct, frozen=True, tag="encoded"):
    """How many files have their vectors now, and how many chunks had to be encoded for it."""

    files: int
    chunks: int


class At(Struct, frozen=True, tag="at"):
    """Work on this task begins now. Said a few times a second, or always in a careful job."""

    task: int


class Indexed(Struct, frozen=True):
    """What became of one file. ``place`` is its number in the segment, or -1."""

    path: str
    stamp: tuple[int, int, int, int] | None
    hash: bytes
    size: int
    language: str
    role: int
    place: int
    chunks: int
    symbols: int
    reason: str = ""
    same: bool = False


class Done(Struct, frozen=True, tag="done"):
    """An index job is finished; ``size`` is 0 when no segment was needed."""

    files: list[Indexed]
    size: int
    chunks: int


class Merged(Struct, frozen=True, tag="merged"):
    size: int
    files: int
    chunks: int


class Broken(Struct, frozen=True, tag="broken"):
    """The job cannot be done; ``damaged`` when a segment it read is."""

    problem: str
    damaged: bool = False


Reply = At | Done | Merged | Encoded | Broken
Job = IndexJob | MergeJob | EncodeJob

_reply = msgspec.msgpack.Decoder(Reply)
_job = msgspec.msgpack.Decoder(Job)


def frame(message: Job | Reply) -> bytes:
    body = msgspec.msgpack.encode(message)
    return LENGTH.pack(len(body)) + body


def decode_reply(body: bytes) -> Reply:
    reply: Any = _reply.decode(body)
    return reply  # type: ignore[no-any-return]


def decode_task(body: bytes) -> Job:
    job: Any = _job.decode(body)
    return job  # type: ignore[no-any-return]
