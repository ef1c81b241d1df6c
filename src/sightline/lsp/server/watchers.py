"""Which changes a server has asked to be notified of.

Servers register their interest late, project by project, so this is never the only reason to tell
them: what is written in their languages, and project files, they are told anyway.
"""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from sightline.contract.failures import UriInvalid
from sightline.contract.uris import is_under, path_of
from sightline.lsp.files.globs import matcher
from sightline.lsp.wire.client import Client

__all__ = ["interested", "watches"]

_METHOD = "workspace/didChangeWatchedFiles"


def watches(client: Client) -> bool:
    """Whether a server registered for any changes. One that did not may look for them itself."""
    return any(True for _ in _watchers(client))


def interested(client: Client, folder: str, path: str) -> bool:
    """Whether a server registered for a path; one that registered for none gets all of its own."""
    if not watches(client):
        return is_under(path, folder)
    return any(_fits(watcher, path, folder) for watcher in _watchers(client))


def _watchers(client: Client) -> Iterator[Mapping[str, Any]]:
    return (
        watcher
        for method, options in client.registrations.values()
        if method == _METHOD
        for watcher in _listed(options.get("watchers"))
        if isinstance(watcher, Mapping)
    )


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _fits(watcher: Mapping[str, Any], path: str, folder: str) -> bool:
    pattern, base = watcher.get("globPattern", "**"), folder
    if isinstance(pattern, Mapping):
        uri = pattern.get("baseUri")
        uri = uri.get("uri") if isinstance(uri, Mapping) else uri
        with contextlib.suppress(UriInvalid, TypeError):
            base = path_of(str(uri)).rstrip("/")
        pattern = pattern.get("pattern", "**")
    if not isinstance(pattern, str):
        return True
    if pattern.startswith("/"):
        return matcher(pattern)(path)
    return is_under(path, base) and matcher(pattern)(path[len(base) + 1 :])
