"""Names of types in quotes that pyright does not count: those outside of annotations.

    T = TypeVar("T", bound="Port")
    Filter = Callable[["Port"], bool]
    port = cast("Port", value)

Each of them may be another symbol of that name, so it is said, and never taken for a reference.
"""

import asyncio
import re
from collections.abc import Iterator, Sequence

from sightline.contract.possessive import possessive
from sightline.contract.texts import line_length_utf16, listed_paths
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.text.code import PYTHON
from sightline.text.sources import Hits, SourceTexts, numbered, word

__all__ = ["TOO_MUCH", "quoted"]

#: So many files are named in a sentence, if their names are plain.
_NAMED = 3
#: So many places are looked at besides those that were found.
_MOST_LOOKED_AT = 20_000
TOO_MUCH = "Names in quotes are too many to look through; uses there may be missing."
#: So much is looked at before a place, and a text that names types is no longer.
_MOST_BEFORE, _LONGEST = 400, 200
#: A text in one line that names types, and nothing else.
_TYPES = re.compile(possessive(rb"(['\"])[\w.\[\], |]++\1"))
#: A text, or one character that is in none.
_PART = re.compile(possessive(rb"\"(?:[^\"\\\n]++|\\.)*+\"|'(?:[^'\\\n]++|\\.)*+'|[\s\S]"))
#: What is given types by their names.
_TAKES_TYPES = re.compile(rb"\b(cast|TypeVar|NewType)[ \t]*\Z")
#: What is a type with types in it, by its name. What has small letters is looked up by a key.
_GENERIC = re.compile(rb"\b(?!Literal\b)(?:[A-Z]\w*[a-z]\w*|list|dict|set|frozenset|tuple|type)\Z")


async def quoted(texts: SourceTexts, folder: str, name: str, found: Sequence[Location]) -> str:
    """What is to be said of a name that was asked about in a folder, and found at these places."""
    hits = await texts.find(word(name)) if name else {}
    if hits is None or sum(map(len, hits.values())) > _MOST_LOOKED_AT + len(found):
        return TOO_MUCH
    places = await asyncio.to_thread(_counts, texts, hits, found) if hits else {}
    if not places:
        return ""
    total = sum(places.values())
    count = "1 place" if total == 1 else f"{total:,} places"
    files = listed_paths([path[len(folder) + 1 :] for path in places], _NAMED)
    return f"{name} stands in quotes in {count}{files}; uses there are not counted."


def _counts(texts: SourceTexts, hits: Hits, found: Sequence[Location]) -> dict[str, int]:
    """In how many places of each file the name is used and was not found, in a thread."""
    known = {(path_in(place.uri), place.range.start) for place in found}
    counts: dict[str, int] = {}
    for path in sorted(hits):
        text = texts.text(path)
        maybe = [
            (start, quote)
            for start in hits[path]
            if (quote := _quote_of(text, start)) >= 0 and _names_type(text, quote)
        ]
        if not maybe:
            continue
        spans = texts.spans(path, PYTHON)
        # The quote begins a text, and is in no other one and no comment.
        used = [start for start, quote in maybe if quote in spans and quote - 1 not in spans]
        placed = (_place(text, start, line) for start, line in numbered(text, used))
        if count := sum((path, place) not in known for place in placed):
            counts[path] = count
    return counts


def _quote_of(text: bytes, start: int) -> int:
    """The quote before a place in its line that begins a text of nothing but types, or -1."""
    nearest = max(0, start - _LONGEST)
    nearest = max(nearest, text.rfind(b"\n", nearest, start) + 1)
    quote = max(text.rfind(each, nearest, start) for each in (b'"', b"'"))
    return quote if quote >= 0 and _TYPES.match(text, quote) is not None else -1


def _names_type(text: bytes, quote: int) -> bool:
    """Whether a text stands for a type where no annotation is.

    >>> [_names_type(each, each.index(b'"')) for each in (b'cast("Port", x)', b'd["Port"]')]
    [True, False]
    """
    before = text[max(0, quote - _MOST_BEFORE) : quote]
    for bracket, at, comma in _open(before):
        opener = before[:at]
        if bracket == b"(":
            match = _TAKES_TYPES.search(opener)
            # What is cast comes second, what names itself comes first.
            return match is not None and comma != (match[1] == b"cast")
        if _GENERIC.search(opener) is not None:
            return True
        if opener.rstrip()[-1:] not in (b"[", b","):
            return False
    return False


def _open(text: bytes) -> Iterator[tuple[bytes, int, bool]]:
    """The brackets that are open at the end of a text, the last one first, each with where it is
    and whether a comma follows it.
    """
    opened: list[tuple[bytes, int, bool]] = []
    for match in _PART.finditer(text):
        part = match[0]
        if part in (b"(", b"[", b"{"):
            opened.append((part, match.start(), False))
        elif part in (b")", b"]", b"}") and opened:
            opened.pop()
        elif part == b"," and opened:
            opened[-1] = (*opened[-1][:2], True)
    yield from reversed(opened)


def _place(text: bytes, start: int, line: int) -> Position:
    before = text[text.rfind(b"\n", 0, start) + 1 : start].decode("utf-8", "replace")
    return Position(line, line_length_utf16(before))
