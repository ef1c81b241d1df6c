"""The lock of an installable server: every file it consists of, with its hash.

The locks are written by ``tools/server_locks.py`` and ship with Sightline.
"""

import platform
import sys
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

__all__ = ["Lock", "LockedFile", "platform_name", "read_lock"]

_LOCKS = Path(__file__).parent.parent / "locks"
_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class LockedFile(Struct, frozen=True, forbid_unknown_fields=True):
    package: str
    version: str
    #: Where it is unpacked, relative to the server's folder.
    path: str
    #: npm: the one hash, as ``sha512-BASE64``.
    hash: str = ""
    #: pip: the SHA-256 of every wheel, one of which fits this machine.
    hashes: tuple[str, ...] = ()
    os: tuple[str, ...] = ()
    cpu: tuple[str, ...] = ()
    libc: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether it is meant for this machine."""
        return (
            _allows(self.os, sys.platform)
            and _allows(self.cpu, _machine())
            and (not self.libc or _libc() in self.libc)
        )


class Lock(Struct, frozen=True, forbid_unknown_fields=True):
    kind: Literal["npm", "pip"]
    version: str
    files: tuple[LockedFile, ...]

    def for_this_machine(self) -> list[LockedFile]:
        return [file for file in self.files if file.fits]


def read_lock(name: str) -> Lock:
    """The lock of a package of the registry."""
    raw = (_LOCKS / f"{name}.json").read_bytes()
    return msgspec.json.decode(raw, type=Lock)


def platform_name() -> str:
    """The platform in npm's words, such as linux-x64."""
    return f"{sys.platform}-{_machine()}"


def _machine() -> str:
    own = platform.machine().lower()
    return _MACHINES.get(own, own)


def _libc() -> str:
    return "glibc" if platform.libc_ver()[0] == "glibc" else "musl"


def _allows(listed: tuple[str, ...], own: str) -> bool:
    """npm's rule: names that are meant, or names with ``!`` that are not."""
    if not listed:
        return True
    excluded = [name[1:] for name in listed if name.startswith("!")]
    if excluded:
        return own not in excluded
    return own in listed
