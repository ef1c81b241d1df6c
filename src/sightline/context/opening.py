"""Opening a cache of whichever kind it is: Markdown documents as in v0, or code.

A cache is one of code when its manifest begins as we write it. Any other manifest, however it
spells its build configuration, is read as v0 reads it.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, Union

from sightline.context.documents import tokens_of
from sightline.context.files import CacheFolder, NotInside
from sightline.context.load import Loaded, load
from sightline.context.manifest import CONFIG_CODE
from sightline.context.select import Selection, select

if TYPE_CHECKING:  # it brings numpy, which Markdown caches do not need
    from sightline.context.code.read import CodeCache

__all__ = ["Cache", "is_code", "open_cache", "open_code", "resolve"]

Pause = Callable[[], None]
Cache: TypeAlias = Union[Loaded, "CodeCache"]

_HEAD_BYTES = 256
_CODE = f'"build_config": {{\n    "version": "{CONFIG_CODE.version}",'.encode()


def is_code(folder: CacheFolder) -> bool:
    """Whether a cache says, as we write it, that it holds code. v0 knows of no such thing."""
    try:
        return not folder.strict and _CODE in folder.read_head("manifest.json", _HEAD_BYTES)
    except (OSError, NotInside):
        return False


def open_cache(
    folder: CacheFolder,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
    count: Callable[[str], int] = tokens_of,
) -> Cache:
    """The whole cache, verified, or a ``CacheProblem``. Tokens are what ``count`` says."""
    if is_code(folder):
        return open_code(folder, pause, now_ns, count)
    return load(folder, pause, now_ns, count)


def open_code(
    folder: CacheFolder,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
    count: Callable[[str], int] = tokens_of,
) -> "CodeCache":
    from sightline.context.code.read import load_code

    return load_code(folder, pause, now_ns, count)


def resolve(cache: Cache, query: str, budget: int, pause: Pause = lambda: None) -> Selection:
    """What is taken from a cache for a query."""
    if isinstance(cache, Loaded):
        return select(cache, query, budget, pause)
    return cache.select(query, budget, pause)
