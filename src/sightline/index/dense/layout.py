"""How a chunk or a query becomes a row of numbers, with what each number is about.

A chunk has three fields: the end of its path, its qualified name, and its text. In a text each word
counts once, so that more of a long function is seen. A query has one field of its own.
"""

from typing import NamedTuple

from sightline.index.dense.vocabulary import Vocabulary
from sightline.index.dense.words import distinct, words

__all__ = ["BODY", "FIELDS", "Layout", "NAME", "PATH", "QUERY", "Row"]

PATH, NAME, BODY, QUERY = range(4)
#: The number of fields.
FIELDS = 4
#: What is read of a text. Further words of a longer one change nothing.
_MAX_TEXT = 6_000
_MAX_PATH_WORDS = 8
_MAX_QUERY = 4_000


class Row(NamedTuple):
    """Numbers of pieces, the field of each, and its place within the field."""

    pieces: list[int]
    fields: list[int]
    places: list[int]


class Layout(NamedTuple):
    """How many pieces each field may have."""

    path: int = 12
    name: int = 10
    body: int = 72
    query: int = 48

    @property
    def longest(self) -> int:
        return max(self.path + self.name + self.body, self.query)

    def chunk(self, vocabulary: Vocabulary, path: str, name: str, body: str) -> Row:
        """The row of a chunk: never empty, so that every chunk has a vector."""
        parts = (
            vocabulary.spell_all(words(path)[-_MAX_PATH_WORDS:], self.path),
            vocabulary.spell_all(words(name[-200:]), self.name),
            vocabulary.spell_all(distinct(words(body[:_MAX_TEXT])), self.body),
        )
        return _row(parts, PATH)

    def question(self, vocabulary: Vocabulary, text: str) -> Row:
        """The row of a query."""
        found = distinct(words(text[:_MAX_QUERY]))
        return _row((vocabulary.spell_all(found, self.query),), QUERY)


def _row(parts: tuple[list[int], ...], first: int) -> Row:
    pieces: list[int] = []
    fields: list[int] = []
    places: list[int] = []
    for field, part in enumerate(parts, first):
        pieces += part
        fields += [field] * len(part)
        places += range(len(part))
    if not pieces:
        return Row([0], [first], [0])
    return Row(pieces, fields, places)
