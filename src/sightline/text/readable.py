"""Whether a file can be read, and is text that everybody reads alike."""

import codecs
import errno
import os
import stat
from enum import Enum

from sightline.contract.limits import MAX_DOCUMENT_BYTES
from sightline.contract.uris import is_under

__all__ = ["State", "can_be_shown", "read_whole", "state_of"]

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_CHUNK = 1 << 20
#: So much of a file is looked at. No server reads one that is larger.
_MOST = 64 << 20
_CLOSED = frozenset({errno.EACCES, errno.EPERM, errno.EIO})


class State(Enum):
    FINE = "fine"
    CLOSED = "closed"
    NOT_UTF8 = "not UTF-8"


def state_of(path: str) -> State:
    """How a file is. What is not there, or no file, is fine: nobody misses anything."""
    try:
        descriptor = os.open(path, _FLAGS)
    except ValueError:
        return State.FINE
    except OSError as problem:
        return State.CLOSED if problem.errno in _CLOSED else State.FINE
    try:
        status = os.fstat(descriptor)
        return _state(descriptor, status.st_size) if stat.S_ISREG(status.st_mode) else State.FINE
    except UnicodeDecodeError:
        return State.NOT_UTF8
    except OSError:
        return State.CLOSED
    finally:
        os.close(descriptor)


def read_whole(path: str, most: int) -> tuple[bytes | None, State]:
    """What a regular file of at most so many bytes holds, else ``None``; and how it is."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None, state_of(path)
    try:
        status = os.fstat(descriptor)
        size = status.st_size
        if not stat.S_ISREG(status.st_mode) or size > most:
            return None, state_of(path)
        data = os.read(descriptor, size + 1)
        if len(data) != size:  # it changes just now, or tells no size
            while len(data) <= most and (more := os.read(descriptor, _CHUNK)):
                data += more
    except OSError:
        return None, state_of(path)
    finally:
        os.close(descriptor)
    if len(data) > most:
        return None, state_of(path)
    return data, State.FINE if _is_utf8(data) else State.NOT_UTF8


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _state(descriptor: int, size: int) -> State:
    """Of a file that is open, and has about so many bytes. Raises what is wrong with it."""
    # One that is read in two pieces has grown just now, or is large.
    first = os.read(descriptor, min(size + 1, _CHUNK))
    if len(first) <= size < _CHUNK and first.isascii():
        return State.FINE
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunk = first
    for _ in range(_MOST // _CHUNK):
        decoder.decode(chunk, final=not chunk)
        if not chunk:
            break
        chunk = os.read(descriptor, min(size + 1, _CHUNK))
    return State.FINE


def can_be_shown(path: str, root: str) -> bool:
    """Whether a server can be shown a file: a document that lies in a root, and not too large."""
    try:
        status = os.stat(path)
    except OSError:
        return False
    is_document = stat.S_ISREG(status.st_mode) and status.st_size <= MAX_DOCUMENT_BYTES
    return is_document and is_under(os.path.realpath(path), root) and state_of(path) is State.FINE
