"""What a text may name: a symbol by its name, by its file and name, or by a place.

>>> parse("shop.cart.Cart.add()")
Address(path='', parts=('shop', 'cart', 'Cart', 'add'), line=None, column=None)
>>> parse("shop/cart.py::Cart.add")
Address(path='shop/cart.py', parts=('Cart', 'add'), line=None, column=None)
>>> parse("shop/cart.py:7:add"), parse("shop/cart.py:7:3")
(Address(path='shop/cart.py', parts=('add',), line=6, column=None), \
Address(path='shop/cart.py', parts=(), line=6, column=2))
"""

import re
from typing import NamedTuple

from sightline.contract.failures import UriInvalid
from sightline.contract.uris import path_of
from sightline.index.reading.languages import language_of

__all__ = ["Address", "parse"]

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>[1-9]\d{0,8})(?::(?P<rest>[^:\s]*))?:?")
_SEPARATOR = re.compile(r"::|[.#]")
_ARGUMENTS = re.compile(r"\(.*\)\s*\Z", re.DOTALL)
#: What a file of no known language ends in.
_PROSE = "text"


class Address(NamedTuple):
    """``line`` and ``column`` are 0-based. Without parts and line it is a whole file."""

    path: str = ""
    parts: tuple[str, ...] = ()
    line: int | None = None
    column: int | None = None


def parse(text: str) -> Address:
    """What a text says. Whether there is such a thing, it does not know."""
    text = text.strip().strip("`'\"")
    if text.startswith("file:"):
        text = _without_scheme(text)
    place = _PLACE.fullmatch(text)
    if place is not None and "::" not in place["path"]:
        return _at_place(place["path"], int(place["line"]) - 1, place["rest"] or "")
    path, mark, rest = text.partition("::")
    if mark and is_path(path):
        return Address(path, _parts(rest))
    if is_path(text):
        return Address(text)
    return Address(parts=_parts(text))


def is_path(text: str) -> bool:
    """Whether a text is spelled like a path: it has a slash, or ends as a file of a language does.

    >>> is_path("cart.py"), is_path("Cart.add"), is_path("shop/")
    (True, False, True)
    """
    return text in (".", "..") or "/" in text or "\\" in text or language_of(text).name != _PROSE


def _at_place(path: str, line: int, rest: str) -> Address:
    if rest.isdecimal():
        return Address(path, (), line, max(int(rest[:9]) - 1, 0))
    return Address(path, _parts(rest)[-1:], line)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(filter(None, _SEPARATOR.split(_ARGUMENTS.sub("", text.strip()))))


def _without_scheme(text: str) -> str:
    """A ``file:`` URI as the path it names, with what stands behind it."""
    uri, mark, rest = text.partition("::")
    if not mark:
        uri, mark, rest = re.sub(r"(?::[\w$]+){1,2}\Z", "", text), "", ""
        rest = text[len(uri) :]
    try:
        return path_of(uri) + mark + rest
    except UriInvalid:
        return text
