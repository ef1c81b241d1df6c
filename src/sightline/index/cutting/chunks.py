"""What a file is cut into: chunks, and the symbols that are declared in them.

A chunk is the unit of ranking and of answers: a declaration, a section, a group of keys or a window
of lines. The chunks of a file share no text, so that counts over chunks add up to counts over
files. A class does not contain the text of its methods; its span of lines does cover them.
"""

from typing import NamedTuple

__all__ = ["KINDS", "KIND_BITS", "Chunk", "Symbol", "utf16_column"]

#: Every kind of symbol or chunk. The order decides the bits in a segment: only append.
KINDS = (
    "class", "constant", "element", "enum", "field", "function", "index", "interface", "key",
    "macro", "method", "module", "namespace", "property", "rule", "section", "struct", "table",
    "text", "trait", "trigger", "type", "union", "variable", "view",
)  # fmt: skip
KIND_BITS = {kind: 1 << place for place, kind in enumerate(KINDS)}


class Symbol(NamedTuple):
    """A declared name. Lines and columns are 0-based; columns count UTF-16 units."""

    name: str
    kind: str
    line: int
    column: int
    end_line: int


class Chunk(NamedTuple):
    kind: str
    #: The declared name, or nothing for a window of text.
    name: str
    #: The names around it, joined by dots: ``Parser.parse`` has the container ``Parser``.
    container: str
    #: 0-based, both inclusive, covering also what belongs to inner chunks.
    start_line: int
    end_line: int
    #: Its own text, as byte ranges of the file.
    spans: tuple[tuple[int, int], ...]
    #: Its own symbol first, then the small ones declared inside it.
    symbols: tuple[Symbol, ...] = ()


def utf16_column(data: bytes, start: int, column: int) -> int:
    """The UTF-16 column of the byte at ``start``, which is ``column`` bytes into its line."""
    prefix = data[start - column : start]
    if prefix.isascii():
        return column
    return len(prefix.decode("utf-8", "replace").encode("utf-16-le")) // 2
