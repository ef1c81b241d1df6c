"""Reading a file for the index: its text as UTF-8, or the reason why it is left out.

The bytes come through the gate. Text is UTF-8, UTF-16 with a byte-order mark, or, failing both,
Latin-1 if it looks like text. A line ends as in the Language Server Protocol; in the text of the
index always in a line feed. What is too large, binary, minified or written for machines is left
out with a reason that ``index_status`` reports.
"""

import hashlib
import os
import re
import time
from typing import NamedTuple

from sightline.contract.failures import Failure
from sightline.contract.ticks import settled_at
from sightline.index.reading.languages import language_of
from sightline.workspace.gate import Gate, GatedFile
from sightline.workspace.tree import Stamp, stamp_from

__all__ = [
    "MAX_BYTES",
    "Source",
    "decode_text",
    "has_mark",
    "read_source",
    "read_whole",
    "with_line_feeds",
]


MAX_BYTES = 1 << 20
_MAX_DATA_BYTES = 256 << 10
_DATA_LANGUAGES = frozenset("json csv xml yaml html text ini".split())
_SNIFF = 8_192
_MARK = b"\xef\xbb\xbf"
_LONE_RETURN = re.compile(rb"\r(?!\n)")
_MAX_MEAN_LINE = 400
_MINIFIED_BYTES = 4_096
_LOCK_FILES = frozenset(
    """
    package-lock.json npm-shrinkwrap.json composer.lock cargo.lock poetry.lock pipfile.lock go.sum
    pnpm-lock.yaml yarn.lock gemfile.lock flake.lock packages.lock.json mix.lock podfile.lock
    bun.lock
    """.split()
)
#: Every byte that text may have: no control characters but white space and escape.
_TEXTUAL = bytes(byte for byte in range(256) if byte >= 0x20 or byte in b"\t\n\v\f\r\x1b")


class Source(NamedTuple):
    """One file as it was read. Without ``data`` it is left out for ``reason``."""

    stamp: Stamp | None
    hash: bytes
    size: int
    language: str
    data: bytes
    reason: str = ""


def read_source(gate: Gate, real: str) -> Source:
    """Reads the file at a real path below a root."""
    name = real.rpartition("/")[2]
    try:
        with gate.open(GatedFile(real, "")) as descriptor:
            before = os.fstat(descriptor)
            stamp = stamp_from(before)
            if before.st_size > MAX_BYTES:
                return _left_out(stamp, name, "too_large")
            raw = read_whole(descriptor, before.st_size, MAX_BYTES)
            after = os.fstat(descriptor)
    except Failure as failure:
        regular = "regular" in failure.advice or "link" in failure.advice
        return _left_out(None, name, "not_regular" if regular else "unreadable")
    except OSError:
        return _left_out(None, name, "unreadable")
    if len(raw) > MAX_BYTES:
        return _left_out(None, name, "too_large")
    now = time.time_ns()
    # Whoever unpacks an archive may set a time to come; when that was done is in the other one.
    written = after.st_mtime_ns if after.st_mtime_ns <= now else 0
    newest = max(written, after.st_ctime_ns)
    if (after.st_mtime_ns, after.st_size) != (before.st_mtime_ns, len(raw)) or (
        now < settled_at(newest)
    ):
        # Written while or just before it was read: no later stamp may be taken for this content.
        stamp = stamp._replace(ctime_ns=-1)
    return _judge(stamp, name, raw)


def _judge(stamp: Stamp, name: str, raw: bytes) -> Source:
    if name.lower() in _LOCK_FILES:
        return _left_out(stamp, name, "generated")
    text = decode_text(raw)
    if isinstance(text, str):
        return _left_out(stamp, name, text)
    language = language_of(name, text[:_SNIFF]).name
    if len(text) > _MAX_DATA_BYTES and language in _DATA_LANGUAGES:
        return _left_out(stamp, name, "too_large")
    if len(text) > _MINIFIED_BYTES and len(text) > _MAX_MEAN_LINE * (text.count(b"\n") + 1):
        return _left_out(stamp, name, "minified")
    return Source(stamp, content_hash(raw), len(raw), language, text)


def _left_out(stamp: Stamp | None, name: str, reason: str) -> Source:
    size = stamp.size if stamp is not None else 0
    return Source(stamp, b"", size, language_of(name).name, b"", reason)


def content_hash(raw: bytes) -> bytes:
    """What tells the content of a file from any other."""
    return hashlib.blake2b(raw, digest_size=16).digest()


def decode_text(raw: bytes) -> bytes | str:
    """The text as UTF-8 bytes without a byte-order mark, or the reason why there is none."""
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return with_line_feeds(raw.decode("utf-16").encode())
        except UnicodeError:
            return "encoding"
    if raw[:_SNIFF].translate(None, _TEXTUAL):
        return "binary"
    raw = with_line_feeds(raw.removeprefix(_MARK))
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        if b"\0" in raw or sum(b >= 0x80 for b in raw[:_SNIFF]) > len(raw[:_SNIFF]) * 0.3:
            return "encoding"
        return raw.decode("latin-1").encode()
    return raw if b"\0" not in raw else "binary"


def has_mark(raw: bytes) -> bool:
    """Whether a text begins with a byte-order mark.

    The index leaves it out, so that ``^`` finds what follows it. For everybody else it is the first
    character of the first line.
    """
    return raw.startswith(_MARK)


def with_line_feeds(text: bytes) -> bytes:
    """The same, byte by byte, with a line feed for a carriage return that ends a line alone."""
    if text.count(b"\r") == text.count(b"\r\n"):
        return text
    return _LONE_RETURN.sub(b"\n", text)


def read_whole(descriptor: int, expected: int, limit: int) -> bytes:
    """All of a regular file, or a little more than ``limit``. One step if it has ``expected``."""
    parts: list[bytes] = []
    size = 0
    while size <= limit:
        asked = max(expected + 1 - size, 65_536)
        part = os.read(descriptor, asked)
        parts.append(part)
        size += len(part)
        if len(part) < asked:
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)
