"""Every declaration of a name, as the index knows them: real ones before those of tests."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

from sightline.index.building.builder import Progress
from sightline.index.cutting.chunks import Chunk, Symbol
from sightline.index.index import Index, Seen
from sightline.index.reading.roles import Role
from sightline.index.searching.filters import Filters, Scope, split_name, symbols_named
from sightline.index.searching.nearby import closest, near_names
from sightline.index.searching.results import Records
from sightline.index.storage.segment import term_key
from sightline.index.terms.words import compact
from sightline.symbols.addresses import parse
from sightline.symbols.symbol import module_of

__all__ = ["Declared", "Found", "declared"]

#: Kinds that a name is seldom asked for.
_SMALL = frozenset("field key property variable constant section text".split())
_ORDER = (
    Role.SOURCE,
    Role.CONFIG,
    Role.EXAMPLE,
    Role.TEST,
    Role.DOCS,
    Role.GENERATED,
    Role.VENDORED,
)


class Declared(NamedTuple):
    """Where a name is declared, and as what. Lines and columns count from 0."""

    real: str
    name: str
    kind: str
    container: str
    line: int
    column: int
    end_line: int
    role: Role
    #: Whether its lines are its own. A prototype stands among others.
    own: bool

    @property
    def rank(self) -> tuple[int, bool, bool, str, int, int]:
        place = (self.real, self.line, self.column)
        return (_ORDER.index(self.role), self.kind in _SMALL, not self.own, *place)


class Found(NamedTuple):
    #: The name that was looked for, without those around it.
    name: str
    declared: Sequence[Declared]
    #: Names that are spelled nearly so, where there is none.
    near: Sequence[str] = ()
    #: How many files are not indexed.
    skipped: int = 0
    #: Whether no indexed file passes the globs.
    fileless: bool = False


async def declared(index: Index, text: str, globs: Sequence[str], progress: Progress) -> Found:
    """The declarations of a name, or of one within others: ``Cart.add``, ``shop.cart.Cart.add``,
    ``shop/cart.py::Cart.add``. Where none is spelled so, those in another case.
    """
    address = parse(text)
    name = ".".join(address.parts) or text
    path = address.path if address.parts else ""
    return await index.look(partial(_look, index, name, path, tuple(globs)), progress)


def _look(
    index: Index, name: str, path: str, globs: tuple[str, ...], roots: Sequence[Seen]
) -> Found:
    last, skipped = split_name(name)[-1], 0
    scopes: list[tuple[Seen, Scope]] = []
    for seen in roots:
        inner = index.inner_roots(seen.root)
        skipped += seen.snapshot.left_out_without(inner)
        scopes.append((seen, Scope(seen.snapshot, index.lookup, Filters(globs), inner)))
    for exact in (True, False):
        found = {
            each for seen, scope in scopes for each in _in_root(index, seen, scope, name, exact)
        }
        if found:
            return Found(last, sorted(found, key=lambda each: each.rank), skipped=skipped)
    alike = {
        near
        for seen, scope in scopes
        for near in near_names(seen.snapshot, index.lookup, Records(seen.snapshot), scope, last)
    }
    fileless = not any(scope.files.any() for _, scope in scopes)
    return Found(last, (), closest(last, alike), skipped, fileless)


def _in_root(index: Index, seen: Seen, scope: Scope, name: str, exact: bool) -> Iterator[Declared]:
    *outer, last = split_name(name)
    snapshot, records = seen.snapshot, Records(seen.snapshot)
    key = term_key("s" + last if exact else "l" + compact(last))
    for number in index.lookup.terms(snapshot, key).chunks.tolist():
        if not scope.chunks[number]:
            continue
        file, _ = records.place(number)
        path, chunk = snapshot.path(file), records.chunk(number)
        for symbol, container in symbols_named(chunk, last, exact=exact):
            if _within(outer, path, container):
                role = Role(int(snapshot.roles[file]))
                yield _declared(f"{seen.root.real}/{path}", chunk, symbol, container, role)


def _within(outer: Sequence[str], path: str, container: str) -> bool:
    """Whether a declaration in a file lies within some names, outermost first.

    >>> _within(["shop", "cart", "Cart"], "src/shop/cart.py", "Cart")
    True
    >>> _within(["cart", "shop"], "src/shop/cart.py", "")
    False
    """
    if not outer:
        return True
    around = (*module_of(path), *container.replace(" > ", ".").split("."))
    names = [name.lower() for name in around if name]
    return names[-len(outer) :] == [name.lower() for name in outer]


def _declared(real: str, chunk: Chunk, symbol: Symbol, container: str, role: Role) -> Declared:
    own = symbol.name == chunk.name and symbol is chunk.symbols[0]
    return Declared(
        real,
        symbol.name,
        symbol.kind,
        container,
        symbol.line,
        symbol.column,
        symbol.end_line,
        role,
        own,
    )
