"""The same symbol in a Python source and in the stub beside it.

    shop/cart.py    class Cart: ...      what runs
    shop/cart.pyi   class Cart: ...      what a type checker reads

To a server these are two symbols: uses in other files are those of the stub, uses in the source
itself those of the source. Whoever asks about one means both; so it is with parameters. The stub of
a package may declare what the source beside it only imports, from where the symbol is defined:

    shop/__init__.py    from shop._cart import Cart
    shop/__init__.pyi   class Cart: ...
"""

import asyncio
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sightline.contract.source import RawSymbol, SourceFile
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Range
from sightline.lsp.asking import questions
from sightline.lsp.asking.members import MOST_ASKED, Place, code_places
from sightline.lsp.asking.named_parameters import owners, parameter
from sightline.lsp.server.server import Server
from sightline.text.names import name_at
from sightline.text.sources import Hits, SourceTexts, word

__all__ = ["Twins", "declares", "twins_at"]

#: So many stubs of one symbol are followed. The uses of each are a search of their own.
_MOST_STUBS = 8
#: So far from the beginning of its line a name may be declared.
_MOST_BEFORE = 200
#: What stands before a name where a stub declares it, and what follows it where nothing does.
_DECLARES = re.compile(rb".*\b(?:def|class|type)[ \t]+|(?:[ \t]*class\b.*:)?([ \t]*)")
_ASSIGNS = re.compile(rb"[ \t]*[:=](?!=)")

#: A symbol with the names of those around it.
Name = tuple[str, ...]


class Twins(NamedTuple):
    """One symbol in several files: where each declares it."""

    places: Sequence[tuple[SourceFile, Range]] = ()
    #: How many more stubs may declare it, or surely do.
    left_out: int = 0


async def twins_at(server: Server, place: Location, texts: SourceTexts | None = None) -> Twins:
    """The symbol that is declared at a place, and the same in the stub or source beside it, or in
    the stub of a package that imports it.

    Nothing where there is no such file, or not the same symbol in it.
    """
    path = path_in(place.uri)
    if not path.endswith((".py", ".pyi")):
        return Twins()
    beside = _read(server, path[:-1] if path.endswith("i") else f"{path}i")
    hits = await _in_stubs(texts, place) if texts is not None else {}
    own = server.launch.read(path) if beside is not None or hits else None
    if own is None:
        return Twins()
    here = list(_named(await questions.document_symbols(server, *own)))
    start = place.range.start
    name, span = next((each for each in here if each[1].start == start), ((), place.range))
    given = "" if name else name_at(own[0].text, place.range.start, "python")
    if given:
        functions = owners([place], lambda _: own[0].text)
        stated = functions[0].stated if functions else None
        name = next((each for each, there in here if there.start == stated), ())
        hits = {}  # of those that have the name of the parameter
    found: list[tuple[SourceFile, Range]] = []
    left_out = 0
    if beside is not None:
        # Each of some overloads has parameters of its own.
        twins = (await _symbols(server, beside, name))[: None if given else 1]
        found += ((beside[0], twin) for twin in twins)
        if not twins and texts is not None and name and path.endswith("i"):
            found += await _imported(server, texts, path[:-1], name)
    if not found and name and texts is not None and hits:
        stubs, left_out = await _stubs_of(server, texts, hits, path, name)
        for stub in stubs:
            read = _read(server, stub)
            twin = await _symbol(server, read, name) if read is not None else None
            if read is not None and twin is not None:
                found.append((read[0], twin))
    if given:
        declared = ((file, parameter(file.text, there, given)) for file, there in found)
        found = [(file, there) for file, there in declared if there is not None]
    return Twins([(own[0], span), *found] if found else [], left_out)


async def _in_stubs(texts: SourceTexts, place: Location) -> Hits:
    """Where stubs have the name at a place, but for that of its own file."""
    path = path_in(place.uri)
    name = texts.name_at(path, place.range.start) if path.endswith(".py") else b""
    hits = await texts.find(word(name.decode())) if name else None
    return {
        stub: starts
        for stub, starts in (hits or {}).items()
        if stub.endswith(".pyi") and stub[:-1] in texts and stub[:-1] != path
    }


async def _stubs_of(
    server: Server, texts: SourceTexts, hits: Hits, path: str, name: Name
) -> tuple[Sequence[str], int]:
    """The stubs that declare the symbol of a source, for what the sources beside them import from
    elsewhere leads to it; and how many were left out.
    """
    places = await asyncio.to_thread(_declaring, texts, hits, name)
    asked = sorted(places)[:MOST_ASKED]
    told = await questions.definitions_unopened(server, [places[stub] for stub in asked])
    stubs = [
        stub
        for stub, found in zip(asked, told, strict=True)
        if any(path_in(each.uri) == path for each in found)
    ]
    left_out = len(places) - len(asked) + max(0, len(stubs) - _MOST_STUBS)
    return stubs[:_MOST_STUBS], left_out


def _declaring(texts: SourceTexts, hits: Hits, name: Name) -> Mapping[str, Place]:
    """The stubs that declare a name, each with where the source beside it has that.

    Most stubs that have the name of a class only say with it what they take and give.
    """
    found: dict[str, Place] = {}
    for stub, starts in hits.items():
        text = texts.text(stub)
        if not declares(text, starts, name[-1]):
            continue
        if not all(declares(text, word(each).starts(text), each) for each in name[:-1]):
            continue
        source = stub[:-1]
        within = word(name[0]).starts(texts.text(source))
        place = next(code_places("python", texts, source, within), None)
        if place is not None:
            found[stub] = (source, place)
    return found


def declares(text: bytes, starts: Sequence[int], name: str) -> bool:
    """Whether a name is declared at one of the places where it stands in a text."""
    size = len(name.encode())
    for start in starts:
        nearest = max(0, start - _MOST_BEFORE)
        line = text.rfind(b"\n", nearest, start) + 1
        if not line and nearest:
            continue
        before = _DECLARES.fullmatch(text, line, start)
        if before is None:
            continue
        if before[1] is None or _ASSIGNS.match(text, start + size):
            return True
    return False


async def _imported(
    server: Server, texts: SourceTexts, path: str, name: Name
) -> list[tuple[SourceFile, Range]]:
    """The symbol of a name that a source has from another one."""
    starts = word(name[0]).starts(texts.text(path))
    place = next(code_places("python", texts, path, starts), None)
    if place is None:
        return []
    found: list[tuple[SourceFile, Range]] = []
    for led in (await questions.definitions_unopened(server, [(path, place)]))[0]:
        source = path_in(led.uri)
        read = _read(server, source) if source != path and source.endswith(".py") else None
        there = await _symbol(server, read, name) if read is not None else None
        if read is not None and there is not None:
            found.append((read[0], there))
    return found


async def _symbol(server: Server, file: tuple[SourceFile, str], name: Name) -> Range | None:
    return next(iter(await _symbols(server, file, name)), None)


async def _symbols(server: Server, file: tuple[SourceFile, str], name: Name) -> list[Range]:
    there = _named(await questions.document_symbols(server, *file))
    return [span for other, span in there if other == name]


def _read(server: Server, path: str) -> tuple[SourceFile, str] | None:
    # Mostly there is none, which is found out soonest so.
    return server.launch.read(path) if os.path.lexists(path) else None


def _named(symbols: Sequence[RawSymbol], around: Name = ()) -> Iterator[tuple[Name, Range]]:
    for symbol in symbols:
        name = (*around, symbol.name)
        yield name, symbol.selection
        yield from _named(symbol.children, name)
