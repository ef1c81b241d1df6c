"""What ``go.mod`` and ``go.work`` say, as far as answers depend on it.

The go command is kept from fetching anything, so a module that was never downloaded is not there
for the server either. And without a ``go.work`` the server looks into one module at a time: uses in
a module that replaces another one of the same workspace by its folder are not found from there.

>>> module("module a.b/c\\n\\nrequire d.e/F v1.2.3 // why\\nreplace d.e/F => ../f\\n")
Module(path='a.b/c', requires={'d.e/F': 'v1.2.3'}, replaces={'d.e/F': ('../f', '')})
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from sightline.lsp.files.reading import read_text

__all__ = ["Module", "cache_of", "module", "not_downloaded", "of", "replaced", "works_with"]

_MAX_BYTES = 1 << 20
_WORD = re.compile(r'"([^"]*)"|`([^`]*)`|([^\s"`]+)')
_DIRECTIVES = ("module", "require", "replace", "use")
_PATH = re.compile(r"[\w.~/+!-]{1,200}")
_INDIRECT = "indirect"


class Module(NamedTuple):
    path: str
    #: What its own code imports, with versions; not what only its dependencies need.
    requires: Mapping[str, str]
    #: What stands for a module: a path and a version, or a folder and nothing.
    replaces: Mapping[str, tuple[str, str]]


def module(text: str) -> Module:
    """What the text of a go.mod says. What cannot be read is passed over."""
    path, requires, replaces = "", dict[str, str](), dict[str, tuple[str, str]]()
    for directive, words, comment in _statements(text):
        if directive == "module" and words:
            path = words[0]
        elif directive == "require" and len(words) == 2 and comment != _INDIRECT:
            requires[words[0]] = words[1]
        elif directive == "replace" and "=>" in words:
            replaces |= _replacement(words)
    return Module(path if _PATH.fullmatch(path) else "", requires, replaces)


def of(folder: str) -> Module:
    """What the go.mod in a folder says."""
    return module(_text(folder, "go.mod"))


def replaced(folder: str) -> dict[str, str]:
    """The modules that the module in a folder takes from other folders, with those."""
    found = of(folder).replaces
    return {
        path: os.path.normpath(os.path.join(folder, target))
        for path, (target, version) in found.items()
        if not version
    }


def works_with(folder: str, other: str, above: Iterator[str]) -> bool:
    """Whether the nearest go.work in one of the folders ``above`` names both modules."""
    for place in above:
        if os.path.isfile(f"{place}/go.work"):
            return {folder, other} <= _used(place)
    return False


def not_downloaded(folder: str, above: Iterator[str], cache: str) -> list[str]:
    """The modules that the code in a folder imports and that are nowhere to be found."""
    if os.path.isfile(f"{folder}/vendor/modules.txt"):
        return []
    own = of(folder)
    replaces, near = dict(own.replaces), set[str]()
    for place in above:
        work = _text(place, "go.work")
        if work:
            used = _used(place)
            near = {of(each).path for each in used if folder in used}
            replaces |= module(work).replaces if near else {}
            break
    return [
        path
        for path, version in sorted(own.requires.items())
        if path not in near and not _is_there(*replaces.get(path, (path, version)), cache)
    ]


def cache_of(environment: Mapping[str, str]) -> str:
    """Where the user's go command keeps modules."""
    home = environment.get("HOME", "")
    file = environment.get("GOENV") or f"{home}/.config/go/env"
    lines = (read_text(file, _MAX_BYTES) or "").splitlines()
    known = dict(line.partition("=")[::2] for line in lines) | dict(environment)
    first = known.get("GOPATH", "").split(os.pathsep)[0] or f"{home}/go"
    return known.get("GOMODCACHE") or f"{first}/pkg/mod"


def _is_there(path: str, version: str, cache: str) -> bool:
    if not version:
        return True  # a folder, which the server sees or not like any other
    escaped = re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), f"{path}@{version}")
    return os.path.isdir(f"{cache}/{escaped}")


def _used(folder: str) -> set[str]:
    """The folders of the modules that the go.work in a folder names."""
    said = _statements(_text(folder, "go.work"))
    return {
        os.path.normpath(os.path.join(folder, words[0]))
        for directive, words, _ in said
        if directive == "use" and words
    }


def _statements(text: str) -> Iterator[tuple[str, list[str], str]]:
    """Every statement: its directive, what follows, and its comment. Blocks are taken apart."""
    block = ""
    for line in text.splitlines():
        code, _, comment = line.partition("//")
        words = [word for groups in _WORD.findall(code) if (word := "".join(groups))]
        if block and words[:1] == [")"]:
            block = ""
        elif block and words:
            yield block, words, comment.strip()
        elif words[1:2] == ["("] and words[0] in _DIRECTIVES:
            block = words[0]
        elif words and words[0] in _DIRECTIVES:
            yield words[0], words[1:], comment.strip()


def _replacement(words: list[str]) -> dict[str, tuple[str, str]]:
    arrow = words.index("=>")
    old, new = words[:arrow], words[arrow + 1 :]
    if not old or not new:
        return {}
    return {old[0]: (new[0], new[1] if len(new) > 1 else "")}


def _text(folder: str, name: str) -> str:
    return read_text(f"{folder}/{name}", _MAX_BYTES) or ""
