"""What a project says to pyright: its own settings, and those of the files that they extend.

Of each setting the nearest counts, and its paths lead from the file that gives it. With a
``pyrightconfig.json``, whatever is in it, ``pyproject.toml`` says nothing.

>>> own, base = ("/ws/pyrightconfig.json", {"include": 1}), ("/ws/a/b", {"include": ["../src"]})
>>> paths([own, base], "include")
['/ws/src']
"""

import os
from collections.abc import Mapping
from typing import Any

from sightline.lsp.files.reading import read_json, read_text, read_toml, table, texts

__all__ = ["Chain", "chain_of", "paths", "patterns"]

#: Files, nearest first, and what each says.
Chain = list[tuple[str, Mapping[str, Any]]]

_OWN = "pyrightconfig.json"
_MANIFEST = "pyproject.toml"
_MAX_BYTES = 1 << 20
_MAX_EXTENDS = 16


def chain_of(folder: str) -> Chain:
    """The settings of the project in a folder, and all that they extend, nearest first. What is
    not there, or cannot be read, says nothing.
    """
    path = os.path.join(folder, _OWN)
    if not os.path.isfile(path):
        path = os.path.join(folder, _MANIFEST)
    found: Chain = []
    while len(found) < _MAX_EXTENDS and path not in [file for file, _ in found]:
        said = _read(path)
        found.append((path, said))
        extended = said.get("extends")
        if not isinstance(extended, str):
            break
        path = _full(path, extended)
    return found


def paths(chain: Chain, name: str) -> list[str]:
    """The paths that a setting lists. None is relative, and some may lead anywhere."""
    file, listed = _nearest(chain, name)
    return [_full(file, each) for each in listed]


def patterns(chain: Chain, name: str) -> list[str]:
    """The same of patterns, which must be relative, and know no choices and sets of letters."""
    file, listed = _nearest(chain, name)
    found = [_full(file, each) for each in listed if not each.startswith("/")]
    return [each.replace("[", "[[]").replace("{", "[{]") for each in found]


def _nearest(chain: Chain, name: str) -> tuple[str, list[str]]:
    """The nearest list of a setting, and the file that gives it."""
    given = ((file, said[name]) for file, said in chain if isinstance(said.get(name), list))
    file, value = next(given, ("", []))
    return file, texts(value)


def _read(path: str) -> Mapping[str, Any]:
    if not path.endswith(".toml"):
        return table(read_json(path, comments=True))
    # Most say nothing of it, and the reader of TOML takes a moment to load.
    is_said = "pyright" in (read_text(path, _MAX_BYTES) or "")
    return table(read_toml(path), "tool", "pyright") if is_said else {}


def _full(file: str, name: str) -> str:
    return os.path.normpath(os.path.join(os.path.dirname(file), name.replace("\\", "/")))
