"""From a regular expression to the trigrams that every match must have.

The pattern is read as RE2 reads it, roughly: whatever this reader does not know it takes for
"anything", which only makes more files be checked. For every piece it keeps what strings it can be
(if few), how it can begin and end, and what a text must contain for it to match.

>>> needed("abc+d").trigrams == frozenset({0x616263})
True
>>> needed("x.y") == ANY
True
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from sightline.index.terms.trigrams import fold

__all__ = ["ANY", "Need", "needed"]

#: More strings than this are not kept apart.
_MAX_STRINGS = 24
_MAX_LENGTH = 24
_MAX_CLASS = 12
_MAX_DEPTH = 100
_MAX_REPEAT = 4


class Need(NamedTuple):
    """What a text must contain: all trigrams, and for each alternative list at least one."""

    trigrams: frozenset[int] = frozenset()
    either: tuple[tuple["Need", ...], ...] = ()

    def __and__(self, other: "Need") -> "Need":
        if self == ANY:
            return other
        if other == ANY:
            return self
        return Need(self.trigrams | other.trigrams, self.either + other.either)


ANY = Need()


class _Piece(NamedTuple):
    """What is known of one piece of a pattern. ``exact`` is ``None`` when it can be too much."""

    exact: frozenset[bytes] | None
    prefixes: frozenset[bytes]
    suffixes: frozenset[bytes]
    need: Need = ANY


_EMPTY = frozenset({b""})
_UNKNOWN = _Piece(None, _EMPTY, _EMPTY)
_NOTHING = _Piece(_EMPTY, _EMPTY, _EMPTY)


def needed(pattern: str) -> Need:
    """What every file with a match has. ``ANY`` if nothing can be said."""
    try:
        piece = _Reader(pattern).read()
    except (_Unreadable, RecursionError):
        return ANY
    return _closed(piece).need


def _closed(piece: _Piece) -> _Piece:
    """With everything that its strings say added to what is needed."""
    if piece.exact is not None:
        return piece._replace(need=piece.need & _one_of(piece.exact))
    need = piece.need & _one_of(piece.prefixes) & _one_of(piece.suffixes)
    return piece._replace(need=need)


def _one_of(strings: Iterable[bytes]) -> Need:
    """At least one of the strings is in the text."""
    options: list[Need] = []
    for string in strings:
        if len(string) < 3:
            return ANY
        codes = {int.from_bytes(string[i : i + 3], "big") for i in range(len(string) - 2)}
        options.append(Need(frozenset(codes)))
    return _either(options)


def _either(options: list[Need]) -> Need:
    unique = list(dict.fromkeys(options))
    if not unique or ANY in unique:
        return ANY
    if len(unique) == 1:
        return unique[0]
    shared = frozenset.intersection(*(option.trigrams for option in unique))
    return Need(shared, (tuple(unique),))


def _concat(left: _Piece, right: _Piece) -> _Piece:
    need = left.need & right.need
    if left.exact is not None and right.exact is not None:
        joined = _cross(left.exact, right.exact)
        if joined is not None:
            return _Piece(joined, joined, joined, need)
    if left.exact is not None:
        prefixes = _cross(left.exact, right.prefixes) or _cut(left.exact, front=True)
    else:
        prefixes = left.prefixes
    if right.exact is not None:
        suffixes = _cross(left.suffixes, right.exact) or _cut(right.exact, front=False)
    else:
        suffixes = right.suffixes
    # The strings across the seam must be in the text too.
    seam = _cross(left.suffixes, right.prefixes)
    if seam is not None:
        need = need & _one_of(seam)
    need = need & _one_of(left.exact or left.suffixes) & _one_of(right.exact or right.prefixes)
    return _Piece(None, _limit(prefixes, front=True), _limit(suffixes, front=False), need)


def _cross(left: frozenset[bytes], right: frozenset[bytes]) -> frozenset[bytes] | None:
    if len(left) * len(right) > _MAX_STRINGS:
        return None
    joined = frozenset(a + b for a in left for b in right)
    return joined if all(len(string) <= _MAX_LENGTH for string in joined) else None


def _limit(strings: frozenset[bytes], *, front: bool) -> frozenset[bytes]:
    if len(strings) > _MAX_STRINGS:
        return _EMPTY
    return _cut(strings, front=front)


def _cut(strings: frozenset[bytes], *, front: bool) -> frozenset[bytes]:
    """Short beginnings or ends; what is known of a piece stays small."""
    size = 8
    return frozenset(s[:size] if front else s[-size:] for s in strings)


def _alternate(pieces: list[_Piece]) -> _Piece:
    if len(pieces) == 1:
        return pieces[0]
    exact: frozenset[bytes] | None = frozenset()
    for piece in pieces:
        exact = None if exact is None or piece.exact is None else exact | piece.exact
    if exact is not None and len(exact) <= _MAX_STRINGS:
        needs = [piece.need for piece in pieces]
        return _Piece(exact, exact, exact, ANY if ANY in needs else _either(needs))
    closed = [_closed(piece) for piece in pieces]
    prefixes = frozenset(s for piece in pieces for s in (piece.exact or piece.prefixes))
    suffixes = frozenset(s for piece in pieces for s in (piece.exact or piece.suffixes))
    if any(piece.exact == _EMPTY for piece in pieces):
        prefixes = suffixes = _EMPTY
    return _Piece(
        None,
        _limit(prefixes, front=True),
        _limit(suffixes, front=False),
        _either([piece.need for piece in closed]),
    )


def _optional(piece: _Piece) -> _Piece:
    return _alternate([piece, _NOTHING])


def _repeat(piece: _Piece, low: int, high: int | None) -> _Piece:
    if low == 0:
        return _optional(piece) if high == 1 else _UNKNOWN
    if high == low and low <= _MAX_REPEAT:
        result = piece
        for _ in range(low - 1):
            result = _concat(result, piece)
        return result
    closed = _closed(piece)
    starts = piece.exact if piece.exact is not None else piece.prefixes
    ends = piece.exact if piece.exact is not None else piece.suffixes
    return _Piece(None, _limit(starts, front=True), _limit(ends, front=False), closed.need)


class _Unreadable(Exception):
    pass


_CLASSES = frozenset("dDsSwW")
_ANCHORS = frozenset("bBAz")
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
#: With a leading zero it is no count but text.
_COUNT = re.compile(r"\{(0|[1-9][0-9]{0,3})(?:(,)(0|[1-9][0-9]{0,3})?)?\}")
_FLAGS = re.compile(r"\?([a-zA-Z]*)(?:-([a-zA-Z]+))?([:)])")
_GROUP_NAME = re.compile(r"\?P?<\w+>")
#: Letters that the engine also takes for others when it ignores case.
_FOLDED_PAIRS = {"k": "\u212a", "s": "\u017f"}


class _Reader:
    """A recursive-descent reader of RE2 patterns."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._place = 0
        self._ignore_case = False
        self._depth = 0

    def read(self) -> _Piece:
        piece = self._alternatives()
        if self._place < len(self._text):
            raise _Unreadable
        return piece

    def _peek(self) -> str:
        return self._text[self._place : self._place + 1]

    def _alternatives(self) -> _Piece:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise _Unreadable
        pieces = [self._sequence()]
        while self._peek() == "|":
            self._place += 1
            pieces.append(self._sequence())
        self._depth -= 1
        return _alternate(pieces)

    def _sequence(self) -> _Piece:
        piece = _NOTHING
        while self._peek() not in ("", "|", ")"):
            piece = _concat(piece, self._repeated())
        return piece

    def _repeated(self) -> _Piece:
        piece = self._atom()
        while True:
            symbol = self._peek()
            if symbol and symbol in "*+?":
                self._place += 1
                low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}[symbol]
            else:
                count = _COUNT.match(self._text, self._place)
                if count is None:
                    return piece
                self._place = count.end()
                low = int(count[1])
                high = int(count[3]) if count[3] else (None if count[2] else low)
            if self._peek() == "?":
                self._place += 1
            piece = _repeat(piece, low, high)

    def _atom(self) -> _Piece:
        symbol = self._peek()
        self._place += 1
        if symbol == "(":
            return self._group()
        if symbol == "[":
            return self._bracket()
        if symbol == "\\":
            return self._escape()
        if symbol == ".":
            return _UNKNOWN
        if symbol in "^$":
            return _NOTHING
        if symbol in "*+?":
            raise _Unreadable
        return self._literal(symbol)

    def _literal(self, character: str) -> _Piece:
        if character == "\n":
            return _UNKNOWN  # a line may also end in two characters
        if not self._ignore_case:
            return _strings([character])
        if not character.isascii():
            return _UNKNOWN
        other = _FOLDED_PAIRS.get(character.lower())
        return _strings([character] if other is None else [character, other])

    def _group(self) -> _Piece:
        before = self._ignore_case
        name = _GROUP_NAME.match(self._text, self._place)
        if name:
            self._place = name.end()
        elif self._peek() == "?":
            flags = _FLAGS.match(self._text, self._place)
            if flags is None:
                raise _Unreadable
            self._place = flags.end()
            self._ignore_case = (before or "i" in flags[1]) and "i" not in (flags[2] or "")
            if flags[3] == ")":
                self._no_quantifier()
                return _NOTHING  # the flags hold for the rest of the group around
        piece = self._alternatives()
        if self._peek() != ")":
            raise _Unreadable
        self._place += 1
        self._ignore_case = before
        return piece

    def _escape(self) -> _Piece:
        symbol = self._peek()
        self._place += 1
        if symbol in _CLASSES or symbol in "pPCX":
            return self._property() if symbol in "pP" else _UNKNOWN
        if symbol in _ANCHORS:
            return _NOTHING
        if symbol == "Q":
            end = self._text.find("\\E", self._place)
            quoted = self._text[self._place : end if end >= 0 else None]
            self._place = len(self._text) if end < 0 else end + 2
            self._no_quantifier()
            piece = _NOTHING
            for character in quoted:
                piece = _concat(piece, self._literal(character))
            return piece
        if symbol in _SIMPLE:
            return self._literal(_SIMPLE[symbol])
        if symbol.isalnum() or not symbol:
            raise _Unreadable  # octal and hexadecimal escapes, and what the engine refuses
        return self._literal(symbol)

    def _no_quantifier(self) -> None:
        """After what is no piece by itself, a quantifier belongs to some character before."""
        if self._peek() in ("*", "+", "?") or _COUNT.match(self._text, self._place):
            raise _Unreadable

    def _property(self) -> _Piece:
        if self._peek() == "{":
            end = self._text.find("}", self._place)
            if end < 0:
                raise _Unreadable
            self._place = end + 1
        else:
            self._place += 1
        return _UNKNOWN

    def _bracket(self) -> _Piece:
        """A class: its characters if they are few and simple, else anything."""
        text, place = self._text, self._place
        if text.startswith("^", place):
            self._skip_bracket()
            return _UNKNOWN
        characters: list[str] = []
        first = True
        while first or text[place : place + 1] != "]":
            first = False
            character = text[place : place + 1]
            following = text[place + 1 : place + 2]
            if not character:
                raise _Unreadable
            if character in "\\[" or (following == "-" and text[place + 2 : place + 3] != "]"):
                self._skip_bracket()
                return _UNKNOWN
            characters.append(character)
            place += 1
        self._place = place + 1
        if len(characters) > _MAX_CLASS:
            return _UNKNOWN
        return _alternate([self._literal(character) for character in characters])

    def _skip_bracket(self) -> None:
        place = self._place
        text = self._text
        if text.startswith("^", place):
            place += 1
        if text.startswith("]", place):
            place += 1
        while place < len(text) and text[place] != "]":
            if text[place] == "\\":
                place += 1
            elif text.startswith("[:", place):
                end = text.find(":]", place)
                place = end + 1 if end >= 0 else place
            place += 1
        if place >= len(text):
            raise _Unreadable
        self._place = place + 1


def _strings(characters: list[str]) -> _Piece:
    found = frozenset(fold(character.encode("utf-8", "replace")) for character in characters)
    return _Piece(found, found, found)
