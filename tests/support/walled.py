"""Runs a program that the kernel ends when it, or anything below it, makes a network socket.

Run as ``python walled.py COMMAND...``. A socket that is neither of this machine's own kind
(AF_UNIX) nor one to the kernel (AF_NETLINK) ends the process that asks for it with SIGSYS: an
error that the program may pass over would prove nothing. Imports nothing but the standard library.
"""

import ctypes
import errno
import os
import platform
import signal
import socket
import struct
import sys

__all__ = ["ENDED"]

#: What a shell, or ``Popen.returncode``, tells of a process that was ended here.
ENDED = -signal.SIGSYS
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_KILL_PROCESS, _ALLOW, _NOT_THERE = 0x8000_0000, 0x7FFF_0000, 0x0005_0000 | errno.ENOSYS
#: The number of socket(2), and of io_uring_setup(2), a way round that uvloop takes where it is.
_CALLS = {"x86_64": (41, 425), "aarch64": (198, 425)}
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06


def forbid_network() -> None:
    """From here on, for this process and all that it starts."""
    make_socket, make_ring = _CALLS[platform.machine()]
    number, first_argument = 0, 16
    allowed = (socket.AF_UNIX, socket.AF_NETLINK)
    program = [
        (_LOAD, 0, 0, number),
        (_EQUAL, 6, 0, make_ring),
        (_EQUAL, 0, 4, make_socket),
        (_LOAD, 0, 0, first_argument),
        (_EQUAL, 2, 0, allowed[0]),
        (_EQUAL, 1, 0, allowed[1]),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _NOT_THERE),
    ]
    code = b"".join(struct.pack("=HBBI", *line) for line in program)
    held = ctypes.create_string_buffer(code)
    block = struct.pack("@HP", len(program), ctypes.addressof(held))
    libc = ctypes.CDLL(None, use_errno=True)
    for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, block)):
        if libc.prctl(*arguments, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    forbid_network()
    os.execvp(sys.argv[1], sys.argv[1:])
