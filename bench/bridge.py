"""The least that a process between a client and a language server can do: pass messages on.

A line of its input becomes a framed message to the server; a message of the server becomes a line
of its output. Nothing is parsed, checked, gated or remembered. What it adds is the price of a
process of its own in Python; one that was compiled would add less.

    python bridge.py COMMAND...
"""

import os
import select
import subprocess
import sys

__all__ = ["main"]

#: More would be taken from the system anew for every message, which costs more than reading it.
_CHUNK = 1 << 16


def main(command: list[str]) -> int:
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None and child.stdout is not None
    to_server, from_server = child.stdin.fileno(), child.stdout.fileno()
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(from_server, select.POLLIN)
    lines, framed = b"", b""
    while True:
        for descriptor, _ in poll.poll():
            data = os.read(descriptor, _CHUNK)
            if not data:
                child.kill()
                return child.wait()
            if descriptor == 0:
                *whole, lines = (lines + data).split(b"\n")
                _write(to_server, b"".join(map(_frame, whole)))
            else:
                whole, framed = _messages(framed + data)
                _write(1, b"".join(body.replace(b"\n", b" ") + b"\n" for body in whole))


def _frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def _messages(data: bytes) -> tuple[list[bytes], bytes]:
    """The bodies of the messages that are complete, and what is left."""
    bodies: list[bytes] = []
    while (end := data.find(b"\r\n\r\n")) >= 0:
        header = data[:end].lower()
        at = header.index(b"content-length:") + 15
        begin, size = end + 4, int(header[at:].partition(b"\r\n")[0])
        if len(data) < begin + size:
            break
        bodies.append(data[begin : begin + size])
        data = data[begin + size :]
    return bodies, data


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
