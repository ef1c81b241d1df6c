"""Reads the index that scip-python and scip-typescript write: where each symbol stands.

Only what is needed of the format, which is protocol buffers: an index has documents (field 2), a
document has a path (1) and occurrences (2), an occurrence has a range (1) and a symbol (2).
"""

from collections.abc import Iterator
from pathlib import Path

__all__ = ["ScipIndex"]

Place = tuple[str, int, int]


class ScipIndex:
    """The places of each symbol; paths are relative to the folder that was indexed."""

    def __init__(self, file: Path) -> None:
        self._symbols: dict[Place, set[str]] = {}
        self._places: dict[str, set[Place]] = {}
        for number, document in _fields(file.read_bytes()):
            if number == 2 and isinstance(document, bytes):
                self._read(document)

    def references(self, place: Place) -> set[Place]:
        """Every place of the symbols at a place; none where nothing is known."""
        found: set[Place] = set()
        for symbol in self._symbols.get(place, ()):
            found |= self._places[symbol]
        return found

    def _read(self, document: bytes) -> None:
        path = ""
        occurrences = []
        for number, value in _fields(document):
            if number == 1 and isinstance(value, bytes):
                path = value.decode()
            elif number == 2 and isinstance(value, bytes):
                occurrences.append(value)
        for occurrence in occurrences:
            numbers: list[int] = []
            symbol = ""
            for number, value in _fields(occurrence):
                if number == 1 and isinstance(value, bytes):
                    numbers += _packed(value)
                elif number == 1 and isinstance(value, int):
                    numbers.append(value)
                elif number == 2 and isinstance(value, bytes):
                    symbol = value.decode()
            if not symbol or len(numbers) < 2:
                continue
            own = f"{path} {symbol}" if symbol.startswith("local ") else symbol
            place = (path, numbers[0] + 1, numbers[1])
            self._symbols.setdefault(place, set()).add(own)
            self._places.setdefault(own, set()).add(place)


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield number, value
        elif wire == 2:
            length, at = _varint(data, at)
            yield number, data[at : at + length]
            at += length
        elif wire in {1, 5}:
            at += 8 if wire == 1 else 4
        else:
            raise ValueError(f"wire type {wire} is none of this format")


def _packed(data: bytes) -> list[int]:
    found, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        found.append(value)
    return found


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
