"""The entries of one tarball, and how much may be told about them.

A tarball can put headers of any size before an entry, and ``tarfile`` keeps them in memory, even
several times, and searches them in quadratic time. They are counted here before they are read. What
is no plain file or folder is refused, sparse files, too.
"""

import tarfile
from typing import Self

from sightline.contract.failures import ArchiveTooLarge, ArchiveUnsafe

__all__ = ["NOT_PLAIN", "entry_type"]

NOT_PLAIN = "the archive holds a link or a device; it was not unpacked"

#: Of the headers before one entry, and with those that are for every entry. A name may have 1 KiB.
_MAX_TOLD_BYTES = 64 << 10
_PLAIN = (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE)
_FOR_NEXT = (
    tarfile.XHDTYPE,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.GNUTYPE_LONGLINK,
)


def entry_type() -> type[tarfile.TarInfo]:
    """A type for the entries of one tarball, in the order in which they lie there."""

    class Entry(tarfile.TarInfo):
        told_of_all = 0
        told_of_next = 0

        @classmethod
        def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
            entry = super().frombuf(buf, encoding, errors)
            if entry.size < 0:  # tarfile would read to the end at once
                raise ArchiveUnsafe("the archive is damaged; it was not unpacked")
            if entry.type in _PLAIN:
                cls.told_of_next = 0
            elif entry.type in _FOR_NEXT:
                cls.told_of_next += tarfile.BLOCKSIZE + entry.size
            elif entry.type == tarfile.XGLTYPE:
                cls.told_of_all += tarfile.BLOCKSIZE + entry.size
            else:
                raise ArchiveUnsafe(NOT_PLAIN)
            if cls.told_of_next + cls.told_of_all > _MAX_TOLD_BYTES:
                raise ArchiveTooLarge
            return entry

        def _proc_gnusparse_10(self, *_: object) -> None:
            """Would read a map of any length out of the file. Other maps lie in the headers."""
            raise ArchiveUnsafe(NOT_PLAIN)

    return Entry
