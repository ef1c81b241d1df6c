"""Names in ``__all__`` of Python modules that have them from ``from .cart import *``.

    shop/cart.py        class Cart: ...
    shop/__init__.py    from .cart import *
                        __all__ = ["Cart"]

To some servers such a text is no symbol, and nothing else in the file spells the name. So the stars
are followed, from module to module, until one binds the name: the last star that gives it counts.
Where one leads is not guessed. A module whose ``__all__`` is made by a program, or one that the
server does not find, leaves it open; that is said, and the text is not taken for a use.
"""

import asyncio
import re
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum, auto
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.texts import line_length_utf16
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking import questions
from sightline.lsp.asking.members import (
    MOST_ASKED,
    Members,
    Place,
    can_be_asked,
    code_places,
)
from sightline.lsp.python.names import PythonText
from sightline.lsp.server.server import Server
from sightline.text.code import PYTHON
from sightline.text.sources import Hits, SourceTexts, word

__all__ = ["Starred", "exports", "has_both"]

_STAR = re.compile(
    possessive(rb"^[ \t]*+from\b[ \t]*+(\.*+)((?:(?!import\b)\w[\w.]*+)?+)[ \t]*+import[ \t]*+\*"),
    re.MULTILINE,
)
#: What follows a name that is part of a module's.
_OF_MODULE = re.compile(rb"[ \t]*(?:\.|import\b)")
#: So much is looked through in less time than a thread takes to have a turn.
_QUICK = 128 << 10
#: So many modules are looked at for one name.
_MOST_FOLLOWED = 500
#: A name that comes through so many stars is not followed further.
_MOST_STARS = 50
_START = Position(0, 0)


class Starred(NamedTuple):
    places: Sequence[Location] = ()
    #: What is to be said of texts that may name the symbol.
    note: str = ""


class _Gives(Enum):
    """What a module has under a name."""

    NOTHING = auto()
    #: The symbol that was asked about.
    OWN = auto()
    OTHER = auto()
    UNKNOWN = auto()


class _Star(NamedTuple):
    #: Where the last part of the module's name begins, if the server has to be asked.
    asked: Place | None
    #: The files that it may be, where that is known without.
    files: Sequence[str] = ()


class _Module(NamedTuple):
    #: What it binds the name to itself.
    binds: _Gives
    #: Whether a star would take the name from it; nothing if only a program knows.
    lists: bool | None
    #: Those to be followed, in order.
    stars: Sequence[_Star]


async def exports(
    members: Members, server: Server, names: Collection[str], known: Collection[Location]
) -> Starred:
    """The texts in ``__all__`` for a symbol that has these names, and is known at these places."""
    starts = {(path_in(place.uri), place.range.start) for place in known}
    places: list[Location] = []
    said: list[str] = []
    for name in sorted(names):
        hits = await members.texts.find(word(name))
        if not hits:
            continue
        stars = _Stars(members.texts, server, name, hits, starts)
        if sum(len(members.texts.text(path)) for path in hits) <= _QUICK:
            paths = _with_both(members.texts, hits)
        else:
            paths = await asyncio.to_thread(_with_both, members.texts, hits)
        if not paths:
            continue
        listing = await asyncio.to_thread(stars.listing, paths)
        await stars.follow(listing)
        found = {path: stars.has(path) for path in listing}
        for path, texts in listing.items():
            if found[path] is _Gives.OWN:
                places += (Location(uri_of(path), each) for each in texts)
        unknown = [path for path in listing if found[path] is _Gives.UNKNOWN]
        if unknown:
            many = len(unknown) > 1
            files = f"{len(unknown):,} files that import" if many else "1 file that imports"
            where = f"{files} with *{members.named((path, _START) for path in unknown)}"
            said.append(f"{name} stands in __all__ of {where}; it is not counted there.")
    return Starred(places, " ".join(said))


def _with_both(texts: SourceTexts, paths: Iterable[str]) -> Sequence[str]:
    """Those of some files that have stars and ``__all__``."""
    return [path for path in sorted(paths) if texts.made(path, has_both)]


def has_both(texts: SourceTexts, path: str) -> bool:
    """Whether a file has both."""
    text = texts.text(path)
    return b"__all__" in text and _STAR.search(text) is not None


