"""The same symbol in a Python source and in the stub beside it.

    shop/cart.py    class Cart: ...      what runs
    shop/cart.pyi   class Cart: ...      what a type checker reads

To a server these are two symbols: uses in other files are those of the stub, uses in the source
itself those of the source. Whoever asks about one means both.
"""

import os
from collections.abc import Iterator, Sequence

from sightline.contract.source import RawSymbol, SourceFile
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Range
from sightline.lsp.asking import questions
from sightline.lsp.server.server import Server

__all__ = ["twins_at"]

#: A symbol with the names of those around it.
Name = tuple[str, ...]


async def twins_at(server: Server, place: Location) -> list[tuple[SourceFile, Range]]:
    """The symbol that is declared at a place, and the same in the stub or source beside it.

    Nothing where there is no such file, or not the same symbol in it.
    """
    path = path_in(place.uri)
    if not path.endswith((".py", ".pyi")):
        return []
    beside = _read(server, path[:-1] if path.endswith("i") else f"{path}i")
    own = server.launch.read(path) if beside is not None else None
    if beside is None or own is None:
        return []
    here = _named(await questions.document_symbols(server, *own))
    start = place.range.start
    name, span = next((each for each in here if each[1].start == start), ((), place.range))
    there = _named(await questions.document_symbols(server, *beside))
    twin = next((span for other, span in there if other == name), None)
    return [(own[0], span), (beside[0], twin)] if twin is not None else []


def _read(server: Server, path: str) -> tuple[SourceFile, str] | None:
    # Mostly there is none, which is found out soonest so.
    return server.launch.read(path) if os.path.lexists(path) else None


def _named(symbols: Sequence[RawSymbol], around: Name = ()) -> Iterator[tuple[Name, Range]]:
    for symbol in symbols:
        name = (*around, symbol.name)
        yield name, symbol.selection
        yield from _named(symbol.children, name)
