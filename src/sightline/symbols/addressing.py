"""From an address to the symbols it names: up to three are answered, more are listed.

What the declarations of the project do not tell (what a name on a line means, where a base class
is, whether two declarations are one symbol) is asked of the answer source.
"""

import asyncio
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from sightline.contract.failures import Failure, InvalidArguments, NotFound, Unavailable
from sightline.contract.source import Source
from sightline.contract.texts import column_of, line_length_utf16
from sightline.contract.uris import normalise, path_in, uri_of
from sightline.contract.values import Position
from sightline.index.cutting.declarations import Declaration
from sightline.symbols.addresses import Address, parse
from sightline.symbols.bases import bases_of
from sightline.symbols.files import Files
from sightline.symbols.merging import merged
from sightline.symbols.near import near
from sightline.symbols.sources import Sources
from sightline.symbols.symbol import Symbol, module_of
from sightline.text.scopes import is_prose

__all__ = ["ANSWERED", "Named", "Resolver"]

#: So many symbols that share an address are answered; more are listed.
ANSWERED = 3
_LISTED = 20
_MOST_BASES = 24
_TOO_MUCH = "there is too much text here to look for names; name a place, as path:line:name"
_WORD = re.compile(r"[^\W\d][\w$]*")


class Named(Struct, frozen=True):
    """What an address names."""

    symbols: tuple[Symbol, ...] = ()
    #: The addresses of the others that it could mean.
    others: tuple[str, ...] = ()
    #: How many there are in all.
    count: int = 0
    #: The file that it names, or the folder, where it names no symbol.
    path: str = ""