class _Stars:
    """The modules that have a name from one another."""

    def __init__(
        self, texts: SourceTexts, server: Server, name: str, hits: Hits, known: AbstractSet[Place]
    ) -> None:
        self._texts = texts
        self._server = server
        self._name = name
        self._hits = hits
        self._known = known
        self._modules: dict[str, _Module] = {}
        #: Where the server says that a module is; nothing if it does not know.
        self._led: dict[Place, Sequence[str] | None] = {}
        self._has: dict[str, _Gives] = {}
        self._depth = 0

    def listing(self, paths: Iterable[str]) -> dict[str, Sequence[Range]]:
        """The files with a star where the name is in ``__all__``, and is not known there."""
        found: dict[str, Sequence[Range]] = {}
        for path in paths:
            text = self._texts.text(path)
            listed = PythonText(text.decode("utf-8", "replace")).exports(self._name)
            new = [
                each
                for each in listed
                if self._known.isdisjoint([(path, each.start), (path, _before(each.start))])
            ]
            if new:
                found[path] = new
        return found

    async def follow(self, paths: Iterable[str]) -> None:
        """Finds out what these files have the name from."""
        waiting, left = set(paths), MOST_ASKED
        while waiting:
            new = sorted(waiting)[: _MOST_FOLLOWED - len(self._modules)]
            read = await asyncio.to_thread(lambda paths: list(map(self._read, paths)), new)
            self._modules |= zip(new, read, strict=True)
            stars = [star for module in read for star in module.stars]
            asked = [star.asked for star in stars if star.asked is not None][:left]
            left -= len(asked)
            told = await questions.definitions_unopened(self._server, asked)
            for place, there in zip(asked, told, strict=True):
                self._led[place] = [path_in(each.uri) for each in there if _is_module(each)] or None
            waiting = {
                path
                for star in stars
                for path in self._files(star) or ()
                if path in self._texts and path not in self._modules
            }
            if len(self._modules) >= _MOST_FOLLOWED:
                return

    def has(self, path: str) -> _Gives:
        """What a file has under the name."""
        if path not in self._texts:
            return _Gives.NOTHING  # somebody else's, which knows nothing of the project's names
        module = self._modules.get(path)
        if module is None or (path not in self._has and self._depth >= _MOST_STARS):
            return _Gives.UNKNOWN
        if path not in self._has:
            self._has[path] = _Gives.NOTHING  # in a circle, which gives nothing new
            self._depth += 1
            self._has[path] = self._has_(module)
            self._depth -= 1
        return self._has[path]

    def _has_(self, module: _Module) -> _Gives:
        if module.binds is not _Gives.NOTHING:
            return module.binds
        unknown = False
        for star in reversed(module.stars):
            found = self._through(star)
            if found is _Gives.OWN or (found is _Gives.OTHER and not unknown):
                return found
            unknown |= found is not _Gives.NOTHING
        return _Gives.UNKNOWN if unknown else _Gives.NOTHING

    def _through(self, star: _Star) -> _Gives:
        files = self._files(star)
        if files is None:
            return _Gives.UNKNOWN
        found = {self._gives(path) for path in files}
        order = _Gives.OWN, _Gives.OTHER, _Gives.UNKNOWN
        return next((each for each in order if each in found), _Gives.NOTHING)

    def _gives(self, path: str) -> _Gives:
        """What a star takes from a file under the name."""
        found = self.has(path)
        module = self._modules.get(path)
        if module is None or module.lists or found is _Gives.NOTHING:
            return found
        return _Gives.NOTHING if module.lists is False else _Gives.UNKNOWN

    def _files(self, star: _Star) -> Sequence[str] | None:
        if star.asked is None:
            return star.files or None
        files = self._led.get(star.asked)
        # What a stub leaves out may be in the source beside it.
        return files and [each for path in files for each in (path, _beside(path))]

    def _read(self, path: str) -> _Module:
        text = self._texts.text(path)
        python = PythonText(text.decode("utf-8", "replace"))
        binds = self._binds(path, python) if path in self._hits else _Gives.NOTHING
        stars = self._stars(path) if binds is _Gives.NOTHING else ()
        if not python.has_exports:
            return _Module(binds, not self._name.startswith("_"), stars)
        if python.exports(self._name):
            return _Module(binds, True, stars)
        return _Module(binds, False if python.exports_only_texts else None, stars)

    def _binds(self, path: str, python: PythonText) -> _Gives:
        text, size = self._texts.text(path), len(self._name.encode())
        starts = [start for start in self._hits[path] if not _OF_MODULE.match(text, start + size)]
        units = line_length_utf16(self._name)
        found = _Gives.NOTHING
        for at in code_places("python", self._texts, path, starts):
            if python.binds_in_module(Range(at, Position(at.line, at.character + units))):
                if (path, at) in self._known:
                    return _Gives.OWN
                found = _Gives.OTHER
        return found

    def _stars(self, path: str) -> Sequence[_Star]:
        text, no_code = self._texts.text(path), self._texts.spans(path, PYTHON)
        return [
            self._star(path, text, found)
            for found in _STAR.finditer(text)
            if found.start() not in no_code
        ]

    def _star(self, path: str, text: bytes, found: re.Match[bytes]) -> _Star:
        dots, name = found[1], found[2].decode("utf-8", "replace")
        if dots:
            folder = path.split("/")[: -len(dots)]
            stem = "/".join([*folder, *filter(None, name.split("."))])
            ends = ("/__init__.pyi", "/__init__.py", *((".pyi", ".py") if name else ()))
            return _Star(None, [stem + end for end in ends if stem + end in self._texts])
        if not can_be_asked(self._server, path):
            return _Star(None)
        line = text.rfind(b"\n", 0, found.start(2)) + 1
        before = text[line : found.start(2)].decode("utf-8", "replace")
        before += name[: name.rfind(".") + 1]
        return _Star((path, Position(text.count(b"\n", 0, line), line_length_utf16(before))))


def _before(place: Position) -> Position:
    """The place of the quote before a text: some servers name that."""
    return Position(place.line, place.character - 1)


def _is_module(place: Location) -> bool:
    return place.range.start == _START


def _beside(path: str) -> str:
    return path[:-1] if path.endswith("i") else f"{path}i"
