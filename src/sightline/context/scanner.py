"""The bytes of a JSON text: places, strings, numbers, and values that are only skipped.

``Reader`` builds typed values from these. Places are counted as v0 counts them: a byte that was
looked at counts for the column of a refusal, whether or not it was taken.
"""

import re
from collections.abc import Callable
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from sightline.context.numbers import Number, float_from_parts
from sightline.contract.possessive import possessive

__all__ = ["CLOSE", "END", "IDENTS", "NUMBER_START", "Refused", "Scanner"]

_U64 = 2**64 - 1
_I64 = 2**63
_I32 = 2**31 - 1
_BLANKS = re.compile(rb"[ \n\t\r]*")
_PLAIN = re.compile(rb'[^"\\\x00-\x1f]*')
#: A whole string after its opening quote, escapes well-formed.
_STRING = re.compile(
    possessive(rb'[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"')
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_HEX = re.compile(rb"[0-9a-fA-F]{4}")
_ESCAPES = {ord(k): v for k, v in zip('"\\/bfnrt', b'"\\/\b\f\n\r\t', strict=True)}
_DIGITS = frozenset(b"0123456789")
_EXPONENT = frozenset(b"eE")
_SIGNS = frozenset(b"+-")

#: What the end of the text looks like.
END = -1
#: The words of JSON by their first letter: the other letters, and the value.
IDENTS: dict[int, tuple[bytes, Any]] = {
    ord("n"): (b"ull", None),
    ord("t"): (b"rue", True),
    ord("f"): (b"alse", False),
}
NUMBER_START = _DIGITS | frozenset(b"-")
CLOSE = {ord("["): ord("]"), ord("{"): ord("}")}


class Refused(Exception):
    """The text cannot be read. ``str()`` says why and where."""


class Scanner:
    """Goes through one text. ``pause`` is called now and then, and may raise."""

    def __init__(self, data: bytes, pause: Callable[[], None] = lambda: None) -> None:
        self._data = data
        self._at = 0
        self._looked = False
        self._pause = pause

    # Bytes and places

    def _peek(self) -> int:
        """The next byte, looked at and not taken."""
        if self._at >= len(self._data):
            return END
        self._looked = True
        return self._data[self._at]

    def _look(self) -> int:
        """The next byte that is not blank, looked at and not taken."""
        blanks = _BLANKS.match(self._data, self._at)
        assert blanks is not None
        self._at = blanks.end()
        self._looked = False
        return self._peek()

    def _start(self) -> int:
        """The first byte of a value."""
        first = self._look()
        if first == END:
            raise self._refused("EOF while parsing a value")
        return first

    def _take(self) -> None:
        self._at += 1
        self._looked = False

    def _next_byte(self) -> int:
        """The next byte, taken; at the end nothing is."""
        found = self._peek()
        if found != END:
            self._take()
        return found

    def _ident(self, rest: bytes) -> None:
        for expected in rest:
            found = self._next_byte()
            if found == END:
                raise self._refused("EOF while parsing a value")
            if found != expected:
                raise self._refused("expected ident")

    def _colon(self) -> None:
        match self._look():
            case 0x3A:  # :
                self._take()
            case -1:
                raise self._refused("EOF while parsing an object")
            case _:
                raise self._refused("expected `:`")

    def _refused(self, text: str, *, back: int = 0) -> Refused:
        taken = self._at + (self._looked and self._at < len(self._data))
        before = self._data[:taken]
        line = before.count(b"\n") + 1
        column = taken - (before.rfind(b"\n") + 1)
        return Refused(f"{text} at line {line} column {max(column - back, 0)}")

    # Strings

    def _string(self) -> str:
        """A string whose opening quote was taken."""
        whole = _STRING.match(self._data, self._at)
        if whole is None:
            return self._string_by_steps()
        raw = self._data[self._at : whole.end()]
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            return self._string_by_steps()
        if "\\" in text:
            text = scanstring(text, 0)[0]
            if b"\\u" in raw and _SURROGATE.search(text):
                return self._string_by_steps()
        else:
            text = text[:-1]
        self._at = whole.end()
        return text

    def _string_by_steps(self) -> str:
        """Slowly, for the exact place of what is wrong."""
        found = bytearray()
        while True:
            plain = _PLAIN.match(self._data, self._at)
            assert plain is not None
            found += plain[0]
            self._at = plain.end()
            match self._next_in_string():
                case 0x22:  # "
                    break
                case 0x5C:  # backslash
                    found += self._escape()
                case _:
                    raise self._control_character()
        try:
            return found.decode("utf-8")
        except UnicodeDecodeError as error:
            raise self._refused(
                "invalid unicode code point", back=len(found) - error.start
            ) from None

    def _escape(self) -> bytes:
        letter = self._next_in_string()
        if letter in _ESCAPES:
            return bytes((_ESCAPES[letter],))
        if letter != ord("u"):
            raise self._refused("invalid escape")
        code = self._hex()
        if 0xDC00 <= code <= 0xDFFF:
            raise self._refused("lone leading surrogate in hex escape")
        if not 0xD800 <= code <= 0xDBFF:
            return chr(code).encode()
        for expected in b"\\u":
            if self._next_in_string() != expected:
                raise self._refused("unexpected end of hex escape")
        second = self._hex()
        if not 0xDC00 <= second <= 0xDFFF:
            raise self._refused("lone leading surrogate in hex escape")
        return chr(0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00)).encode()

    def _hex(self) -> int:
        digits = bytes(self._next_in_string() for _ in range(4))
        if _HEX.fullmatch(digits) is None:
            raise self._refused("invalid escape")
        return int(digits, 16)

    def _next_in_string(self) -> int:
        if self._at >= len(self._data):
            raise self._refused("EOF while parsing a string")
        self._at += 1
        return self._data[self._at - 1]

    def _control_character(self) -> Refused:
        return self._refused("control character (\\u0000-\\u001F) found while parsing a string")

    # Numbers

    def _number(self) -> Number:
        negative = self._peek() == ord("-")
        if negative:
            self._take()
        first = self._next_byte()
        if first == END:
            raise self._refused("EOF while parsing a value")
        if first not in _DIGITS:
            raise self._refused("invalid number")
        start = self._at - 1
        if first == ord("0"):
            if self._peek() in _DIGITS:
                raise self._refused("invalid number")
        else:
            self._take_digits()
        whole = self._data[start : self._at]
        fraction = self._fraction()
        exponent = self._exponent(lenient=False, zero=not (whole + fraction).strip(b"0"))
        if fraction or exponent is not None:
            return self._float(whole, fraction, exponent or 0, negative)
        number = int(whole) if len(whole) <= 20 else _U64 + 1
        if negative and 0 < number <= _I64:
            return -number
        if not negative and number <= _U64:
            return number
        return self._float(whole, b"", 0, negative)

    def _float(self, whole: bytes, fraction: bytes, exponent: int, negative: bool) -> float:
        number = float_from_parts(whole, fraction, exponent)
        if number is None:
            raise self._refused("number out of range")
        return -number if negative else number

    def _fraction(self) -> bytes:
        if self._peek() != ord("."):
            return b""
        self._take()
        start = self._at
        self._take_digits()
        if self._at == start:
            ended = self._peek() == END
            raise self._refused("EOF while parsing a value" if ended else "invalid number")
        return self._data[start : self._at]

    def _exponent(self, *, lenient: bool, zero: bool = False) -> int | None:
        """The power of ten, or ``None``. ``lenient`` is for numbers that are skipped."""
        if self._peek() not in _EXPONENT:
            return None
        self._take()
        sign = self._peek()
        if sign in _SIGNS:
            self._take()
        start = self._at
        digit = self._next_byte()
        if digit not in _DIGITS:
            ended = digit == END and not lenient
            raise self._refused("EOF while parsing a value" if ended else "invalid number")
        if lenient:
            self._take_digits()
            return 0
        while self._peek() in _DIGITS:
            self._take()
            if int(self._data[start : self._at]) > _I32:
                if not zero and sign != ord("-"):
                    raise self._refused("number out of range")
                self._take_digits()
                return -(2**31)
        power = int(self._data[start : self._at])
        return -power if sign == ord("-") else power

    def _take_digits(self) -> None:
        while self._peek() in _DIGITS:
            self._take()

    # What is skipped: checked for its form only, and as deep as it likes

    def _skip(self) -> None:
        open_brackets: list[int] = []
        while True:
            self._pause()
            first = self._start()
            if first in CLOSE:
                self._take()
                open_brackets.append(first)
                if self._skip_to_item(open_brackets, first=True):
                    continue
            else:
                self._skip_scalar(first)
                if not open_brackets:
                    return
                if self._skip_to_item(open_brackets, first=False):
                    continue
            return

    def _skip_scalar(self, first: int) -> None:
        if first in IDENTS:
            self._take()
            self._ident(IDENTS[first][0])
        elif first in NUMBER_START:
            self._skip_number()
        elif first == ord('"'):
            self._take()
            self._skip_string()
        else:
            raise self._refused("expected value")

    def _skip_to_item(self, open_brackets: list[int], *, first: bool) -> bool:
        """Moves to the next value inside the innermost bracket; ``False`` at the end of all."""
        while open_brackets:
            is_list = open_brackets[-1] == ord("[")
            following = self._look()
            if following == END:
                raise self._refused(f"EOF while parsing {'a list' if is_list else 'an object'}")
            if following == CLOSE[open_brackets[-1]]:
                self._take()
                open_brackets.pop()
                first = False
                continue
            if following == ord(",") and not first:
                self._take()
            elif not first:
                raise self._refused(f"expected `,` or `{']' if is_list else '}'}`")
            if not is_list:
                self._skip_name()
            return True
        return False

    def _skip_name(self) -> None:
        match self._look():
            case 0x22:  # "
                self._take()
            case -1:
                raise self._refused("EOF while parsing an object")
            case _:
                raise self._refused("key must be a string")
        self._skip_string()
        self._colon()

    def _skip_string(self) -> None:
        while True:
            plain = _PLAIN.match(self._data, self._at)
            assert plain is not None
            self._at = plain.end()
            match self._next_in_string():
                case 0x22:  # "
                    return
                case 0x5C:  # backslash
                    letter = self._next_in_string()
                    if letter == ord("u"):
                        self._hex()
                    elif letter not in _ESCAPES:
                        raise self._refused("invalid escape")
                case _:
                    raise self._control_character()

    def _skip_number(self) -> None:
        if self._peek() == ord("-"):
            self._take()
        first = self._next_byte()
        if first not in _DIGITS:
            raise self._refused("invalid number")
        if first == ord("0"):
            if self._peek() in _DIGITS:
                raise self._refused("invalid number")
        else:
            self._take_digits()
        if self._peek() == ord("."):
            self._take()
            start = self._at
            self._take_digits()
            if self._at == start:
                raise self._refused("invalid number")
        self._exponent(lenient=True)
