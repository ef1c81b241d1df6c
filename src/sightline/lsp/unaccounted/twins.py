"""The same symbol in a Python source and in a stub.

    shop/cart.py        class Cart: ...                 what runs
    shop/cart.pyi       class Cart: ...                 what a type checker reads
    shop/__init__.py    from shop._cart import Cart     the stub of a package may declare
    shop/__init__.pyi   class Cart: ...                 what the package only imports

To a server these are several symbols; a question about one means all of them. They have the same
names around them; at most ``_MOST_STUBS`` stubs are asked about.
"""

from collections.abc import Callable, Sequence

from sightline.contract.texts import line_length_utf16
from sightline.contract.uris import path_in, uri_of
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking import questions
from sightline.lsp.server.server import Server
from sightline.text.code import PYTHON
from sightline.text.scopes import path_of
from sightline.text.sources import SourceTexts, offset_of, word

__all__ = ["with_twins"]

_MOST_STUBS = 48
_PYTHON = "python"
_START = Position(0, 0)

Names = tuple[str, ...]


async def with_twins(
    server: Server,
    texts: SourceTexts,
    definitions: Sequence[Location],
    text_of: Callable[[str], bytes],
) -> list[Location]:
    """The definitions of a symbol of Python, and those of the same symbol in stubs or sources."""
    found = list(definitions)
    if not any(path.endswith(".pyi") for path in texts.paths()):
        return found
    for place in definitions:
        path = path_in(place.uri)
        beside = path[:-1] if path.endswith(".pyi") else f"{path}i"
        if place.range.start == place.range.end:  # a module
            if beside in texts:
                found.append(Location(uri_of(beside), Range(_START, _START)))
            continue
        text = text_of(place.uri)
        names = path_of(_PYTHON, text, offset_of(text, place.range.start))
        twins = _declared(texts, beside, names) if names and beside in texts else []
        if not twins and names and path.endswith(".pyi"):
            files = await _led(server, texts, [path[:-1]], names[0])
            twins = [each for file in files[0] for each in _declared(texts, file, names)]
        elif not twins and names:
            twins = await _in_stubs(server, texts, path, names)
        found += [each for each in twins if each not in found]
    return found


def _declared(texts: SourceTexts, path: str, names: Names) -> list[Location]:
    """Where a file declares what has these names around it, first."""
    if path not in texts:
        return []
    text = texts.text(path)
    for start in _in_code(texts, path, word(names[-1]).starts(text)):
        if path_of(_PYTHON, text, start) == names:
            at = texts.position(path, start)
            end = Position(at.line, at.character + line_length_utf16(names[-1]))
            return [Location(uri_of(path), Range(at, end))]
    return []


def _in_code(texts: SourceTexts, path: str, starts: Sequence[int]) -> list[int]:
    return [start for start in starts if start not in texts.spans(path, PYTHON)]


async def _in_stubs(server: Server, texts: SourceTexts, path: str, names: Names) -> list[Location]:
    """The stubs that declare a symbol which the sources beside them import from its file."""
    hits = await texts.find(word(names[0])) or {}
    stubs = [
        (stub, there)
        for stub in sorted(hits)
        if stub.endswith(".pyi") and stub[:-1] in hits and stub[:-1] != path
        for there in _declared(texts, stub, names)
    ][:_MOST_STUBS]
    led = await _led(server, texts, [stub[:-1] for stub, _ in stubs], names[0])
    return [there for (_, there), files in zip(stubs, led, strict=True) if path in files]


async def _led(
    server: Server, texts: SourceTexts, sources: Sequence[str], name: str
) -> list[set[str]]:
    """The files that a name in each of some sources leads to."""
    asked = [
        (source, texts.position(source, start))
        for source in sources
        for start in _in_code(texts, source, word(name).starts(texts.text(source)))[:1]
    ]
    told = await questions.definitions_unopened(server, asked)
    led = {
        path: {path_in(each.uri) for each in found}
        for (path, _), found in zip(asked, told, strict=True)
    }
    return [led.get(source, set()) for source in sources]