class Resolver:
    def __init__(self, files: Files, source: Source, sources: Sources) -> None:
        self.files = files
        self.source = source
        self.sources = sources

    async def resolve(self, text: str) -> Named:
        """Raises ``NotFound`` with addresses to paste where there is no such thing."""
        address = parse(text)
        if not address.path and not address.parts:
            raise InvalidArguments("of names nothing; pass a name such as Cart.add")
        found = await (self._of_path(text, address) if address.path else self._of_words(address))
        if isinstance(found, str):
            return Named(path=found, count=1)
        found = await merged(self.source, self.files, found)
        if not found:
            raise NotFound(await self._nothing(text, address))
        others = tuple(each.address for each in found[ANSWERED : ANSWERED + _LISTED])
        return Named(tuple(found[:ANSWERED]), others, len(found))

    async def _of_path(self, text: str, address: Address) -> list[Symbol] | str:
        """What is named in a file; or the file, or folder, where nothing more is said."""
        paths = await self._paths(address.path)
        is_whole = not address.parts and address.line is None
        if not paths and is_whole and "/" not in text:  # a name that looks like one of a file
            found = await self._by_name(tuple(text.split(".")))
            if found:
                return found
        if not paths:
            raise NotFound(await self._no_file(text, address))
        if is_whole:
            return _only(text, [self.files.shown(path) for path in paths], paths)
        return [each for path in paths for each in await self._in_file(path, address)]

    async def _of_words(self, address: Address) -> list[Symbol] | str:
        """What is called so; else the folder, or the module, of this name."""
        found = await self._by_name(address.parts)
        if not found:
            paths = await self._paths("/".join(address.parts))
            if len(paths) == 1:
                return paths[0]
        return found

    # By name

    async def _by_name(self, parts: Sequence[str]) -> list[Symbol]:
        candidates = await self._declaring(parts[-1])
        for fits in (_ends_with, _is_along):
            fitting = [each for each in candidates if fits(self._full(*each), parts)]
            if fitting:
                return [self.files.symbol(*each) for each in self._ordered(fitting)]
        return await self._of_owner(parts) if len(parts) > 1 else []

    async def _declaring(self, name: str) -> list[tuple[str, Declaration]]:
        """Every declaration of a name, by path."""
        hits = await asyncio.to_thread(self.sources.having, name)
        if hits is None:
            raise Unavailable(_TOO_MUCH)
        found: dict[tuple[str, Declaration], None] = {}
        for hit in hits:
            declared = [each for each in hit.declarations if each.name == name]
            # What a link leads to counts once, and not at all outside of the roots.
            uri = self.files.view.gate.shown_uri(uri_of(hit.path)) if declared else None
            if uri is not None:
                found |= dict.fromkeys((path_in(uri), each) for each in declared)
        return list(found)

    def _full(self, path: str, declared: Declaration) -> tuple[str, ...]:
        around = declared.container.split(".") if declared.container else []
        return (*module_of(self.files.shown(path)), *around, declared.name)

    def _ordered(self, found: Iterable[tuple[str, Declaration]]) -> list[tuple[str, Declaration]]:
        """Own code before tests, outer declarations before inner ones, then by place."""

        def rank(each: tuple[str, Declaration]) -> tuple[bool, int, str, int]:
            path, declared = each
            depth = declared.container.count(".") + bool(declared.container)
            return self.files.is_test(path), depth, self.files.shown(path), declared.line

        return sorted(found, key=rank)

    async def _of_owner(self, parts: Sequence[str]) -> list[Symbol]:
        """A member that the class itself does not declare: an attribute, or one of a base class."""
        owners = await self._by_name(parts[:-1])
        found: list[Symbol] = []
        for owner in owners[:ANSWERED]:
            member = await self._member(owner, parts[-1])
            if member is not None:
                found.append(member)
        return found

    async def _member(self, owner: Symbol, name: str) -> Symbol | None:
        """Breadth first, as far as the classes of the workspace go."""
        waiting, seen = [owner], set[str]()
        while waiting and len(seen) < _MOST_BASES:
            around = waiting.pop(0)
            if around.address in seen:
                continue
            seen.add(around.address)
            found = await self._own_member(around, name)
            if found is not None:
                return found if around is owner else _inherited(found, owner)
            waiting += await self._bases(around)
        return None

    async def _own_member(self, owner: Symbol, name: str) -> Symbol | None:
        """What a class declares, or what its methods set of themselves."""
        container = f"{owner.container}.{owner.name}" if owner.container else owner.name
        for each in self.files.declared(owner.path):
            if each.name == name and each.container == container:
                return self.files.symbol(owner.path, each)
        pattern = re.compile(rf"\b(?:self|this|cls)\.({re.escape(name)})\b")
        for number in range(owner.first, owner.last + 1):
            line = self.files.line(owner.path, number).decode("utf-8", "replace")
            match = pattern.search(line)
            if match is None:
                continue
            position = Position(number, line_length_utf16(line[: match.start(1)]))
            if self._is_prose(owner.path, position):
                continue
            # Where it is first set, which may be elsewhere: a parameter of the constructor.
            meant = await self._meant(owner.path, position)
            if not meant or meant[0].path == owner.path:
                at = meant[0].position if meant else position
                here = Declaration(
                    name, "attribute", container, at.line, at.character, *[at.line] * 2
                )
                return self.files.symbol(owner.path, here)
            return meant[0]
        return None

    async def _bases(self, owner: Symbol) -> list[Symbol]:
        grammar = self.files.grammar(owner.path)
        text = self.files.text(owner.path)
        found: list[Symbol] = []
        for position in bases_of(grammar, text, owner.position):
            found += await self._meant(owner.path, position)
        return found

    # By place

    async def _in_file(self, path: str, address: Address) -> list[Symbol]:
        if address.line is None:
            declared = self.files.declared(path)
            fitting = [
                (path, each)
                for each in declared
                if _ends_with(self._full(path, each), address.parts)
            ]
            if fitting or len(address.parts) < 2:
                return [self.files.symbol(*each) for each in self._ordered(fitting)]
            owners = await self._in_file(path, Address(path, address.parts[:-1]))
            members = [await self._member(owner, address.parts[-1]) for owner in owners]
            return [member for member in members if member is not None]
        lines = self.files.lines(path)
        if address.line >= len(lines):
            raise NotFound(f"{self.files.shown(path)} has {len(lines)} lines; lines count from 1")
        text = lines[address.line].decode("utf-8", "replace")
        if not address.parts and address.column is None:
            begins = [each for each in self.files.declared(path) if each.line == address.line]
            begins = begins or [
                each for each in self.files.declared(path) if each.first == address.line
            ]
            if begins:
                outer = min(begins, key=lambda each: each.column)
                return [self.files.symbol(path, outer)]
        return await self._on_line(path, address, text)

    async def _on_line(self, path: str, address: Address, text: str) -> list[Symbol]:
        """What the names of a line mean: one of them, or all of its code."""
        found: list[Symbol] = []
        seen: set[str] = set()
        for match in _WORD.finditer(text):
            if address.parts and match[0] != address.parts[0]:
                continue
            if address.column is not None and not match.start() <= address.column <= match.end():
                continue
            assert address.line is not None
            position = Position(address.line, line_length_utf16(text[: match.start()]))
            if match[0] in seen or self._is_prose(path, position):
                continue
            seen.add(match[0])
            meant = await self._meant(path, position)
            alone = address.parts or address.column is not None
            if not meant and alone:
                meant = [self._nameless(path, position, match[0])]
            found += [each for each in meant if each not in found]
        return found

    def _is_prose(self, path: str, position: Position) -> bool:
        grammar = self.files.grammar(path)
        return bool(grammar) and is_prose(
            grammar, self.files.text(path), self.files.offset(path, position)
        )

    async def _meant(self, path: str, position: Position) -> list[Symbol]:
        """The symbol that is named at a place, by its definition."""
        own = self._declared_at(path, position)
        if own is not None:
            return [own]
        found: list[Symbol] = []
        wanted = _name_at(self.files.line(path, position.line), position.character)
        with suppress(Unavailable):
            told = await self.source.definition(self.files.document(path), position)
            for place in told.items:
                uri = self.files.view.gate.shown_uri(place.uri)
                if uri is None:
                    continue
                at = path_in(uri)
                start = self.files.named_from(at, place.range.start, wanted)
                symbol = self._declared_at(at, start)
                if symbol is None:
                    # A module begins with another name than its own.
                    is_there = _name_at(self.files.line(at, start.line), start.character) == wanted
                    symbol = self._local(at, start, wanted) if is_there else None
                symbol = symbol or self._nameless(path, position, wanted)
                if symbol not in found:
                    found.append(symbol)
        return found

    def _declared_at(self, path: str, position: Position) -> Symbol | None:
        for each in self.files.declared(path):
            if each.line == position.line and (
                each.column <= position.character <= each.column + line_length_utf16(each.name)
            ):
                return self.files.symbol(path, each)
        return None

    def _local(self, path: str, position: Position, name: str) -> Symbol:
        """A name that a function has for itself."""
        around = self.files.around(path, position.line)
        return self._made(path, position, name, "local", "" if around == "-" else around)

    def _nameless(self, path: str, position: Position, name: str) -> Symbol:
        """A name whose declaration is not in the workspace, at the place that was asked about."""
        found = self._made(path, position, name, "name", "")
        return replace(found, qualified=name, signature="")

    def _made(self, path: str, position: Position, name: str, kind: str, container: str) -> Symbol:
        line, column = position.line, position.character
        return self.files.symbol(path, Declaration(name, kind, container, line, column, line, line))

    # Files

    async def _paths(self, path: str) -> list[str]:
        """The files or the folder of a path: as it is, from a root, or by how it ends."""
        gate = self.files.view.gate
        found: list[str] = []
        is_absolute = path.startswith("/")
        places = [path] if is_absolute else [f"{root.given}/{path}" for root in gate.roots.roots]
        for place in places:
            with suppress(Failure):
                found.append(gate.admit_path(normalise(place)).path)
        if found or is_absolute:
            return sorted(set(found))
        known = await asyncio.to_thread(self.sources.paths)
        end = "/" + path.removeprefix("./")
        return [each for each in known if each.endswith(end)]

    async def _no_file(self, text: str, address: Address) -> str:
        """What to say of a file that is not there: where the name is, or files of the same name."""
        base = address.path.rstrip("/").rpartition("/")[2]
        known = await asyncio.to_thread(self.sources.paths)
        rest = text[text.find(address.path) + len(address.path) :]
        moved = [each for each in known if each.endswith("/" + base)]
        shown = [self.files.shown(each) + rest for each in moved]
        if address.parts and address.line is None:
            shown += [each.address for each in await self._by_name(address.parts[-1:])]
        return _missing(f"there is no file {address.path} in the workspace", shown)

    async def _nothing(self, text: str, address: Address) -> str:
        if address.line is not None:
            shown = self.files.shown((await self._paths(address.path))[0])
            return (
                f"no symbol is named at {shown}:{address.line + 1}; "
                "pass path:line:name with a name of that line, or the name alone"
            )
        found = [each.address for each in await self._by_name(address.parts[-1:])]
        if len(found) < 5:
            names = await asyncio.to_thread(near, self.sources, address.parts[-1])
            for name in names:
                found += [each.address for each in await self._by_name((name,))]
        # The same class first: most often it is the last part that is spelled wrong.
        around = f"{'.'.join(address.parts[:-1])}."
        found.sort(key=lambda each: f"::{around}" not in each and f".{around}" not in each)
        return _missing(f"no symbol is called {text.strip()}", found)


def _ends_with(full: Sequence[str], parts: Sequence[str]) -> bool:
    return tuple(full[-len(parts) :]) == tuple(parts)


def _is_along(full: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the parts come in this order, the last one last: a package may pass names on."""
    rest = iter(full[:-1])
    return full[-1] == parts[-1] and all(part in rest for part in parts[:-1])


def _inherited(found: Symbol, owner: Symbol) -> Symbol:
    return replace(found, note=f"inherited by {owner.qualified}")


def _name_at(line: bytes, character: int) -> str:
    text = line.decode("utf-8", "replace")
    match = _WORD.match(text, column_of(text, character))
    return match[0] if match is not None else ""


def _only(text: str, shown: Sequence[str], paths: Sequence[str]) -> str:
    if len(paths) == 1:
        return paths[0]
    raise NotFound(_missing(f"{text} is the end of {len(paths)} paths", shown))


def _missing(cause: str, addresses: Sequence[str]) -> str:
    unique = list(dict.fromkeys(addresses))[:5]
    if not unique:
        return f"{cause}; check the spelling, or pass path:line:name"
    return "\n".join([f"{cause}; did you mean", *(f"  {each}" for each in unique)])
