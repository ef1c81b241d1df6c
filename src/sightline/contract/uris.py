"""File URIs and paths, by text alone.

``path_of`` reads a ``file:`` URI strictly: no host, no query, no fragment, no bad escape, no NUL.
``uri_of`` writes the one canonical spelling of a path. Neither looks at the disk: links are
followed, and roots enforced, by ``workspace/gate.py``.

>>> uri_of("/a//b/../ü.ts")
'file:///a/%C3%BC.ts'
>>> path_of("file:///a/%C3%BC.ts")
'/a/ü.ts'
"""

import os
import posixpath
import re
from collections.abc import Iterator
from functools import lru_cache
from urllib.parse import quote, unquote_to_bytes

from sightline.contract.failures import UriInvalid

__all__ = [
    "above",
    "is_under",
    "is_unicode",
    "normalise",
    "path_in",
    "path_of",
    "respelled",
    "uri_of",
]

_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f?#]")
_DRIVE = re.compile(r"/([A-Za-z]):(?=/|$)")
#: A path of which nothing has to be escaped or taken out: most are, and they are their own URI.
_PLAIN = re.compile(r"(?:/(?!\.\.?(?:/|\Z))[A-Za-z0-9._~-]+)+")
_MAX_CLIMB = 64


def path_of(uri: str) -> str:
    """The absolute, lexically normalised path a ``file:`` URI names."""
    if uri.startswith("file:///") and _PLAIN.fullmatch(uri, len("file://")):
        return uri[len("file://") :]
    if not uri.startswith("file:"):
        raise UriInvalid("pass a file: URI, such as file:///folder/module.py")
    rest = uri[len("file:") :]
    rest = rest.removeprefix("//")
    if not rest.startswith("/") or rest.startswith("//"):
        raise UriInvalid(
            "pass an absolute file: URI without a host, such as file:///folder/module.py"
        )
    if _FORBIDDEN.search(rest) or _BAD_ESCAPE.search(rest):
        raise UriInvalid(
            "percent-encode the URI: it holds a ?, a #, a control character or a bad escape"
        )
    raw = unquote_to_bytes(rest)
    if b"\0" in raw:
        raise UriInvalid
    path = os.fsdecode(raw)
    # A trailing slash names a folder, never a file: normalising it away would accept "module.py/".
    return normalise(path) + ("/" if path.endswith("/") and normalise(path) != "/" else "")


@lru_cache(maxsize=4_096)
def path_in(uri: str) -> str:
    """The path of a place that a server told; what is no path stands for itself."""
    try:
        return path_of(uri)
    except UriInvalid:
        return uri


def respelled(uri: str) -> str:
    """The canonical spelling of what a server calls a document; what is no path is as it was.

    >>> respelled("file:///a/b:c.ts"), respelled("file:///a/b.ts?1")
    ('file:///a/b%3Ac.ts', 'file:///a/b.ts?1')
    """
    try:
        return uri_of(path_of(uri))
    except UriInvalid:
        return uri


def uri_of(path: str) -> str:
    """The canonical ``file:`` URI of an absolute path."""
    if _PLAIN.fullmatch(path):
        return "file://" + path
    encoded = quote(os.fsencode(normalise(path)), safe="/-._~:")
    drive = _DRIVE.match(encoded)
    if drive:
        encoded = f"/{drive[1].lower()}:{encoded[3:]}"
    return "file://" + encoded.replace(":", "%3A")


def normalise(path: str) -> str:
    """``.``, ``..`` and repeated slashes taken out, by text."""
    return "/" + posixpath.normpath(path).lstrip("/")


def is_under(path: str, root: str) -> bool:
    """Whether ``path`` is ``root`` or lies below it, by text."""
    return path == root or path.startswith(root if root.endswith("/") else root + "/")


def is_unicode(path: str) -> bool:
    """Whether a path is text. A name may also hold bytes that are no UTF-8, which neither JSON nor
    a language server can be told.

    >>> is_unicode("/a/ü.ts"), is_unicode(os.fsdecode(b"/a/\\xff.ts"))
    (True, False)
    """
    if path.isascii():
        return True
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def above(folder: str, top: str | None = None) -> Iterator[str]:
    """A folder and those above it, up to ``top`` or to the root of the file system."""
    for _ in range(_MAX_CLIMB):
        yield folder
        parent = os.path.dirname(folder)
        if folder == top or parent == folder:
            return
        folder = parent
