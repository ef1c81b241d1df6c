"""The last baselines of a project, in the user's cache: one private file each.

A baseline is kept under its own digest, so writing one again changes nothing but its age, and a
file that was changed by hand is no baseline any more. Nothing is ever written to a workspace.
"""

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from sightline.contract.canonical import sha256_hex
from sightline.contract.failures import NotFound
from sightline.symbols.diagnostics import Baseline, name_of
from sightline.workspace.private_files import NotPrivate, read_private, write_private

__all__ = ["KEPT", "Baselines"]

#: How many baselines of a project are kept.
KEPT = 20
_MAX_BYTES = 64 << 20
_SUFFIX = ".baseline"


class Baselines:
    def __init__(self, cache: Path, roots: Sequence[str]) -> None:
        """``roots``: the real paths of the project's folders, in any order."""
        self._folder = cache / "baselines" / sha256_hex("\0".join(sorted(roots)))[:16]

    def keep(self, baseline: Baseline) -> str:
        """Why a baseline could not be kept; nothing where it was."""
        data = msgspec.msgpack.encode(baseline)
        if len(data) > _MAX_BYTES:
            return "it is too large"
        path = self._path(name_of(baseline))
        try:
            newest = max((age for age, each in self._all() if each != path), default=0)
            write_private(path, data)
            # Two that are written within one tick of the disk's clock have an order, too.
            age = max(time.time_ns(), newest + 1)
            os.utime(path, ns=(age, age))
            for _, old in self._all()[KEPT:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            return error.strerror or type(error).__name__
        return ""

    def find(self, name: str) -> Baseline:
        """The baseline with a name, as it was kept."""
        path = self._path(name) if name.isascii() and name.isalnum() else None
        if path is not None:
            # Whatever cannot be read or does not have its name is no baseline.
            with suppress(OSError, NotPrivate, msgspec.DecodeError):
                raw = read_private(path, _MAX_BYTES)
                found = msgspec.msgpack.decode(raw, type=Baseline)
                if name_of(found) == name:
                    return found
        known = ", ".join(each.stem for _, each in self._all())
        kept = f"kept are {known}, the newest first" if known else "none is kept"
        raise NotFound(
            f"no baseline {name[:32]!r} is kept for this project ({kept}); "
            "check without since, and use the baseline that it names"
        )

    def _path(self, name: str) -> Path:
        return self._folder / (name + _SUFFIX)

    def _all(self) -> list[tuple[int, Path]]:
        """Every file with its age, the newest first."""
        found: list[tuple[int, Path]] = []
        with suppress(FileNotFoundError):
            for path in self._folder.iterdir():
                # Another process may take one away meanwhile.
                with suppress(FileNotFoundError):
                    if path.suffix == _SUFFIX and not path.name.startswith("."):
                        found.append((path.stat().st_mtime_ns, path))
        return sorted(found, reverse=True)
