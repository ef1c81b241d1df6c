"""Uses of a field of a Python class that no server counts: its name is given in another way.

    options["historic"]                    # the key of a TypedDict; also Color["RED"] of an Enum
    replace(item, price=2)                 # the field of a dataclass
    case Item(price=2): ...
    User(email="x")                        # where a base class of User is not installed

Whether such a place means the field is not known, so it is said, and never taken for a use: of a
text where it may be a key, of an argument where the call is one of the class, or makes a changed
copy, and the server can tell nothing of the argument.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from sightline.contract.texts import line_length_utf16
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.asking.members import (
    MOST_ASKED,
    Members,
    Place,
    can_be_asked,
    counted,
)
from sightline.lsp.server.server import Server
from sightline.text.code import PYTHON
from sightline.text.sources import Hits, SourceTexts, numbered, word
from sightline.text.spans import Spans

__all__ = [
    "BEFORE",
    "CLOSING",
    "GIVES",
    "OPENING",
    "OWN",
    "Classes",
    "Named",
    "called",
    "classes_around",
    "note",
    "opening",
    "place_of",
    "said_of",
    "search",
]

#: What makes an object, or a copy with some fields changed.
_MAKERS = frozenset(
    (b"__replace__", b"_replace", b"construct", b"evolve", b"model_construct", b"replace")
)
#: What makes an object of the class around it, or of one below that.
OWN = b"cls"
_TYPED_DICT = b"TypedDict"
_CLASS = re.compile(rb"[ \t]*class[ \t]+(\w+)\s*(?:\[[^\[\]]*+\]\s*)?(?:\(([^()]*+))?")
_STATES = re.compile(rb"^[ \t]*+class[ \t]", re.MULTILINE)
_ENUM = re.compile(rb"\w*(?:Enum|Flag)")
_QUOTES = (b'"', b"'")
CLOSING = (b")", b"]", b"}")
OPENING = (b"(", b"[", b"{")
#: What stands before an argument.
BEFORE = (b"(", b",")
#: What follows the name of a field where it is declared, and that of an argument.
_DECLARES = re.compile(rb"[ \t]*[:=](?!=)")
GIVES = re.compile(rb"[ \t]*=(?!=)")
#: What stands before the arguments of a call, and before a text in brackets.
_CALLED = re.compile(rb"(\w+)(?:\[[^\[\]]*\])?[ \t]*\Z")
#: What stands before a name that is no call.
_DECLARED = re.compile(rb"\b(?:class|def)[ \t]+\Z")
_LOOKED_UP = re.compile(rb"(\w+)[ \t]*\[\s*\Z")
#: So much of a call is read to find out what is called.
_MOST_CALL = 2_000
#: So much of the head of a class is looked at, in so many lines.
_MOST_HEAD, _MOST_LINES = 1_000, 100


class _Class(NamedTuple):
    name: bytes
    #: What stands in its head, base classes among it, without the modules they are taken from.
    head: frozenset[bytes]


class Named(NamedTuple):
    """Where a field may be named in a text, and as an argument."""

    texts: Sequence[Place] = ()
    arguments: Sequence[Place] = ()


async def search(members: Members, name: str, definitions: Iterable[Location]) -> Named:
    """Where a name may be given that is defined at these places, if it is a field."""
    fields = [place for place in definitions if _is_field(members.texts, name, place)]
    own = [each for place in fields if (each := _class_of(members, place)) is not None]
    hits = await members.texts.find(word(name)) if own else None
    if not hits:
        return Named()
    return await asyncio.to_thread(_look, members, name.encode(), hits, own)


async def note(
    members: Members, server: Server, name: str, found: Named, known: Iterable[Location]
) -> str:
    """What is to be said of these places of a name, given those that are known."""
    if not any(found):
        return ""
    starts = {(path_in(place.uri), place.range.start) for place in known}
    said: list[str] = []
    if texts := [place for place in found.texts if starts.isdisjoint((place, _before(place)))]:
        where = f"{counted(texts)}{members.named(texts)}"
        said.append(f"{name} stands as a text in {where}; uses as a key are not counted.")
    rest = [place for place in found.arguments if place not in starts]
    return " ".join(filter(None, [*said, await said_of(members, server, name, rest)]))


async def said_of(members: Members, server: Server, name: str, places: Iterable[Place]) -> str:
    """What is to be said of arguments of a name that the server did not count."""
    rest = [place for place in places if can_be_asked(server, place[0])]
    asked = server.spec.unknown_members == "definition" and len(rest) <= MOST_ASKED
    if asked:
        told = await questions.definitions_unopened(server, rest)
        rest = [place for place, known in zip(rest, told, strict=True) if not known]
    if not rest:
        return ""
    where = f"{counted(rest, '' if asked else 'other ')}{members.named(rest)}"
    if asked:
        return f"{name} is an argument of unknown meaning in {where}; it is not counted there."
    return f"{name} is an argument in {where}; uses of unknown meaning are not counted."


def _before(place: Place) -> Place:
    """The place of the quote before a text: some servers name that."""
    path, at = place
    return path, Position(at.line, at.character - 1)


def _class_of(members: Members, place: Location) -> _Class | None:
    """The class whose field is declared at a place."""
    blocks = members.blocks(path_in(place.uri))
    number = blocks.class_line(place.range.start.line)
    if number is None:
        return None
    return _class_in(b"\n".join(blocks.lines(number, number + _MOST_LINES))[:_MOST_HEAD])


def _class_in(text: bytes) -> _Class | None:
    """The class that a text begins with."""
    head = _CLASS.match(text)
    return _Class(head[1], frozenset(re.findall(rb"\w+", head[2] or b""))) if head else None


def _is_field(texts: SourceTexts, name: str, place: Location) -> bool:
    """Whether a name is declared at a place as a field of a class, not as a method."""
    line = texts.line(path_in(place.uri), place.range.start.line)
    before, found, after = line.partition(name.encode())
    return bool(found) and before.isspace() and _DECLARES.match(after) is not None


def _look(members: Members, name: bytes, hits: Hits, own: Sequence[_Class]) -> Named:
    texts = members.texts
    classes, names = texts.made_of_all(Classes), frozenset(each.name for each in own)
    above, below = classes.above(names), classes.below(names)
    of_enum = any(map(_ENUM.fullmatch, above))
    keys, arguments = list[Place](), list[Place]()

    around = classes_around(members)

    def makes(called: bytes, path: str, line: int) -> bool:
        """Whether what is called may make an object of these classes, or of one below them."""
        if called != OWN:
            return called in _MAKERS or called in below
        # Nobody knows what class is given to a function. That of a base is also called by those
        # below it.
        made = around(path, line)
        return made is None or made in below or made in above

    for path in sorted(hits):
        text, code = texts.text(path), texts.spans(path, PYTHON)
        for start, line in numbered(text, hits[path]):
            if start in code:
                if not _is_text(text, code, start, len(name)):
                    continue
                looked_up = _LOOKED_UP.search(text, max(0, start - 1 - _MOST_HEAD), start - 1)
                by_name = looked_up is not None and looked_up[1] in names
                if by_name if of_enum else _TYPED_DICT in above:
                    keys.append(place_of(path, text, start, line))
            elif (
                not of_enum
                and GIVES.match(text, start + len(name))
                and makes(called(text, code, start), path, line)
            ):
                arguments.append(place_of(path, text, start, line))
    return Named(keys, arguments)


def classes_around(members: Members) -> Callable[[str, int], bytes | None]:
    """What tells the name of the class that a line of a file stands in."""

    blocks_of = cache(members.blocks)

    def around(path: str, line: int) -> bytes | None:
        blocks = blocks_of(path)
        number = blocks.class_line(line)
        head = _CLASS.match(blocks.line(number)) if number is not None else None
        return head[1] if head is not None else None

    return around


def _is_text(text: bytes, no_code: Spans, start: int, size: int) -> bool:
    """Whether a name is all that a text holds."""
    quote = text[start - 1 : start]
    return (
        quote in _QUOTES
        and text[start + size : start + size + 1] == quote
        and start - 1 in no_code
        and start - 2 not in no_code
    )


def called(text: bytes, no_code: Spans, start: int) -> bytes:
    """What is called with an argument that is given by its name; nothing if it is none."""
    place = opening(text, no_code, start, _MOST_CALL)
    found = _CALLED.search(text, max(0, place - _MOST_HEAD), place) if place is not None else None
    if found is None or _DECLARED.search(text, max(0, found.start() - _MOST_HEAD), found.start()):
        return b""
    return found[1]


def opening(text: bytes, no_code: Spans, start: int, most: int) -> int | None:
    """Where the parentheses open, at most so far before, in which an argument or parameter begins;
    nothing if none does.
    """
    depth, after = 0, False
    for place in range(start - 1, max(0, start - most) - 1, -1):
        byte = text[place : place + 1]
        if byte.isspace() or place in no_code:
            continue
        if not after and byte not in BEFORE:
            return None
        after = True
        depth += (byte in CLOSING) - (byte in OPENING)
        if depth < 0:
            return place if byte == b"(" else None
    return None


class Classes:
    """What stands in the heads of all classes of a project: what they are derived from."""

    def __init__(self, texts: SourceTexts) -> None:
        #: Classes of one name are not told apart.
        self._heads: dict[bytes, set[bytes]] = {}
        #: By what is named in a head.
        self._derived: dict[bytes, set[bytes]] = {}
        for path in texts.paths():
            for name, head in texts.made(path, _stated):
                self._heads.setdefault(name, set()).update(head)
                for each in head:
                    self._derived.setdefault(each, set()).add(name)

    def above(self, names: Collection[bytes]) -> Collection[bytes]:
        """The names in the heads of classes, and in those of the classes so named."""
        return _all_from(names, self._heads) - frozenset(names)

    def below(self, names: Collection[bytes]) -> Collection[bytes]:
        """These classes, and those in whose heads they are named, and so on."""
        return _all_from(names, self._derived)


def _stated(texts: SourceTexts, path: str) -> Sequence[_Class]:
    """The classes that a file states."""
    text = texts.text(path)
    heads = (text[at.start() : at.start() + _MOST_HEAD] for at in _STATES.finditer(text))
    return tuple(stated for stated in map(_class_in, heads) if stated is not None)


def _all_from(names: Collection[bytes], steps: Mapping[bytes, Collection[bytes]]) -> set[bytes]:
    """All that some steps lead to, and where they begin."""
    found, waiting = set(names), [*names]
    while waiting:
        new = set(steps.get(waiting.pop(), ())) - found
        found |= new
        waiting += new
    return found


def place_of(path: str, text: bytes, start: int, number: int) -> Place:
    line = text.rfind(b"\n", 0, start) + 1
    before = text[line:start].decode("utf-8", "replace")
    return path, Position(number, line_length_utf16(before))
