"""The caches below one folder, by name: listed, inspected, resolved.

A name is checked before the disk is touched, and its real path must lie inside the real folder.
Cache caches are kept in memory, the least recently used dropped first, and looked at again for
changes at every call. Everything here blocks; ``pause`` is called often and may raise to stop.
"""

import os
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from sightline.context.documents import tokens_of
from sightline.context.files import CacheFolder
from sightline.context.opening import Cache, is_code, open_cache, resolve
from sightline.context.output import Output, compact
from sightline.context.problems import (
    CacheProblem,
    ManifestUnreadable,
    NoSuchCache,
    RootUnreadable,
    shown_path,
)
from sightline.context.reports import Report, loose_report, top_level_bytes, verified
from sightline.context.select import Selection
from sightline.contract.limits import CONTEXT_LOADED_BYTES

__all__ = ["Caches"]

Pause = Callable[[], None]

_LOCK_WAIT_S = 0.02


class Caches:
    def __init__(
        self,
        root: str,
        *,
        strict: bool = False,
        memory: int = CONTEXT_LOADED_BYTES,
        now_ns: Callable[[], int] = time.time_ns,
        count: Callable[[str], int] = tokens_of,
    ) -> None:
        self.root = root
        self._count = count
        self.strict = strict
        self._memory = memory
        self._now_ns = now_ns
        self._kept: OrderedDict[str, Cache] = OrderedDict()
        self._size = 0
        self._keeping = threading.Lock()
        #: One cache is loaded at a time, so that what is in flight stays bounded as well.
        self._loading = threading.Lock()

    def listing(self, pause: Pause = lambda: None, live: Sequence[str] = ()) -> bytes:
        """The folders below the root and whether each has a manifest, as compact JSON.

        ``live``: names that can be resolved without a folder, and have no manifest.
        """
        if not os.path.isdir(self.root):
            raise NoSuchCache(self.root)
        found: dict[str, bool] = {}
        try:
            with os.scandir(self.root) as entries:
                for entry in entries:
                    pause()
                    if entry.is_dir(follow_symlinks=False):
                        found[shown_path(entry.name)] = _has_manifest(entry.path)
        except OSError:
            raise RootUnreadable from None
        found |= dict.fromkeys(live, False)
        rows: list[Output] = [
            {"path": path, "has_manifest": has_manifest}
            for path, has_manifest in sorted(found.items())
        ]
        return compact({"caches": rows})

    def inspect(self, name: str, pause: Pause = lambda: None) -> bytes:
        """What a cache says of itself and whether it is true, as compact JSON."""
        path = self.locate(name)
        folder = CacheFolder(path, strict=self.strict)
        if is_code(folder):
            return self._inspect_code(path, pause).compact()
        report = loose_report(folder, pause)
        if report.valid and not self.strict:
            good = verified(lambda: self._loaded(path, pause))
            report = report if good else Report(report.cache_version, report.document_count)
        return report.compact()

    def _inspect_code(self, path: str, pause: Pause) -> Report:
        try:
            cache = self._loaded(path, pause)
        except ManifestUnreadable:
            raise
        except CacheProblem:
            return Report()
        manifest = cache.manifest
        total = top_level_bytes(path) or 0
        return Report(manifest.cache_version, manifest.document_count, total, valid=True)

    def resolve(self, name: str, query: str, budget: int, pause: Pause = lambda: None) -> Selection:
        """What is taken from a cache for a query."""
        return resolve(self._loaded(self.locate(name), pause), query, budget, pause)

    def locate(self, name: str) -> str:
        """The real path of a named cache."""
        if ".." in name or name.startswith(("/", "\\")):
            raise NoSuchCache
        try:
            real = os.path.realpath(os.path.join(self.root, name), strict=True)
        except (OSError, ValueError):
            raise NoSuchCache from None
        try:
            root = os.path.realpath(self.root, strict=True)
        except OSError:
            raise RootUnreadable from None
        if real != root and not real.startswith(root.rstrip("/") + "/"):
            raise NoSuchCache
        if not os.path.isdir(real):
            raise NoSuchCache
        return real

    # Cache caches

    def _loaded(self, path: str, pause: Pause) -> Cache:
        kept = self._fresh(path, pause)
        if kept is not None:
            return kept
        while not self._loading.acquire(timeout=_LOCK_WAIT_S):
            pause()
        try:
            kept = self._fresh(path, pause)  # somebody else may have loaded it meanwhile
            if kept is None:
                folder = CacheFolder(path, strict=self.strict)
                kept = open_cache(folder, pause, self._now_ns, self._count)
                self._keep(path, kept)
            return kept
        finally:
            self._loading.release()

    def _fresh(self, path: str, pause: Pause) -> Cache | None:
        with self._keeping:
            kept = self._kept.get(path)
            if kept is not None:
                self._kept.move_to_end(path)
        if kept is None or kept.unchanged(pause):
            return kept
        self._drop(path)
        return None

    def _keep(self, path: str, cache: Cache) -> None:
        self._drop(path)
        if cache.size > self._memory:
            return
        with self._keeping:
            self._kept[path] = cache
            self._size += cache.size
            while self._size > self._memory:
                _, oldest = self._kept.popitem(last=False)
                self._size -= oldest.size

    def _drop(self, path: str) -> None:
        with self._keeping:
            dropped = self._kept.pop(path, None)
            if dropped is not None:
                self._size -= dropped.size


def _has_manifest(folder: str) -> bool:
    try:
        status = os.lstat(os.path.join(folder, "manifest.json"))
    except OSError:  # also of a folder that may not be looked into, which hides no other
        return False
    return stat.S_ISREG(status.st_mode)
