"""Paths in place of URIs: which files of the workspace one names, and what to pass instead."""

import os
import re

from sightline.contract.failures import Failure, UriInvalid
from sightline.contract.source import SourceFile
from sightline.contract.uris import path_of
from sightline.workspace.gate import GatedFile
from sightline.workspace.view import View

__all__ = ["document", "files_at"]

_SCHEME = re.compile(r"file:/*")
#: Lines and columns behind a path, as grep and compilers write them.
_PLACE = re.compile(r"(:[0-9]+){1,2}:?\Z")
_MAX_MEANT = 3
_MAX_URI = 400


def files_at(view: View, path: str) -> tuple[list[GatedFile], Failure | None]:
    """What there is at an absolute path, or at a relative one in any root; else why nothing is."""
    if os.path.isabs(path):
        places = [path]
    else:
        places = [os.path.join(root.given, path) for root in view.gate.roots.roots]
    found: list[GatedFile] = []
    problem: Failure | None = None
    for place in places:
        try:
            found.append(view.gate.admit_path(os.path.normpath(place)))
        except Failure as failure:
            problem = problem or failure
    return found, problem


def document(view: View, uri: str) -> SourceFile:
    """The document of a URI. Where a path is passed, the failure names the URI of that file."""
    try:
        path_of(uri)
    except UriInvalid:
        meant = _meant(view, uri)
        if not meant:
            raise
        raise UriInvalid(f"pass {' or '.join(meant)}") from None
    return view.document(uri)


def _meant(view: View, text: str) -> list[str]:
    """The URIs of the files that a text can mean which is no URI."""
    bare = _SCHEME.sub("", text, count=1)
    for path in (text, bare, _PLACE.sub("", bare)):
        if not path:
            continue
        uris = {file.uri for file in files_at(view, path)[0] if os.path.isfile(file.path)}
        if uris:
            return sorted(uri for uri in uris if len(uri) <= _MAX_URI)[:_MAX_MEANT]
    return []
