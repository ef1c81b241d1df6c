"""JSON as v0 reads it: the same texts accepted, the same words and places when one is refused.

v0's files are read into typed values. What it takes is stricter than most readers in some places
(known members once, whole characters, integers that are integers, 128 levels) and looser in others
(unknown members are skipped, a list in member order stands for an object). A refusal is one line
that a person can act on, with the line and the column up to which the text was taken.

>>> try:
...     Reader(b'{"a": tru}').value()
... except Refused as refused:
...     print(refused)
expected ident at line 1 column 10
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sightline.context.numbers import unexpected_number
from sightline.context.quoting import quoted
from sightline.context.scanner import CLOSE, END, IDENTS, NUMBER_START, Refused, Scanner

__all__ = ["Field", "Reader", "Refused"]

T = TypeVar("T")
#: Reads one value of a known type.
Read = Callable[["Reader"], Any]

_MAX_DEPTH = 128


class _Unplaced(Exception):
    """A refusal whose place is the end of the value around it."""


class Field(NamedTuple):
    """A member of a typed object. An optional one may be missing."""

    name: str
    read: Read
    optional: bool = False


class Reader(Scanner):
    """Reads one text from its beginning. ``pause`` is called now and then, and may raise."""

    def __init__(self, data: bytes, pause: Callable[[], None] = lambda: None) -> None:
        super().__init__(data, pause)
        self._depth = _MAX_DEPTH

    # Typed values

    def end(self) -> None:
        """Nothing but blanks may follow."""
        if self._look() != END:
            raise self._refused("trailing characters")

    def text(self, expected: str = "a string") -> str:
        if self._start() != ord('"'):
            raise self._wrong_type(expected)
        self._take()
        return self._string()

    def parsed_text(self, expected: str, parse: Callable[[str], T]) -> T:
        """A string that ``parse`` turns into a value; its ``ValueError`` is the refusal."""
        value = self.text(expected)
        try:
            return parse(value)
        except ValueError as error:
            raise self._refused(str(error)) from None

    def unsigned(self, expected: str) -> int:
        if self._start() not in NUMBER_START:
            raise self._wrong_type(expected)
        number = self._number()
        if isinstance(number, float):
            raise self._refused(f"invalid type: {unexpected_number(number)}, expected {expected}")
        if number < 0:
            raise self._refused(f"invalid value: integer `{number}`, expected {expected}")
        return number

    def optional(self, read: Callable[["Reader"], T]) -> T | None:
        if self._look() == ord("n"):
            self._take()
            self._ident(b"ull")
            return None
        return read(self)

    def sequence(self, read: Callable[["Reader"], T], expected: str = "a sequence") -> list[T]:
        if self._start() != ord("["):
            raise self._wrong_type(expected)
        return self._inside(ord("["), lambda: self._items(read))

    def members(self, read: Callable[["Reader"], T], expected: str = "a map") -> dict[str, T]:
        """An object with any members. The last of equal names counts."""
        if self._start() != ord("{"):
            raise self._wrong_type(expected)
        return self._inside(ord("{"), lambda: self._pairs(read))

    def struct(self, name: str, fields: tuple[Field, ...]) -> list[Any]:
        """The values of an object's known members, or of a list in their order."""
        match self._start():
            case 0x5B:  # [
                return self._inside(ord("["), lambda: self._struct_items(name, fields))
            case 0x7B:  # {
                return self._inside(ord("{"), lambda: self._struct_members(fields))
            case _:
                raise self._wrong_type(f"struct {name}")

    def value(self) -> Any:  # noqa: ANN401 - any JSON value
        """Any value, at most 128 levels deep."""
        first = self._start()
        if first in IDENTS:
            rest, value = IDENTS[first]
            self._take()
            self._ident(rest)
            return value
        if first in NUMBER_START:
            return self._number()
        match first:
            case 0x22:  # "
                self._take()
                return self._string()
            case 0x5B:  # [
                return self._inside(first, lambda: self._items(Reader.value))
            case 0x7B:  # {
                return self._inside(first, lambda: self._pairs(Reader.value))
            case _:
                raise self._refused("expected value")

    # Containers

    def _inside(self, opening: int, read: Callable[[], T]) -> T:
        """What ``read`` finds between brackets."""
        self._depth -= 1
        if self._depth == 0:
            raise self._refused("recursion limit exceeded")
        self._take()
        close = self._close_list if opening == ord("[") else self._close_object
        try:
            found = read()
        except _Unplaced as unplaced:
            try:
                close()
            except Refused:
                pass  # the first refusal counts
            raise self._refused(str(unplaced)) from None
        self._depth += 1
        close()
        return found

    def _items(self, read: Callable[["Reader"], T]) -> list[T]:
        found: list[T] = []
        while self._next_item(first=not found):
            self._pause()
            found.append(read(self))
        return found

    def _next_item(self, *, first: bool) -> bool:
        following = self._look()
        if following == END:
            raise self._refused("EOF while parsing a list")
        if following == ord("]"):
            return False
        if first:
            return True
        if following != ord(","):
            raise self._refused("expected `,` or `]`")
        self._take()
        match self._look():
            case 0x5D:  # ]
                raise self._refused("trailing comma")
            case -1:
                raise self._refused("EOF while parsing a value")
            case _:
                return True

    def _next_name(self, *, first: bool) -> bool:
        following = self._look()
        if following == END:
            raise self._refused("EOF while parsing an object")
        if following == ord("}"):
            return False
        if not first:
            if following != ord(","):
                raise self._refused("expected `,` or `}`")
            self._take()
            following = self._look()
            if following == ord("}"):
                raise self._refused("trailing comma")
            if following == END:
                raise self._refused("EOF while parsing a value")
        if following != ord('"'):
            raise self._refused("key must be a string")
        return True

    def _pairs(self, read: Callable[["Reader"], T]) -> dict[str, T]:
        found: dict[str, T] = {}
        first = True
        while self._next_name(first=first):
            first = False
            self._pause()
            self._take()
            name = self._string()
            self._colon()
            found[name] = read(self)
        return found

    def _struct_items(self, name: str, fields: tuple[Field, ...]) -> list[Any]:
        found: list[Any] = []
        for field in fields:
            if not self._next_item(first=not found):
                many = "element" if len(fields) == 1 else "elements"
                raise _Unplaced(
                    f"invalid length {len(found)}, expected struct {name} with {len(fields)} {many}"
                )
            found.append(field.read(self))
        return found

    def _struct_members(self, fields: tuple[Field, ...]) -> list[Any]:
        by_name = {field.name: field for field in fields}
        found: dict[str, Any] = {}
        first = True
        while self._next_name(first=first):
            first = False
            self._take()
            name = self._string()
            if name in found:
                raise _Unplaced(f"duplicate field `{name}`")
            if name in by_name:
                self._colon()
                found[name] = by_name[name].read(self)
            else:
                self._colon()
                self._skip()
        for field in fields:
            if field.name not in found and not field.optional:
                raise _Unplaced(f"missing field `{field.name}`")
        return [found.get(field.name) for field in fields]

    def _close_list(self) -> None:
        match self._look():
            case 0x5D:  # ]
                self._take()
            case 0x2C:  # ,
                self._take()
                last = self._look() == ord("]")
                raise self._refused("trailing comma" if last else "trailing characters")
            case -1:
                raise self._refused("EOF while parsing a list")
            case _:
                raise self._refused("trailing characters")

    def _close_object(self) -> None:
        match self._look():
            case 0x7D:  # }
                self._take()
            case 0x2C:  # ,
                raise self._refused("trailing comma")
            case -1:
                raise self._refused("EOF while parsing an object")
            case _:
                raise self._refused("trailing characters")

    def _wrong_type(self, expected: str) -> Refused:
        """The refusal of a value of another type, which is read first as far as it is simple."""
        first = self._peek()
        if first in IDENTS:
            rest, value = IDENTS[first]
            self._take()
            self._ident(rest)
            found = "null" if value is None else f"boolean `{str(value).lower()}`"
        elif first in NUMBER_START:
            found = unexpected_number(self._number())
        elif first == ord('"'):
            self._take()
            found = f"string {quoted(self._string())}"
        elif first in CLOSE:
            found = "sequence" if first == ord("[") else "map"
        else:
            return self._refused("expected value")
        return self._refused(f"invalid type: {found}, expected {expected}")
