"""Stands between a client and a language server, passes everything on, and writes it down.

Run as ``python tap.py LOG COMMAND...``. One JSON line per message: who said it, and what.
"""

import json
import subprocess
import sys
import threading
from typing import IO


def main(log_name: str, command: list[str]) -> int:
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert server.stdin is not None and server.stdout is not None
    lock = threading.Lock()
    with open(log_name, "a", encoding="utf-8") as log:

        def passed(speaker: str, source: IO[bytes], target: IO[bytes]) -> None:
            while (body := read(source)) is not None:
                with lock:
                    log.write(json.dumps({"from": speaker, "message": json.loads(body)}) + "\n")
                    log.flush()
                target.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                target.flush()
            target.close()

        here, there = sys.stdin.buffer, sys.stdout.buffer
        answers = threading.Thread(target=passed, args=("server", server.stdout, there))
        answers.start()
        passed("client", here, server.stdin)
        answers.join()
    return server.wait()


def read(source: IO[bytes]) -> bytes | None:
    """The next message, or ``None`` at the end."""
    length = 0
    while (line := source.readline()) != b"\r\n":
        if not line:
            return None
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return source.read(length)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
