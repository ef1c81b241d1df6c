"""Inspection: what a cache says of itself, and whether it holds.

Two reports exist because v0 has two. The command's is strict about the manifest and sums up the
document files; the tool's reads only two members of the manifest and sums up the files beside it.
Both have the same four members. v0 calls a cache valid when its files exist; here it is valid when
every document is what the manifest says, the count is right, no id is listed twice, and the version
is the digest of all that.
"""

import os
import stat
from collections.abc import Callable
from typing import NamedTuple

from sightline.context.files import CacheFolder, NotInside
from sightline.context.load import load, open_manifest
from sightline.context.manifest import CONFIG_V0, cache_version
from sightline.context.opening import Cache, is_code, open_code
from sightline.context.output import compact, pretty
from sightline.context.problems import (
    CacheProblem,
    DocumentDamaged,
    ManifestUnreadable,
    system_text,
)
from sightline.context.reader import Reader, Refused

__all__ = ["Report", "command_report", "loose_report", "top_level_bytes", "verified"]

Pause = Callable[[], None]


class Report(NamedTuple):
    cache_version: str = ""
    document_count: int = 0
    total_bytes: int = 0
    valid: bool = False

    def compact(self) -> bytes:
        return compact(self._asdict())

    def pretty(self) -> bytes:
        return pretty(self._asdict())


def command_report(folder: CacheFolder, pause: Pause = lambda: None) -> Report:
    """The report of ``context inspect``. A manifest that cannot be read is a ``CacheProblem``."""
    if is_code(folder):
        return _code_report(folder, pause)
    manifest, _ = open_manifest(folder, pause)
    sizes = [folder.size_of(entry.file) for entry in manifest.entries]
    valid = None not in sizes
    if valid and not folder.strict:
        valid = verified(lambda: load(folder, pause))
    total = sum(size for size in sizes if size is not None)
    return Report(manifest.cache_version, manifest.document_count, total, valid)


def _code_report(folder: CacheFolder, pause: Pause) -> Report:
    try:
        cache = open_code(folder, pause)
    except DocumentDamaged:
        return Report()
    manifest = cache.manifest
    return Report(manifest.cache_version, manifest.document_count, cache.document_bytes, valid=True)


def loose_report(folder: CacheFolder, pause: Pause = lambda: None) -> Report:
    """The report of ``context.inspect_cache``, documents unseen."""
    version, count = "", 0
    try:
        data, _ = folder.read("manifest.json", pause)
        reader = Reader(data, pause)
        members = reader.value()
        reader.end()
    except (FileNotFoundError, IsADirectoryError, NotInside, Refused):
        return Report()
    except OSError as error:
        raise ManifestUnreadable(system_text(error)) from None
    valid = isinstance(members, dict)
    if valid and isinstance(members.get("cache_version"), str):
        version = members["cache_version"]
    else:
        valid = False
    found = members.get("document_count") if isinstance(members, dict) else None
    if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
        count = found
    else:
        valid = False
    total = top_level_bytes(folder.path) if valid else None
    if total is None:
        return Report(version, count)
    return Report(version, count, total, valid=True)


def verified(read: Callable[[], Cache]) -> bool:
    """Whether a cache can be loaded and is what it says."""
    try:
        cache = read()
    except CacheProblem:
        return False
    manifest = cache.manifest
    ids = [entry.id for entry in manifest.entries]
    if manifest.document_count != len(ids) or len(set(ids)) != len(ids):
        return False
    if manifest.build_config != CONFIG_V0:
        return True  # how other formats compute their version is not known here
    return ids == sorted(ids) and manifest.cache_version == cache_version(
        manifest.build_config, manifest.entries
    )


def top_level_bytes(path: str) -> int | None:
    """The sizes of the regular files directly in a folder, links left out."""
    try:
        total = 0
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    total += status.st_size if stat.S_ISREG(status.st_mode) else 0
        return total
    except OSError:
        return None
