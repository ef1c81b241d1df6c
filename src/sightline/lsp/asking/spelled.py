"""Whether a name stands anywhere that an answer does not account for.

What may keep a server from finding uses is said with its answer: packages that are not installed,
imports that it does not resolve, files that it leaves out. In a fresh clone that holds for every
name, and a sentence that comes with every answer is soon read by nobody. But a use spells the name
or imports it by that name. So where a name stands nowhere else, nothing can be missing, whatever
stands in the way; and in Python neither where the server knows that each place is something else.

It is never concluded that a place is a use, only that there is none.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from sightline.contract.texts import column_of
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.asking.members import can_be_asked, code_places, is_local
from sightline.lsp.asking.unknown_names import is_imported
from sightline.lsp.server.server import Server
from sightline.text.sources import Hits, SourceTexts, word

__all__ = ["Accounted", "Known", "Spelled", "account", "look_for"]

#: Of so many places it is told whether they are code, and so many are asked about.
_MOST_READ = 500
_MOST_ASKED = 48
#: So many are asked about side by side: one that may be a use is enough, and mostly comes early.
_AT_ONCE = 8
#: So many lines before that of a place may say that it is exported under another name.
_BEFORE = 2
#: What is imported without its name, or by another one.
_NAMELESS = re.compile(rb"\bexport\s+default\b|\bas\s+default\b|\bexports\b|\bexport\s*=")
#: What is declared where it is exported without its name: nothing that stands behind it is that.
_DECLARED = re.compile(
    rb"\bexport\s+default\s+(?:(?:async\s+)?function\b\s*\*?|(?:abstract\s+)?class\b)\s*([\w$]*)"
)
#: What stands where something without a name begins.
_WITHOUT_NAME = (b"", b"abstract", b"async", b"class", b"default", b"export", b"function")
#: A line that is a comment for sure. What else looks like one may be part of an expression.
_COMMENT = re.compile(rb"[ \t]*(?://|\*[ \t/]|/\*(?!.*\*/))")

Place = tuple[str, Position]


class Known(NamedTuple):
    """What a server told of a name: where it is declared, and every place of it."""

    definitions: Sequence[Location] = ()
    places: Sequence[Location] = ()
    #: Whether it belongs to a class or an object, which others may have their own of.
    member: bool = False


class Accounted(NamedTuple):
    #: Whoever uses it has to spell it.
    has_name: bool = False
    #: The name stands at the known places only.
    nowhere_else: bool = False
    #: Elsewhere it is known for something else.
    only_others: bool = False


#: Texts, and where a name stands in them.
Spelled = Sequence[tuple[SourceTexts, Hits]]


async def look_for(language: str, name: str, searched: Sequence[SourceTexts]) -> Spelled | None:
    """Where a name stands; ``None`` if that is not known, or does not tell where it is used."""
    if not _has_to_be_spelled(language, name):
        return None
    found: list[tuple[SourceTexts, Hits]] = []
    for texts in searched:
        hits = await texts.find(word(name))
        if hits is None or texts.unread:
            return None
        found.append((texts, hits))
    return found


async def account(language: str, known: Known, found: Spelled, server: Server | None) -> Accounted:
    """What is known of the places of a name in these texts; a server can be asked about them."""
    places = {*known.places, *known.definitions}
    starts = {(path_in(place.uri), place.range.start) for place in places}
    at: dict[str, set[Position]] = {}
    for path, start in starts:
        at.setdefault(path, set()).add(start)
    searched = [texts for texts, _ in found]
    if language == "python" and _is_local(known.definitions, searched):
        return Accounted(has_name=True, nowhere_else=True, only_others=True)
    if language != "python" and _is_nameless(starts, searched):
        return Accounted()
    if _has_other_names(places, searched):
        return Accounted()
    if sum(len(each) for _, hits in found for each in hits.values()) > _MOST_READ + len(starts):
        return Accounted(has_name=True)
    asked = (
        server is not None
        and language == "python"  # elsewhere a name may be taken out of a value of unknown type
        and not known.member
        and server.spec.unknown_members == "definition"
    )
    others = (
        (path, place)
        for texts, hits in found
        for path in sorted(hits)
        for place in _uses(language, texts, path, hits[path], at.get(path, ()))
    )
    # Where nobody is asked, one is as many as any other number.
    rest = list(islice(others, _MOST_ASKED + 1 if asked else 1))
    if not rest:
        return Accounted(has_name=True, nowhere_else=True, only_others=True)
    if server is None or not asked or len(rest) > _MOST_ASKED:
        return Accounted(has_name=True)
    return Accounted(has_name=True, only_others=await _are_others(server, searched[0], rest, known))


def _is_local(definitions: Sequence[Location], searched: Sequence[SourceTexts]) -> bool:
    """Whether what is defined at these places belongs to functions, and nobody else can name it."""
    texts = {place.uri: _text(path_in(place.uri), searched) for place in definitions}
    return bool(texts) and all(
        is_local(texts[place.uri].decode("utf-8", "replace"), place.range.start)
        for place in definitions
    )


async def _are_others(
    server: Server, texts: SourceTexts, places: Sequence[Place], known: Known
) -> bool:
    """Whether a server knows each of these places for something that is defined here elsewhere."""
    own = {*known.definitions, *known.places}

    def text_of(uri: str) -> str:
        return texts.text(path_in(uri)).decode("utf-8", "replace")

    if not all(can_be_asked(server, path) for path in {path for path, _ in places}):
        return False
    for first in range(0, len(places), _AT_ONCE):
        some = places[first : first + _AT_ONCE]
        for found in await questions.definitions_unopened(server, some):
            # What is installed may be a copy of what was asked about.
            inside = all(path_in(place.uri) in texts for place in found)
            if not found or not inside or not own.isdisjoint(found):
                return False
            if any(is_imported("python", each, text_of) for each in found):
                return False
    return True


def _uses(
    language: str,
    texts: SourceTexts,
    path: str,
    starts: Iterable[int],
    known: Collection[Position],
) -> Iterable[Position]:
    """The places at which a use may stand, but for those that are known."""
    if language == "python":
        return code_places(language, texts, path, starts, known)
    text = texts.text(path)
    lines = ((start, text.rfind(b"\n", 0, start) + 1) for start in starts)
    some = (start for start, line in lines if not _COMMENT.match(text, line))
    return code_places("", texts, path, some, known)


def _has_to_be_spelled(language: str, name: str) -> bool:
    """Whether uses of what has this name have it, too: Python calls some methods by itself."""
    if not name.isascii() or not name.replace("$", "_").isidentifier():
        return False
    if language == "python":
        return not (name.startswith("__") and name.endswith("__"))
    return name != "constructor"


def _is_nameless(places: Iterable[Place], searched: Sequence[SourceTexts]) -> bool:
    """Whether something at these places is exported so that others give it a name."""
    lines: dict[str, list[bytes]] = {}
    for path, place in places:
        text = lines.setdefault(path, _text(path, searched).split(b"\n"))
        if place.line >= len(text):
            continue
        line = text[place.line].decode("utf-8", "replace")
        name = re.match(r"[\w$]*", line[column_of(line, place.character) :])
        around = b"\n".join(text[max(0, place.line - _BEFORE) : place.line + 1])
        own = name[0].encode() if name is not None else b""
        declared = {found[1] for found in _DECLARED.finditer(around)}
        if own not in _WITHOUT_NAME and own not in declared:
            around = _DECLARED.sub(b"", around)
        if _NAMELESS.search(around):
            return True
    return False


def _has_other_names(places: Iterable[Location], searched: Sequence[SourceTexts]) -> bool:
    """Whether what is known stands under several names: others may use it by any of them."""
    names: set[str] = set()
    texts: dict[str, list[bytes]] = {}
    for place in places:
        if place.uri not in texts:
            texts[place.uri] = _text(path_in(place.uri), searched).split(b"\n")
        lines, start, end = texts[place.uri], place.range.start, place.range.end
        if start.line == end.line and start.line < len(lines):
            line = lines[start.line].decode("utf-8", "replace")
            name = line[column_of(line, start.character) : column_of(line, end.character)]
            names.add(name.strip("'\"`"))
    return len(names) > 1


def _text(path: str, searched: Sequence[SourceTexts]) -> bytes:
    return next((texts.text(path) for texts in searched if path in texts), b"")
