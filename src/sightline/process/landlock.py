"""Walls that the kernel puts up around a program and everything it starts (Landlock, Linux 5.13).

The keeper uses this between fork and exec, so it needs only the standard library and no more of it
than is loaded there anyway. A rule is one word: ``r``, ``x`` or ``w`` and a path; what is below a
path may be read, or read and run, or all of that and changed. Everything that no rule names is
refused by the kernel. A path that is not there makes no rule. Walls cannot be taken down again.
"""

import ctypes
import os
import stat
import sys

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_NO_NEW_PRIVILEGES = 38

_RUN, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
#: Removing and making of every kind of entry.
_ENTRIES = 0b1_1111_1111 << 4
#: Moving between folders, since version 2, and cutting a file short, since version 3. Before,
#: the first is always refused and the second always allowed.
_MOVE, _TRUNCATE = 1 << 13, 1 << 14
_OF_FILES = _RUN | _WRITE_FILE | _READ_FILE | _TRUNCATE

_READING = _READ_FILE | _READ_FOLDER
_ALLOWS = {
    ord("r"): _READING,
    ord("x"): _READING | _RUN,
    ord("w"): _READING | _WRITE_FILE | _ENTRIES | _MOVE | _TRUNCATE,
}


def version() -> int:
    """Which version of walls the kernel has; 0 where there are none, or they are forbidden."""
    if sys.platform != "linux":
        return 0
    return max(int(_call(_CREATE, None, 0, _ASK_VERSION)), 0)


def enclose(rules: "list[bytes]") -> bool:
    """Puts walls around this process. Whether there are any now."""
    known = version()
    if not known:
        return False
    handled = _READING | _RUN | _WRITE_FILE | _ENTRIES
    handled |= (_MOVE if known >= 2 else 0) | (_TRUNCATE if known >= 3 else 0)
    ruleset = _call(_CREATE, _bytes(handled, 8), 8, 0)
    if ruleset < 0:
        return False
    for rule in rules:
        _allow(ruleset, rule[1:], _ALLOWS[rule[0]] & handled)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    enclosed = _call(_RESTRICT, ruleset, 0) == 0
    os.close(ruleset)
    return enclosed


def _allow(ruleset: int, path: bytes, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        access &= _OF_FILES
    _call(_ADD, ruleset, _PATH_BENEATH, _bytes(access, 8) + _bytes(place, 4), 0)
    os.close(place)


def _bytes(number: int, size: int) -> bytes:
    return number.to_bytes(size, sys.byteorder)


def _call(number: int, *given: "int | bytes | None") -> int:
    words = [ctypes.c_long(each) if isinstance(each, int) else each for each in given]
    return int(ctypes.CDLL(None).syscall(ctypes.c_long(number), *words))
