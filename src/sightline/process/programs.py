"""What has to be opened to run a program: the program, and who loads or interprets it.

>>> needed_to_run("/nowhere/at/all")
[]
"""

import os
from typing import Literal

__all__ = ["is_native", "needed_to_run"]

_ELF = b"\x7fELF"
_INTERPRETER = 3
#: A script may be interpreted by a script; the kernel follows a few.
_MAX_STEPS = 4
_MAX_LINE = 256
_MAX_ENTRIES = 1_024
_MAX_PATH = 4_096


def is_native(program: str) -> bool:
    """Whether a program runs by itself, and is not a script that may start anything."""
    try:
        with open(program, "rb") as file:
            return file.read(len(_ELF)) == _ELF
    except OSError:
        return False


def needed_to_run(program: str) -> list[str]:
    """The real paths of a program and of what the kernel opens to run it; none if it is none."""
    found: list[str] = []
    while program and len(found) < _MAX_STEPS:
        try:
            descriptor = os.open(program, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            break
        try:
            found.append(os.path.realpath(program))
            program = os.fsdecode(_next(descriptor))
        except (OSError, OverflowError, IndexError):  # it says what cannot be
            break
        finally:
            os.close(descriptor)
    return found


def _next(descriptor: int) -> bytes:
    """Who loads or interprets a program; nothing if it needs nobody."""
    head = os.pread(descriptor, _MAX_LINE, 0)
    if head.startswith(_ELF):
        return _loader(descriptor, wide=head[4] == 2, order="little" if head[5] == 1 else "big")
    words = head.partition(b"\n")[0][2:].split() if head.startswith(b"#!") else []
    return words[0] if words else b""


def _loader(descriptor: int, *, wide: bool, order: Literal["little", "big"]) -> bytes:
    """What an ELF file asks to be loaded by."""

    def number(place: int, size: int) -> int:
        return int.from_bytes(os.pread(descriptor, size, place), order)

    table = number(32, 8) if wide else number(28, 4)
    size, count = (number(54, 2), number(56, 2)) if wide else (number(42, 2), number(44, 2))
    for entry in (table + index * size for index in range(min(count, _MAX_ENTRIES))):
        if number(entry, 4) == _INTERPRETER:
            place = number(entry + 8, 8) if wide else number(entry + 4, 4)
            length = number(entry + 32, 8) if wide else number(entry + 16, 4)
            return os.pread(descriptor, min(length, _MAX_PATH), place).rstrip(b"\0")
    return b""
