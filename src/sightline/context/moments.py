"""The time a cache was built: how it is written, and what is accepted when it is read.

Written: RFC 3339 in UTC with ``Z`` and 0, 3, 6 or 9 digits of a second, the fewest that are exact.
Read: any offset, ``T`` or a space, and some freedom with padding and blanks, as v0 allows. The
value itself is never used; a cache whose time cannot be read is damaged all the same.

>>> written(1_700_000_000_120_000_000)
'2023-11-14T22:13:20.120Z'
"""

import calendar
import re
from datetime import UTC, datetime, timedelta

from sightline.context.words import WHITE_SPACE

__all__ = ["check", "written"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INVALID = "input contains invalid characters"
_SHORT = "premature end of input"
_LONG = "trailing input"
_RANGE = "input is out of range"

_DIGIT_RUN = re.compile(r"[0-9]*")
_MAX_YEAR = 262_142
_MIN_YEAR = -262_143
_I64 = 2**63 - 1
_DAY_SECONDS = 86_400


def written(nanoseconds: int) -> str:
    """A moment, given in nanoseconds since 1970."""
    seconds, fraction = divmod(nanoseconds, 10**9)
    text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    digits = f"{fraction:09d}"
    while digits.endswith("000"):
        digits = digits[:-3]
    return f"{text}.{digits}Z" if digits else f"{text}Z"


def check(text: str) -> None:
    """Raises ``ValueError``, saying what is wrong, unless the text is a moment."""
    scan = _Scan(text)
    year = scan.year()
    month = scan.part("-", 1, 12)
    day = scan.part("-", 1, 31)
    scan.separator()
    scan.number(2, 0, 23)
    scan.part(":", 0, 59)
    scan.part(":", 0, 60)
    scan.fraction()
    offset = scan.offset()
    if scan.rest.lstrip(WHITE_SPACE):
        raise ValueError(_LONG)
    if not _MIN_YEAR <= year <= _MAX_YEAR or day > _days(year, month):
        raise ValueError(_RANGE)
    if offset >= _DAY_SECONDS:
        raise ValueError(_RANGE)


def _days(year: int, month: int) -> int:
    # The calendar repeats every 400 years; the standard library starts with the year 1.
    return calendar.monthrange(2000 + year % 400, month)[1]


class _Scan:
    def __init__(self, text: str) -> None:
        self.rest = text

    def year(self) -> int:
        self._blanks()
        sign = self.rest[:1]
        if sign in ("+", "-"):
            self.rest = self.rest[1:]
            value = self.number(len(self.rest) or 1, 0, _I64, blanks=False)
            if value >= 2**31 + (sign == "-"):
                raise ValueError(_RANGE)
            return -value if sign == "-" else value
        return self.number(4, 0, 9999)

    def part(self, separator: str, lowest: int, highest: int) -> int:
        """A separator, possibly after blanks, and a number of one or two digits."""
        self._blanks()
        if not self.rest:
            raise ValueError(_SHORT)
        if self.rest[0] != separator:
            raise ValueError(_INVALID)
        self.rest = self.rest[1:]
        return self.number(2, lowest, highest)

    def separator(self) -> None:
        if not self.rest:
            raise ValueError(_SHORT)
        if self.rest[0] not in "Tt ":
            raise ValueError(_INVALID)
        self.rest = self.rest[1:]

    def number(self, width: int, lowest: int, highest: int, *, blanks: bool = True) -> int:
        if blanks:
            self._blanks()
        if not self.rest:
            raise ValueError(_SHORT)
        run = _DIGIT_RUN.match(self.rest[:width])
        assert run is not None
        if not run[0]:
            raise ValueError(_INVALID)
        self.rest = self.rest[run.end() :]
        digits = run[0].lstrip("0")[:20] or "0"
        if not lowest <= int(digits) <= highest:
            raise ValueError(_RANGE)
        return int(digits)

    def fraction(self) -> None:
        if self.rest.startswith("."):
            self.rest = self.rest[1:]
            run = _DIGIT_RUN.match(self.rest)
            assert run is not None
            if not run[0]:
                raise ValueError(_INVALID if self.rest else _SHORT)
            self.rest = self.rest[run.end() :]
        self._blanks()

    def offset(self) -> int:
        """The distance from UTC in seconds, without its sign."""
        if self.rest[:3].upper() == "UTC" and self.rest[:3].isascii():
            self.rest = self.rest[3:]
            return 0
        if self.rest[:1] in ("Z", "z"):
            self.rest = self.rest[1:]
            return 0
        if not self.rest:
            raise ValueError(_SHORT)
        if self.rest[0] not in "+-\u2212":
            raise ValueError(_INVALID)
        self.rest = self.rest[1:]
        hours = self._two_digits("9")
        self.rest = self.rest.lstrip(WHITE_SPACE + ":")
        return hours * 3600 + self._two_digits("5") * 60

    def _two_digits(self, highest_first: str) -> int:
        if len(self.rest.encode()) < 2:
            raise ValueError(_SHORT)
        pair = self.rest[:2]
        if not (pair.isascii() and pair.isdigit()):
            raise ValueError(_INVALID)
        if pair[0] > highest_first:
            raise ValueError(_RANGE)
        self.rest = self.rest[2:]
        return int(pair)

    def _blanks(self) -> None:
        self.rest = self.rest.lstrip(WHITE_SPACE)
