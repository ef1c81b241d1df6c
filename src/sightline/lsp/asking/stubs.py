"""The same symbol in a Python source and in the stub beside it.

    shop/cart.py    class Cart: ...      what runs
    shop/cart.pyi   class Cart: ...      what a type checker reads

To a server these are two symbols: uses in other files are those of the stub, uses in the source
itself those of the source. Whoever asks about one means both. The stub of a package may declare
what the source beside it only imports, from where the symbol is defined:

    shop/__init__.py    from shop._cart import Cart
    shop/__init__.pyi   class Cart: ...
"""

import os
from collections.abc import Iterator, Sequence

from sightline.contract.source import RawSymbol, SourceFile
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Range
from sightline.lsp.asking import questions
from sightline.lsp.asking.members import code_places
from sightline.lsp.coverage.source_texts import SourceTexts, word
from sightline.lsp.server.server import Server

__all__ = ["twins_at"]

#: So many stubs are looked at.
_MOST_STUBS = 4

#: A symbol with the names of those around it.
Name = tuple[str, ...]


async def twins_at(
    server: Server, place: Location, texts: SourceTexts | None = None
) -> list[tuple[SourceFile, Range]]:
    """The symbol that is declared at a place, and the same in the stub or source beside it, or in
    the stub of a package that imports it.

    Nothing where there is no such file, or not the same symbol in it.
    """
    path = path_in(place.uri)
    if not path.endswith((".py", ".pyi")):
        return []
    beside = _read(server, path[:-1] if path.endswith("i") else f"{path}i")
    stubs = await _stubs_with(texts, place) if texts is not None else []
    own = server.launch.read(path) if beside is not None or stubs else None
    if own is None:
        return []
    here = _named(await questions.document_symbols(server, *own))
    start = place.range.start
    name, span = next((each for each in here if each[1].start == start), ((), place.range))
    found: list[tuple[SourceFile, Range]] = []
    if beside is not None:
        twin = await _symbol(server, beside, name)
        if twin is not None:
            found.append((beside[0], twin))
        elif texts is not None and name and path.endswith("i"):
            found += await _imported(server, texts, path[:-1], name)
    if found or not name or texts is None:
        return [(own[0], span), *found] if found else []
    for stub in stubs:
        # The stub is one of this symbol, if what the source beside it imports leads here.
        led = await _imported(server, texts, stub[:-1], name)
        read = _read(server, stub) if any(file.path == path for file, _ in led) else None
        twin = await _symbol(server, read, name) if read is not None else None
        if read is not None and twin is not None:
            found.append((read[0], twin))
    return [(own[0], span), *found] if found else []


async def _stubs_with(texts: SourceTexts, place: Location) -> list[str]:
    """The stubs that have the name at a place, but for that of its own file."""
    path = path_in(place.uri)
    name = texts.name_at(path, place.range.start) if path.endswith(".py") else b""
    hits = await texts.find(word(name.decode())) if name else None
    stubs = (stub for stub in hits or () if stub.endswith(".pyi") and stub[:-1] in texts)
    return [stub for stub in stubs if stub[:-1] != path][:_MOST_STUBS]


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
    there = _named(await questions.document_symbols(server, *file))
    return next((span for other, span in there if other == name), None)


def _read(server: Server, path: str) -> tuple[SourceFile, str] | None:
    # Mostly there is none, which is found out soonest so.
    return server.launch.read(path) if os.path.lexists(path) else None


def _named(symbols: Sequence[RawSymbol], around: Name = ()) -> Iterator[tuple[Name, Range]]:
    for symbol in symbols:
        name = (*around, symbol.name)
        yield name, symbol.selection
        yield from _named(symbol.children, name)
