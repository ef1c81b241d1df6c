"""A disk that fails while a folder of it is listed, as network and removable ones do."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest

__all__ = ["break_listing"]


def break_listing(patch: pytest.MonkeyPatch, folder: Path, code: int) -> None:
    """Listing this folder ends with this error after its last entry, by a descriptor of it."""
    list_folder = os.scandir
    broken = folder.stat().st_ino

    class Breaking:
        def __init__(self, place: int | str = ".") -> None:
            self._entries = list_folder(place)
            self._fails = isinstance(place, int) and os.fstat(place).st_ino == broken

        def __enter__(self) -> Self:
            return self

        def __exit__(self, *error: object) -> None:
            self._entries.close()

        def __iter__(self) -> Iterator["os.DirEntry[str]"]:
            yield from self._entries
            if self._fails:
                raise OSError(code, os.strerror(code))

    patch.setattr(os, "scandir", Breaking)
