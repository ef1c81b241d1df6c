"""Why a cache cannot be used. The texts are what the command prints; MCP never shows them."""

import os

__all__ = [
    "CacheProblem",
    "DocumentDamaged",
    "DocumentUnreadable",
    "ManifestInvalid",
    "ManifestMissing",
    "ManifestUnreadable",
    "NoSuchCache",
    "RootUnreadable",
    "shown_path",
    "system_text",
]


class CacheProblem(Exception):
    """A cache, or the folder of caches, is not as it should be."""


class NoSuchCache(CacheProblem):
    """No folder of that name inside the folder of caches."""


class RootUnreadable(CacheProblem):
    """The folder of caches cannot be read."""


class ManifestMissing(CacheProblem):
    """The folder has no ``manifest.json``."""


class ManifestUnreadable(CacheProblem):
    """``manifest.json`` cannot be opened."""


class ManifestInvalid(CacheProblem):
    """``manifest.json`` does not hold a manifest."""


class DocumentDamaged(CacheProblem):
    """A listed document is missing, outside the cache, or not what the manifest says."""


class DocumentUnreadable(DocumentDamaged):
    """A listed document is there and may not be read."""


def system_text(error: OSError) -> str:
    """What the system says about an error, with its number."""
    number = error.errno or 0
    return f"{os.strerror(number)} (os error {number})"


def shown_path(path: str) -> str:
    """A path as text, also where its name is not."""
    return os.fsencode(path).decode("utf-8", "replace")
