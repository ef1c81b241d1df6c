"""Numbers of JSON texts as v0 reads and spells them.

An integer is an integer up to 64 bits; beyond that, and with a fraction or an exponent, a number is
a double computed the quick way: digits that do not fit 64 bits are dropped, then one multiplication
or division by a power of ten. Floats are written with the fewest digits that read back, plainly in
a range that depends on their size and with an exponent outside it.

>>> float_from_parts(b"12", b"5", 0), unexpected_number(1e21)
(12.5, 'floating point `1e+21`')
"""

__all__ = ["SINGLE_PLAIN", "Number", "float_from_parts", "laid_out", "unexpected_number"]

Number = int | float

#: The powers of ten of the first digit for which a float is written without an exponent.
SINGLE_PLAIN = range(-6, 13)
DOUBLE_PLAIN = range(-5, 16)

_U64 = 2**64 - 1
_MAX_POWER = 308


def float_from_parts(whole: bytes, fraction: bytes, exponent: int) -> float | None:
    """The number with these digits, or ``None`` when it is too large."""
    significand, dropped_from = 0, len(whole) + len(fraction)
    for place, digit in enumerate(whole + fraction):
        longer = significand * 10 + digit - ord("0")
        if longer > _U64:
            # The rest of the whole part only counts as zeros, that of the fraction not at all.
            dropped_from = place
            break
        significand = longer
    return _scaled(float(significand), exponent + len(whole) - dropped_from)


def unexpected_number(number: Number) -> str:
    """How a refusal names a number."""
    if isinstance(number, int):
        return f"integer `{number}`"
    return f"floating point `{_spelled(number)}`"


def laid_out(digits: str, exponent: int, plain: range) -> str:
    """Significant digits, the first of which stands for ten to the ``exponent``, as a text."""
    if exponent in plain:
        if exponent < 0:
            return f"0.{'0' * (-exponent - 1)}{digits}"
        point = exponent + 1
        return f"{digits[:point].ljust(point, '0')}.{digits[point:] or '0'}"
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{mantissa}e{exponent:+d}"


def _scaled(number: float, power: int) -> float | None:
    while power < -_MAX_POWER and number:
        number /= 1e308
        power += _MAX_POWER
    if number == 0:
        return 0.0
    if power < 0:
        return number / float(f"1e{-power}")
    if power > _MAX_POWER:
        return None
    number *= float(f"1e{power}")
    return None if number == float("inf") else number


def _spelled(number: float) -> str:
    text = repr(number)
    sign = "-" if text.startswith("-") else ""
    if number == 0:
        return f"{sign}0.0"
    mantissa, _, exponent = text.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    # The power of ten of the last digit, then of the first.
    power = int(exponent or 0) - len(fraction) + len(digits) - 1
    return sign + laid_out(digits.rstrip("0"), power, DOUBLE_PLAIN)
