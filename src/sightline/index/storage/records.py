"""The record of a file: what an answer needs to know of its chunks, packed.

Taking a record apart costs more than reading it, so a chunk is only made when it is asked for.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property

import msgspec

from sightline.index.cutting.chunks import KINDS, Chunk, Symbol
from sightline.index.terms.words import compact

__all__ = ["Record", "pack_record"]

_KIND = {kind: place for place, kind in enumerate(KINDS)}
_encode = msgspec.msgpack.Encoder().encode

#: kind, name, container, first line, number of further lines, spans as starts and sizes, symbols
_Row = tuple[int, str, str, int, int, list[int], list[tuple[str, int, int, int, int]]]
#: The rows are told apart first and read when they are asked for: an answer needs few of them.
_split = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_decode = msgspec.msgpack.Decoder(_Row).decode


def pack_record(chunks: Sequence[Chunk]) -> bytes:
    rows: list[_Row] = []
    for chunk in chunks:
        spans: list[int] = []
        for start, end in chunk.spans:
            spans += (start, end - start)
        symbols = [
            (s.name, _KIND[s.kind], s.line - chunk.start_line, s.column, s.end_line - s.line)
            for s in chunk.symbols
        ]
        lines = chunk.end_line - chunk.start_line
        rows.append(
            (
                _KIND[chunk.kind],
                chunk.name,
                chunk.container,
                chunk.start_line,
                lines,
                spans,
                symbols,
            )
        )
    return _encode(rows)


class Record:
    """The chunks of one file, by number."""

    def __init__(self, data: bytes) -> None:
        self._rows = _split(data)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, number: int) -> Chunk:
        kind, name, container, start, lines, spans, symbols = _decode(self._rows[number])
        pairs = zip(spans[::2], spans[1::2], strict=True)
        return Chunk(
            KINDS[kind],
            name,
            container,
            start,
            start + lines,
            tuple([(begin, begin + size) for begin, size in pairs]),
            tuple(
                [
                    Symbol(text, KINDS[k], start + line, column, start + line + rows)
                    for text, k, line, column, rows in symbols
                ]
            ),
        )

    def declared(self, number: int, name: str) -> tuple[str, str, str | None]:
        """The name and container of a chunk, and the kind of its symbol of a given name, or of that
        name in another spelling."""
        _, own, container, _, _, _, symbols = _decode(self._rows[number])
        kinds = {symbol[0]: KINDS[symbol[1]] for symbol in reversed(symbols)}
        if name not in kinds:
            kinds = {compact(spelled): kind for spelled, kind in kinds.items()}
            name = compact(name)
        return own, container, kinds.get(name)

    def owner(self, offset: int) -> int | None:
        """The chunk a byte belongs to. What lies between chunks belongs to the one before."""
        starts, numbers = self._owners
        if not numbers:
            return None
        return numbers[max(0, bisect_right(starts, offset) - 1)]

    @cached_property
    def _owners(self) -> tuple[list[int], list[int]]:
        spans = sorted(
            [
                (start, number)
                for number, row in enumerate(self._rows)
                for start in _decode(row)[5][::2]
            ]
        )
        return [start for start, _ in spans], [number for _, number in spans]
