"""Language Server Protocol framing: ``Content-Length`` headers, bounded messages.

>>> framer = Framer()
>>> [bytes(body) for body in framer.feed(frame(b"{}") + frame(b"[1"))]
[b'{}', b'[1']
"""

__all__ = ["MAX_MESSAGE_BYTES", "BadFraming", "Framer", "frame"]

#: 20,000 locations take about 4 MB; a whole-workspace diagnostics answer of django 7 MB.
MAX_MESSAGE_BYTES = 64 << 20
_MAX_HEADER_BYTES = 4_096
_END = b"\r\n\r\n"


class BadFraming(Exception):
    """The server does not speak the protocol, or says more than it may."""


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class Framer:
    """Takes bytes as they come and gives message bodies as they are complete."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed: int | None = None

    @property
    def inside(self) -> bool:
        """Whether a message has been begun and is not complete."""
        return self._needed is not None or bool(self._buffer)

    def feed(self, data: bytes) -> list[bytearray]:
        self._buffer += data
        bodies: list[bytearray] = []
        while True:
            if self._needed is None:
                self._needed = self._header()
            if self._needed is None or len(self._buffer) < self._needed:
                return bodies
            if len(self._buffer) == self._needed:  # mostly so, and a large one is not copied
                bodies.append(self._buffer)
                self._buffer = bytearray()
            else:
                bodies.append(self._buffer[: self._needed])
                del self._buffer[: self._needed]
            self._needed = None

    def _header(self) -> int | None:
        """The length of the next body, once its header is complete."""
        end = self._buffer.find(_END, 0, _MAX_HEADER_BYTES)
        if end < 0:
            if len(self._buffer) >= _MAX_HEADER_BYTES or not self._buffer[:64].isascii():
                raise BadFraming("its messages have no header")
            if self._buffer and not self._buffer[:1].isalpha():
                raise BadFraming("its messages have no header")
            return None
        length: int | None = None
        for line in bytes(self._buffer[:end]).split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length" and value.strip().isdigit():
                length = int(value)
        if length is None:
            raise BadFraming("a message has no length")
        if length > MAX_MESSAGE_BYTES:
            raise BadFraming("a message is larger than it may be")
        del self._buffer[: end + len(_END)]
        return length
