"""Language Server Protocol framing: ``Content-Length`` headers, bounded messages.

>>> framer = Framer()
>>> framer.feed(frame(b"{}") + frame(b"[1"))
[b'{}', b'[1']
"""

import re

__all__ = ["MAX_MESSAGE_BYTES", "BadFraming", "Framer", "frame"]

#: 20,000 locations take about 4 MB; a whole-workspace diagnostics answer of django 7 MB.
MAX_MESSAGE_BYTES = 64 << 20
_MAX_HEADER_BYTES = 4_096
_END = b"\r\n\r\n"
#: The header as nearly every server writes it.
_PLAIN = re.compile(rb"Content-Length: (\d{1,18})\r\n\r\n").match


class BadFraming(Exception):
    """The server does not speak the protocol, or says more than it may."""


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Framer:
    """Takes bytes as they come and gives message bodies as they are complete."""

    def __init__(self) -> None:
        #: What has come of a message that is not complete, and the length of its body once known.
        self._begun = bytearray()
        self._length: int | None = None

    @property
    def inside(self) -> bool:
        """Whether a message has been begun and is not complete."""
        return self._length is not None or bool(self._begun)

    def feed(self, data: bytes) -> list[bytes | bytearray]:
        bodies: list[bytes | bytearray] = []
        if self.inside:
            begun = self._begun
            begun += data
            if self._length is None:
                data = bytes(begun)
            elif len(begun) < self._length:
                return bodies
            else:
                # A large body is handed over as it grew: copies of it cost more than its reading.
                data = bytes(begun[self._length :])
                del begun[self._length :]
                bodies.append(begun)
                self._length = None
            self._begun = bytearray()
        at = 0
        while True:
            if self._length is None:
                self._length, at = _header(data, at)
            if self._length is None or len(data) - at < self._length:
                self._begun += data[at:]
                return bodies
            bodies.append(data[at : at + self._length])
            at += self._length
            self._length = None


def _header(data: bytes, at: int) -> tuple[int | None, int]:
    """The length of the body that comes next, once its header is complete, and where it begins."""
    plain = _PLAIN(data, at)
    if plain is not None:
        length: int | None = int(plain[1])
        begin = plain.end()
    else:
        end = data.find(_END, at, at + _MAX_HEADER_BYTES)
        if end < 0:
            _check_begun(data[at : at + _MAX_HEADER_BYTES])
            return None, at
        length, begin = None, end + len(_END)
        for line in data[at:end].split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
    if length is None:
        raise BadFraming("a message has no length")
    if length > MAX_MESSAGE_BYTES:
        raise BadFraming("a message is larger than it may be")
    return length, begin


def _check_begun(head: bytes) -> None:
    """Whether what has come so far can still become a header."""
    if len(head) >= _MAX_HEADER_BYTES or not head[:64].isascii():
        raise BadFraming("its messages have no header")
    if head and not head[:1].isalpha():
        raise BadFraming("its messages have no header")
