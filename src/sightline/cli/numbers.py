"""Numbers that people and programs type, of any length.

Python makes no number of more than 4,300 digits, zeros in front included, and raises for one.
"""

__all__ = ["unsigned_64"]

_MAX = 2**64 - 1
_MAX_DIGITS = 20


def unsigned_64(digits: str) -> int | None:
    """The number that digits of ASCII spell; ``None`` if it takes more than 64 bits.

    >>> unsigned_64("0" * 5_000 + "7"), unsigned_64("18446744073709551616")
    (7, None)
    """
    significant = digits.lstrip("0") or "0"
    number = int(significant[: _MAX_DIGITS + 1])
    return number if number <= _MAX else None
