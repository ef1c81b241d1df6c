"""The names in an archive that is not trusted, as they would lie in a folder.

Refused is a name that is absolute, climbs, is too long for a disk, or means something else on
another system; one that comes twice; a file where a folder is; and two that differ only in their
case or in how their accents are written, as files or as folders on the way to files, because some
disks take them for one.
"""

import os
import unicodedata

from sightline.contract.failures import ArchiveTooLarge, ArchiveUnsafe

__all__ = ["Names", "checked"]

_MAX_BYTES = 1_024
#: What one component may take on usual disks; more would look like a fault of the disk.
_MAX_PART_BYTES = 255
_MAX_DEPTH = 64
_TWICE = "the archive holds one name twice; it was not unpacked"
_FOLDER, _FILE = True, False


class Names:
    """What an archive has put into its folder so far, and at most ``limit`` of it."""

    def __init__(self, limit: int) -> None:
        self._left = limit
        #: Every file and folder, also folders that are only on the way to something, in the form
        #: in which all spellings of it are one: its own spelling, and its kind.
        self._seen: dict[str, tuple[str, bool]] = {}

    def count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise ArchiveTooLarge

    def add_folder(self, name: str) -> str:
        """The checked name of a folder, which may come again."""
        self.count()
        self._walk(checked(name).split("/"))
        return name

    def add_file(self, name: str) -> str:
        """The checked name of a file, which may come once."""
        self.count()
        *folders, last = checked(name).split("/")
        folded = self._walk(folders) + _folded(last)
        if folded in self._seen:
            raise ArchiveUnsafe(_TWICE)
        self._seen[folded] = (last, _FILE)
        return name

    def _walk(self, folders: list[str]) -> str:
        """Goes down these folders and returns their folded path, with a slash behind it."""
        path = ""
        for folder in folders:
            path += _folded(folder)
            if path not in self._seen:
                self.count()
                self._seen[path] = (folder, _FOLDER)
            elif self._seen[path] != (folder, _FOLDER):
                raise ArchiveUnsafe(_TWICE)
            path += "/"
        return path


def checked(name: str) -> str:
    """The name, if it stays inside on every system."""
    parts = name.split("/")
    bad = (
        not name
        or name.startswith("/")
        or len(os.fsencode(name)) > _MAX_BYTES
        or len(parts) > _MAX_DEPTH
        or any(part in ("", ".", "..") for part in parts)
        or any(len(os.fsencode(part)) > _MAX_PART_BYTES for part in parts)
        or any(character in name for character in ("\\", "\0", ":"))
        or not name.isprintable()
    )
    if bad:
        raise ArchiveUnsafe
    return name


def _folded(part: str) -> str:
    if part.isascii():
        return part.lower()
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", part).casefold())
