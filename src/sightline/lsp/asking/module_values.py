"""Uses of a name of a Python module that is taken from the module where no server follows it.

    if sys.platform == "win32":
        cart.total()                              # not for this system
    importlib.import_module("shop.cart").total()  # of any type

In code that a server takes for unreachable it knows names, but nothing that is taken from a value;
of a module that is loaded by its name it knows nothing. It counts no such use and does not say so.
So the name is looked for after a dot: on what a file imports, where that is a module of the
project, and on any name in files that load modules, or whose ``conftest.py`` does. What the server
cannot tell there is said, and never taken for a use.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.texts import line_length_utf16
from sightline.contract.uris import above, path_in
from sightline.contract.values import Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.asking.members import (
    MOST_ASKED,
    TOO_MUCH,
    Members,
    Place,
    can_be_asked,
)
from sightline.lsp.server.server import Server
from sightline.text.code import PYTHON
from sightline.text.sources import SourceTexts, after_dot

__all__ = ["Taken", "note", "search"]

_LOADERS = rb"\b(?:import_module|importorskip|__import__|reload)[ \t]*\("
#: What gives a module as a value, and the same right before a dot.
_LOADS = re.compile(_LOADERS + rb"|\bsys\.modules\b")
_LOADED = re.compile(rb"(?:%b.*\)|\bsys\.modules\[.*\])[ \t]*\.[ \t]*\Z" % _LOADERS)
#: Names before a dot, which are taken from nothing else.
_NAMES = re.compile(rb"(?<![\w.)\]}\"'])(?:[^\W\d]\w*[ \t]*\.[ \t]*)*?([^\W\d]\w*)[ \t]*\.[ \t]*\Z")
#: An import up to a name that it binds.
_IMPORT = (
    rb"^[ \t]*+(?:from[ \t]+[\w.]+[ \t]+)?+import\b(?:[^()\n#]*|[ \t]*\((?:[^()#]|#[^\n]*+)*)\b%b\b"
)
#: What an import names first: a module that names are taken from, or modules and their new names.
_STATED = re.compile(rb"\s*(?:from[ \t]+([\w.]+)|import\b(.*))", re.DOTALL)
_NO_MODULE = (b"self", b"cls", b"super")
#: In a file with more places of a name nobody tells which of them are taken from a module.
_MOST_IN_FILE = 20_000
#: So much of a line is looked at before a name.
_MOST_BEFORE = 1_000
#: So many folders may be packages, but for those that are called so.
_MOST_PACKAGES = 4
_ANYWHERE = frozenset((b"", b"lib", b"python", b"src", b"test", b"tests"))
_START = Position(0, 0)


class Taken(NamedTuple):
    """A place at which a name is taken from what may be a module."""

    path: str
    at: Position
    #: Where the module is named, if the file imports it.
    module: Position | None = None
    #: The import of that.
    stated: bytes = b""


async def search(
    members: Members, name: str, definitions: Iterable[Location]
) -> Sequence[Taken] | None:
    """The places of a name that may be taken from a module; ``None`` if there is too much code."""
    if name.startswith("__"):
        return ()  # every module has those
    hits = await members.texts.find(after_dot(name))
    if not hits:
        return None if hits is None else ()
    paths = [members.inside(path_in(place.uri)) for place in definitions]
    return await asyncio.to_thread(_taken, members.texts, hits, paths)


async def note(
    members: Members,
    server: Server,
    name: str,
    taken: Sequence[Taken] | None,
    known: Iterable[Location],
    definitions: Iterable[Location],
) -> str:
    """What is to be said of these places, given those that are known."""
    if taken is None:
        return TOO_MUCH
    starts = {(path_in(place.uri), place.range.start) for place in known}
    places = [
        each
        for each in taken
        if (each.path, each.at) not in starts and can_be_asked(server, each.path)
    ]
    if server.spec.unknown_members == "text":
        stems = [_names_of(path_in(place.uri))[0] for place in definitions]
        places = [each for each in places if each.module is None or _has_any(stems, each.stated)]
        return members.said_of_other(name, _places(places)) if places else ""
    if len(places) > MOST_ASKED:
        places = list(await _of_modules(server, members.texts, name, places, each_place=False))
    if len(places) > MOST_ASKED:
        return members.said_of_other(name, _places(places))
    told = await questions.definitions_unopened(server, _places(places))
    unknown = [each for each, found in zip(places, told, strict=True) if not found]
    own = await _of_modules(server, members.texts, name, unknown)
    return members.said_of_unknown(name, _places(own)) if own else ""


async def _of_modules(
    server: Server,
    texts: SourceTexts,
    name: str,
    places: Sequence[Taken],
    *,
    each_place: bool = True,
) -> Sequence[Taken]:
    """Those of some places where what the name is taken from may be a module that has it.

    What a file imports is mostly the same wherever it is named, so it can be asked about once; and
    so it is in every file, if nothing in the project is called like it.
    """
    own = frozenset[bytes]() if each_place else await asyncio.to_thread(_parts, texts.paths())

    @cache
    def is_same(stated: bytes) -> bool:
        """Whether an import means the same in every file."""
        found = _STATED.match(stated)
        words = re.findall(rb"[\w.]+", (found[1] or found[2]) if found is not None else b".")
        return not any(word[:1] == b"." or word.split(b".")[0] in own for word in words)

    def asked(place: Taken) -> tuple[str, bytes | Position | None]:
        if each_place:
            return place.path, place.module
        return "" if is_same(place.stated) else place.path, place.stated

    modules = {asked(each): (each.path, each.module) for each in places if each.module is not None}
    if len(modules) > MOST_ASKED:
        return places
    led = await questions.definitions_unopened(server, list(modules.values()))
    may = {
        key: any(_may_have(texts, name, place) for place in found)
        for key, found in zip(modules, led, strict=True)
    }
    return [each for each in places if each.module is None or may[asked(each)]]


def _parts(paths: Iterable[str]) -> frozenset[bytes]:
    """What the files of a project, and the folders that they are in, are called in an import."""
    parts = {part for path in paths for part in path.split("/")}
    return frozenset(
        part.partition(".")[0].removesuffix("-stubs").encode("utf-8", "replace") for part in parts
    )


def _places(taken: Iterable[Taken]) -> list[Place]:
    return [(each.path, each.at) for each in taken]


def _taken(
    texts: SourceTexts, hits: Mapping[str, Sequence[int]], definitions: Iterable[str]
) -> Sequence[Taken] | None:
    if any(len(starts) > _MOST_IN_FILE for starts in hits.values()):
        return None
    names = {name for path in definitions for name in _names_of(path)} - _ANYWHERE

    @cache
    def gives(path: str) -> bool:
        """Whether tests below may be given a module that a name may be defined in."""
        return path in texts and texts.made(path, _loads) and _has_any(names, texts.text(path))

    found: list[Taken] = []
    for path in sorted(hits):
        # What tests are given is made in a file that they do not import.
        shared = (f"{folder}/conftest.py" for folder in list(above(path))[1:])
        loaded = texts.made(path, _loads) or any(map(gives, shared))
        found += _in_file(texts, path, hits[path], loaded=loaded)
    return found


def _loads(texts: SourceTexts, path: str) -> bool:
    """Whether a file loads modules by their names."""
    return _LOADS.search(texts.text(path)) is not None


def _in_file(
    texts: SourceTexts, path: str, starts: Sequence[int], *, loaded: bool
) -> Iterator[Taken]:
    text = texts.text(path)

    @cache
    def imported(name: bytes) -> bytes:
        found = re.search(possessive(_IMPORT % name), text, re.MULTILINE)
        return found[0] if found is not None else b""

    number, counted = 0, 0
    for start in starts:
        line = text.rfind(b"\n", 0, start) + 1
        first_byte = max(line, start - _MOST_BEFORE)
        before = text[first_byte:start]
        names = _NAMES.search(before)
        first = re.match(rb"\w+", names[0]) if names is not None else None
        stated = imported(first[0]) if first is not None else b""
        loose = loaded and (names is not None or _LOADED.search(before) is not None)
        if not (stated or loose) or (first is not None and first[0] in _NO_MODULE):
            continue
        if start in texts.spans(path, PYTHON):
            continue
        number += text.count(b"\n", counted, start)
        counted = start
        at = Position(number, _units(text[line:start]))
        if names is None or not stated:
            yield Taken(path, at)
            continue
        module = text[line : first_byte + names.start(1)]
        yield Taken(path, at, Position(number, _units(module)), stated)


def _units(text: bytes) -> int:
    return line_length_utf16(text.decode("utf-8", "replace"))


def _may_have(texts: SourceTexts, name: str, place: Location) -> bool:
    """Whether a place is a module of the project that may have a name."""
    path = path_in(place.uri)
    if path not in texts or place.range.start != _START:
        return False
    text = texts.text(path)
    return name.encode() in text or b"import *" in text


def _names_of(path: str) -> Sequence[bytes]:
    """What a module is called, and the packages that it may be in."""
    folder, _, file = path.encode().rpartition(b"/")
    stem = file.partition(b".")[0]
    folders = folder.split(b"/")[:-_MOST_PACKAGES:-1]
    return folders if stem == b"__init__" else [stem, *folders]


def _has_any(words: Iterable[bytes], text: bytes) -> bool:
    return any(re.search(rb"\b%b\b" % re.escape(word), text) for word in words)
