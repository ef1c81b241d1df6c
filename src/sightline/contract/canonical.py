"""Canonical JSON, its hash, and the order of strings.

Canonical JSON has sorted members, no blanks and JavaScript's spelling of numbers, so that two
equal values are equal bytes. It is what keys, ids and duplicate checks are computed from; answers
are encoded in their documented member order instead, because people read them.

>>> canonical_json({"b": None, "a": [1e21, 0.1, 1e-7]})
'{"a":[1e+21,0.1,1e-7],"b":null}'
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence

__all__ = ["JsonValue", "canonical_json", "sha256_hex", "utf16_key"]

JsonScalar = None | bool | int | float | str
JsonValue = JsonScalar | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


_HALF_PAIR = re.compile("[\ud800-\udfff]")


def utf16_key(text: str) -> bytes:
    """The sort key of a string: its UTF-16 code units.

    This is how JavaScript compares strings. It differs from code-point order where characters
    beyond U+FFFF meet characters in U+E000..U+FFFF.
    """
    return text.encode("utf-16-be", "surrogatepass")


def sha256_hex(text: str) -> str:
    """Lower-case hex SHA-256 of the text's UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_json(value: JsonValue) -> str:
    """One spelling per value. Numbers that are not finite become ``null``, as in JavaScript."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return _number(value)
        case str():
            return _string(value)
        case Mapping():
            members = sorted(value.items(), key=lambda member: utf16_key(member[0]))
            return (
                "{" + ",".join(f"{canonical_json(k)}:{canonical_json(v)}" for k, v in members) + "}"
            )
        case _:
            return "[" + ",".join(canonical_json(item) for item in value) + "]"


def _string(text: str) -> str:
    """Half a surrogate pair, which a path of undecodable bytes can hold, is escaped."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _HALF_PAIR.sub(lambda half: f"\\u{ord(half[0]):04x}", quoted)


def _number(value: float) -> str:
    """ECMAScript's Number-to-string: exponents only below 1e-6 and from 1e21 on."""
    try:
        number = float(value) if abs(value) >= 2**53 else value
    except OverflowError:
        return "null"  # JavaScript reads such a number as infinite
    if isinstance(number, int):
        return str(number)
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    sign, magnitude = ("-", -number) if number < 0 else ("", number)
    digits, exponent = _shortest(magnitude)
    point = len(digits) + exponent  # where the decimal point falls, counted from the first digit
    if 0 < point <= 21:
        if exponent >= 0:
            return sign + digits + "0" * exponent
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{point - 1:+d}"


def _shortest(number: float) -> tuple[str, int]:
    """The shortest digits that read back as ``number``, and the power of ten they are scaled by."""
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = fraction.rstrip("0")
    digits = (whole + fraction).lstrip("0")
    scale = int(exponent or 0) - len(fraction)
    trimmed = digits.rstrip("0")
    return trimmed, scale + len(digits) - len(trimmed)
