"""Which declarations are one symbol: overloads, a prototype and its definition, merged
declarations, a stub and its source.

In one file the same name in the same container is one symbol. Across files the answer source says
so: the definition of one leads to the other.
"""

from collections.abc import Sequence
from contextlib import suppress

from msgspec.structs import replace

from sightline.contract.failures import Unavailable
from sightline.contract.source import Source
from sightline.contract.uris import path_in
from sightline.symbols.files import Files
from sightline.symbols.symbol import Symbol

__all__ = ["merged", "merged_in_files"]

#: More candidates are not compared with each other: the name says too little.
_MOST = 8


async def merged(source: Source, files: Files, found: Sequence[Symbol]) -> list[Symbol]:
    """The symbols, each once, in their order. The longest declaration stands for a symbol."""
    symbols = _by_container(found)
    if 1 < len(symbols) <= _MOST:
        symbols = await _joined(source, files, symbols)
    return [_one(group) for group in symbols]


def merged_in_files(found: Sequence[Symbol]) -> list[Symbol]:
    """The same as far as it can be told without a source."""
    by_place = (
        sorted(group, key=lambda each: each.position.line) for group in _by_container(found)
    )
    return [_one(group) for group in by_place]


def _by_container(found: Sequence[Symbol]) -> list[list[Symbol]]:
    groups: dict[tuple[str, str, str], list[Symbol]] = {}
    for each in found:
        groups.setdefault((each.path, each.container, each.name), []).append(each)
    return list(groups.values())


async def _joined(
    source: Source, files: Files, groups: Sequence[list[Symbol]]
) -> list[list[Symbol]]:
    """Groups of which one leads to the other are one."""
    joined: list[list[Symbol]] = []
    places: list[set[tuple[str, int]]] = []
    for group in groups:
        own = {(each.path, each.position.line) for each in group}
        leads = set(own)
        same = [other for other in groups if other is not group and other[0].name == group[0].name]
        if any(other[0].container == group[0].container for other in same):
            leads |= await _leads(source, files, group[-1])
        for place, known in enumerate(joined):
            if known[0].container == group[0].container and places[place] & leads:
                joined[place] = [*known, *group]
                places[place] |= leads
                break
        else:
            joined.append(list(group))
            places.append(leads)
    return joined


async def _leads(source: Source, files: Files, symbol: Symbol) -> set[tuple[str, int]]:
    with suppress(Unavailable):
        told = await source.definition(files.document(symbol.path), symbol.position)
        return {(path_in(place.uri), place.range.start.line) for place in told.items}
    return set()


def _one(group: Sequence[Symbol]) -> Symbol:
    """The declaration with the most lines, of equals the last, and where the others are."""
    main = max(group, key=lambda each: (each.last - each.first, each.path == group[0].path))
    main = next(
        each for each in reversed(group) if each.last - each.first == main.last - main.first
    )
    also = tuple(each for each in group if each is not main)
    return replace(main, also=also) if also else main
