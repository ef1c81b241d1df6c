"""What stands in arguments that a macro of C or C++ does not use.

A compiler never sees such an argument, and so a server finds nothing in it: every ``assert`` of a
build without checks, what is only made a text of, what is pasted to another name. Which definition
of a macro holds is the build's matter, so one that drops an argument is enough. Nothing is
expanded: a macro that only hands its argument to one that drops it drops it, too, and whatever else
a body says of a parameter is a use.

>>> code = "#define check(c, d) (d)\\nint a = check(b, c) + d;\\n"
>>> arguments(code, dropping(definitions(code)))
[(1, 'b')]
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sightline.lsp.c.preprocessor import KEYWORDS, blank

__all__ = ["Definition", "arguments", "definitions", "dropping"]

#: What systems define so that a build can drop it.
_SYSTEM = {"assert": 1}
#: The place of the last argument that is told from those after it.
_LAST = 63
#: So many ways of being handed on are followed, and so many calls deep; what has more is a use.
_WAYS = 8
_DEEP = 4
_VARIADIC = "__VA_ARGS__"

# Expressions are compiled when they are first needed, which most programs never do. None can fail
# after more than it has to read again, so a hostile file costs no more than another.
_BODY = r"(?:[^\\\n]+|\\[ \t]*\n?)*"
_BLANK = r"(?:[ \t]|\\[ \t]*\n)"
_DEFINE = (
    rf"^[ \t]*#[ \t]*define{_BLANK}+(?P<name>[^\W\d]\w*)"
    rf"(?:\((?P<parameters>[^()]*)\))?(?P<body>{_BODY})"
)
_WORD = r"##?|[^\W\d]\w*|\d\w*|[^\s\w#]"
_CALL = r"\b(?P<name>[^\W\d]\w*+)\s*\("
#: Blocks end at the beginning of a line: a call that is still open there is cut in two by a
#: condition.
_INSIDE = rf"{_CALL}|[(),]|^\}}"

#: To which macros something is handed on, one within the other, and as which of their arguments.
Way = tuple[tuple[str, int], ...]


class Definition(NamedTuple):
    """A macro that may drop arguments."""

    name: str
    #: A bit for each of them. None, if the macro is another name of what it hands them to.
    places: int
    #: Each way in which the body hands them on. Where there is none, they are dropped.
    ways: frozenset[Way]

    def drops(self, known: Mapping[str, int]) -> int:
        """The arguments that it drops, if these are those that others drop."""
        if not self.places:
            ((target, _),) = next(iter(self.ways))
            return known.get(target, 0)
        dropped = all(any(known.get(to, 0) >> at & 1 for to, at in way) for way in self.ways)
        return self.places if dropped else 0


def definitions(code: str) -> list[Definition]:
    """The macros of a text that may drop arguments: code, without comments and literal texts."""
    if "define" not in code:
        return []
    found = list[Definition]()
    for define in re.finditer(_DEFINE, code, re.MULTILINE):
        words = re.findall(_WORD, define["body"].replace("\\", " "))
        if define["parameters"] is None:
            if len(words) == 1 and words[0].isidentifier() and words[0] not in KEYWORDS:
                found.append(Definition(define["name"], 0, frozenset([((words[0], 0),)])))
            continue
        places = _places(define["parameters"])
        handed = _handed(words, places)
        found += [
            Definition(define["name"], place, frozenset(handed[name]))
            for name, place in places.items()
            if () not in handed[name] and len(handed[name]) <= _WAYS
        ]
    return found


def dropping(macros: Iterable[Definition]) -> dict[str, int]:
    """The arguments that each macro drops, as bits."""
    todo = list(macros)
    known = dict(_SYSTEM)
    users = defaultdict[str, list[Definition]](list)
    for macro in todo:
        for name in {name for way in macro.ways for name, _ in way}:
            users[name].append(macro)
    while todo:
        more = dict[str, int]()
        for macro in todo:
            before = known.get(macro.name, 0)
            if (after := before | macro.drops(known)) != before:
                more[macro.name] = known[macro.name] = after
        todo = [macro for name in more for macro in users.get(name, ())]
    return known


def arguments(code: str, dropped: Mapping[str, int]) -> list[tuple[int, str]]:
    """The first line, from 0, of the arguments in a text that macros drop, and these: each in its
    line, and nothing else.
    """
    code = re.sub(rf"#{_BODY}", _without, code)
    spans = list[tuple[int, int]]()
    place = 0
    for call in re.finditer(_CALL, code):
        if call["name"] in dropped and call.start() >= place:
            place = _through(code, call.end(), dropped[call["name"]], dropped, spans)
    return _joined(code, spans)


def _without(found: "re.Match[str]") -> str:
    """Blanks for a directive: it is no code. What only looks like one stays."""
    line = found.string.rfind("\n", 0, found.start()) + 1
    return found[0] if found.string[line : found.start()].strip() else blank(found)


def _places(parameters: str) -> dict[str, int]:
    """The bits of the arguments that each parameter stands for."""
    found = dict[str, int]()
    for number, each in enumerate(parameters.replace("\\", " ").split(",")):
        name, rest, _ = each.strip().partition("...")
        if name or rest:
            place = 1 << min(number, _LAST)
            found[name.strip() or _VARIADIC] = -place if rest else place
    return found


def _handed(words: list[str], places: Mapping[str, int]) -> dict[str, set[Way]]:
    """The ways in which a body uses each parameter; an empty one for a use of its own."""
    ways: dict[str, set[Way]] = {name: set() for name in places}
    #: Whether what is open is a call of what may be a macro, and the way to it.
    open_: list[tuple[bool, Way]] = [(False, ())]
    ends = ["", "", *words, ""]
    for number, said in enumerate(words):
        further, before, after = ends[number], ends[number + 1], ends[number + 3]
        called, way = open_[-1]
        if said == "(":
            is_call = before.isidentifier() and before not in KEYWORDS and before not in places
            open_.append((is_call, (*way, (before, 0))[-_DEEP:] if is_call else way))
        elif said == ")" and len(open_) > 1:
            open_.pop()
        elif said == "," and called:
            name, at = way[-1]
            open_[-1] = called, (*way[:-1], (name, min(at + 1, _LAST)))
        elif said in places and len(ways[said]) <= _WAYS:
            # With a comma before it, it is not pasted: nothing may stand for it.
            is_rest = places[said] < 0 and (further, before) == (",", "##")
            if is_rest or not (before in ("#", "##") or after == "##"):
                ways[said].add(way)
    return ways


def _through(
    code: str, place: int, dropped: int, known: Mapping[str, int], spans: list[tuple[int, int]]
) -> int:
    """Where a call ends whose arguments begin at a place. What is dropped in it is added."""
    #: What each that is open drops, the number of its argument, and where that begins.
    open_ = [(dropped, 0, place)]
    for found in re.compile(_INSIDE, re.MULTILINE).finditer(code, place):
        said, end = found[0], found.end()
        if said[-1] == "(":
            open_.append((known.get(found["name"] or "", 0), 0, end))
        elif said in {",", ")"}:
            drops, at, begin = open_.pop()
            if drops >> at & 1:
                spans.append((begin, found.start()))
            if said == ",":
                open_.append((drops, min(at + 1, _LAST), end))
            elif not open_:
                return end
        elif said == "}":
            return _cut_off(open_, found.start(), spans)
    return _cut_off(open_, len(code), spans)


def _cut_off(open_: list[tuple[int, int, int]], end: int, spans: list[tuple[int, int]]) -> int:
    spans += [(begin, end) for drops, at, begin in open_ if drops >> at & 1]
    return end


def _joined(code: str, spans: list[tuple[int, int]]) -> list[tuple[int, str]]:
    """One text of many, in which each stands as many lines below the first as it does in the code:
    it is looked through at once.
    """
    parts = list[str]()
    first = last = 0
    for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        text = code[begin:end].strip() if begin >= last else ""
        if not text or text.isdecimal():
            continue
        # What stands before it may be blank lines of its own.
        at = code.index(text, begin)
        lines = code.count("\n", last, at)
        if parts:
            parts.append("\n" * lines or " ")
        else:
            first = lines
        parts.append(text)
        last = at + len(text)
    return [(first, "".join(parts))] if parts else []
