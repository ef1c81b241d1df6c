"""Scores in single precision, and their one spelling.

A score is the quotient of two counts, computed with 32-bit floats because v0 does, and written with
the fewest digits that read back as the same 32-bit float.

>>> spelled(ratio(1, 3)), spelled(ratio(3, 4)), spelled(ratio(1, 16384))
('0.33333334', '0.75', '0.000061035156')
"""

import struct

from sightline.context.numbers import SINGLE_PLAIN, laid_out

__all__ = ["ratio", "single", "spelled"]

_SINGLE = struct.Struct("<f")
#: A decimal number of so many digits is told apart by every 32-bit float.
_SURE_DIGITS = 6
_MOST_DIGITS = 9


def single(number: float) -> float:
    """The nearest 32-bit float."""
    value: float = _SINGLE.unpack(_SINGLE.pack(number))[0]
    return value


def ratio(matches: int, total: int) -> float:
    """``matches / total`` in single precision; 0 when there is nothing to divide by.

    Rounding the double quotient of two single numbers gives the correctly rounded single quotient.
    """
    if not matches or not total:
        return 0.0
    return single(single(matches) / single(total))


def spelled(score: float) -> str:
    """The shortest decimal text of a finite, non-negative single number."""
    if score == 0:
        return "0.0"
    digits, exponent = _shortest(score)
    return laid_out(digits, exponent, SINGLE_PLAIN)


def _shortest(score: float) -> tuple[str, int]:
    """The fewest significant digits that read back, and the power of ten of the first one."""
    for count in range(_SURE_DIGITS, _MOST_DIGITS + 1):
        mantissa, _, exponent = f"{score:.{count - 1}e}".partition("e")
        digits = mantissa.replace(".", "")
        # Below a power of two the floats lie closer together, so that the nearest decimal may not
        # read back while its neighbour above does.
        for candidate in (digits, str(int(digits) + 1)):
            power = int(exponent) + len(candidate) - len(digits)
            text = f"{candidate[0]}.{candidate[1:]}e{power}"
            if single(float(text)) == score:
                return candidate.rstrip("0"), power
    raise AssertionError("nine digits always read back")
