"""Uses of a parameter of a Python function as an argument that no server follows.

    @cached                      # which tells nothing of what it returns
    def load(path, strict): ...
    load("x", strict=True)
    thing.load("x", strict=True)          # of any type

Whether such an argument means the parameter is not known, so it is said, and never taken for a use.
Only calls of something that is called like the function are looked at: by its name, by one that an
import gives it, and for what makes objects by the name of the class or of one below that.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from sightline.contract.texts import column_of, line_length_utf16
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position, Range
from sightline.lsp.asking.members import Members, Place
from sightline.lsp.asking.named_fields import (
    BEFORE,
    CLOSING,
    GIVES,
    OPENING,
    OWN,
    Classes,
    called,
    classes_around,
    opening,
    place_of,
    said_of,
)
from sightline.lsp.server.server import Server
from sightline.text.code import PYTHON
from sightline.text.sources import Hits, SourceTexts, numbered, word
from sightline.text.spans import spans_of

__all__ = ["Owner", "note", "owners", "parameter", "search"]

#: What stands before the parameters of a function.
_DEF = re.compile(rb"\bdef[ \t]+(\w+)[ \t]*(?:\[[^\[\]]*\])?[ \t]*\Z")
#: What stands between the name of a function and its parameters.
_PARAMETERS = re.compile(rb"[ \t]*(?:\[[^\[\]]*\])?[ \t]*\(")
_AS = re.compile(rb"[ \t]+as[ \t]+(\w+)")
#: What has other names for things, and is no import.
_NO_IMPORT = re.compile(rb"[ \t]*(?:async[ \t]+with|case|except|with)\b")
_MAKERS = (b"__init__", b"__new__")
#: So much of a list of parameters is read, and so much before it.
_MOST_PARAMETERS, _MOST_HEAD = 16_000, 1_000


class Owner(NamedTuple):
    """A function, by where its parameter is declared."""

    name: bytes
    place: Place
    #: Where its own name stands in that file.
    stated: Position


def owners(places: Iterable[Location], text_of: Callable[[str], str | None]) -> Sequence[Owner]:
    """The functions whose parameters are declared at some places."""
    found: list[Owner] = []
    for place in places:
        text = (text_of(place.uri) or "").replace("\r\n", "\n").replace("\r", "\n").encode()
        start = _offset(text, place.range.start)
        before = text[max(0, start - _MOST_HEAD) : start].rstrip()
        # As mostly, and what is code had not to be found out.
        if before[-1:] not in (b"(", b",") and b"#" not in before.rpartition(b"\n")[2]:
            continue
        opened = opening(text, spans_of(PYTHON, text), start, _MOST_PARAMETERS)
        if opened is None:
            continue
        function = _DEF.search(text, max(0, opened - _MOST_HEAD), opened)
        if function is not None:
            path, number = path_in(place.uri), text.count(b"\n", 0, function.start(1))
            _, stated = place_of(path, text, function.start(1), number)
            found.append(Owner(function[1], (path, place.range.start), stated))
    return found


def parameter(text: str, function: Range, name: str) -> Range | None:
    """Where a parameter is declared of the function whose own name stands at a place."""
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode()
    head = _PARAMETERS.match(data, _offset(data, function.end))
    if head is None:
        return None
    first = head.end() - 1
    sought = word(name).starts(data[: first + _MOST_PARAMETERS])
    declared = _begun(data, first).intersection(sought)
    if not declared:
        return None
    start = min(declared)
    _, at = place_of("", data, start, data.count(b"\n", 0, start))
    return Range(at, Position(at.line, at.character + line_length_utf16(name)))


def _begun(text: bytes, opened: int) -> set[int]:
    """Where parameters begin in a list that opens at a place."""
    no_code, found = spans_of(PYTHON, text), set[int]()
    depth, begins = 0, False
    for place in range(opened, min(len(text), opened + _MOST_PARAMETERS)):
        byte = text[place : place + 1]
        if byte.isspace() or place in no_code:
            continue
        depth += (byte in OPENING) - (byte in CLOSING)
        if not depth:
            break
        if depth == 1 and byte in BEFORE:
            begins = True
        elif begins and byte != b"*":
            found.add(place)
            begins = False
    return found


def _offset(text: bytes, at: Position) -> int:
    start = 0
    for _ in range(at.line):
        start = text.find(b"\n", start) + 1
    end = text.find(b"\n", start)
    line = text[start : end if end >= 0 else len(text)].decode("utf-8", "replace")
    return start + len(line[: column_of(line, at.character)].encode())


async def search(members: Members, name: str, functions: Sequence[Owner]) -> Sequence[Place]:
    """Where a name is given that is a parameter of these functions."""
    hits = await members.texts.find(word(name))
    if not hits:
        return ()
    return await asyncio.to_thread(_arguments, members, name.encode(), hits, functions)


async def note(
    members: Members,
    server: Server,
    name: str,
    given: Iterable[Place],
    known: Iterable[Location],
) -> str:
    """What is to be said of these places of a name, given those that are known."""
    starts = {(path_in(place.uri), place.range.start) for place in known}
    return await said_of(members, server, name, [each for each in given if each not in starts])


def _arguments(
    members: Members, name: bytes, hits: Hits, functions: Sequence[Owner]
) -> Sequence[Place]:
    texts, around = members.texts, classes_around(members)
    makers = [each for each in functions if each.name in _MAKERS]
    own = {around(path, at.line) for _, (path, at), _ in makers} - {None}
    classes = texts.made_of_all(Classes) if own else None
    mine = frozenset(each for each in own if each is not None)
    below = frozenset(classes.below(mine) if classes is not None else ())
    above = frozenset(classes.above(mine) if classes is not None else ())
    names = {each.name for each in functions if each.name not in _MAKERS} | below
    names |= _aliases(texts, {each.name for each in functions if each.name not in _MAKERS} | mine)

    def may_be(function: bytes, path: str, line: int) -> bool:
        if function in names:
            return True
        if not own or function not in (OWN, *_MAKERS):
            return False
        made = around(path, line)
        if function != OWN:
            return made in below
        # Nobody knows what class is given to a function.
        return made is None or made in below or made in above

    found: list[Place] = []
    for path in sorted(hits):
        text, no_code = texts.text(path), texts.spans(path, PYTHON)
        for start, line in numbered(text, hits[path]):
            if start in no_code or not GIVES.match(text, start + len(name)):
                continue
            if may_be(called(text, no_code, start), path, line):
                found.append(place_of(path, text, start, line))
    return found


def _aliases(texts: SourceTexts, names: Collection[bytes]) -> set[bytes]:
    """What imports call these names."""
    found: set[bytes] = set()
    for name in names:
        for path, starts in (texts.search(word(name.decode("utf-8", "replace"))) or {}).items():
            text = texts.text(path)
            for start in starts:
                alias = _AS.match(text, start + len(name))
                if alias is None or alias[1] in found:
                    continue
                if not _NO_IMPORT.match(text, text.rfind(b"\n", 0, start) + 1):
                    found.add(alias[1])
    return found
