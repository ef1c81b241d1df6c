"""The pieces that words are spelt with, and their numbers.

A word is spelt with the longest pieces that fit, from left to right. A piece that continues a word
is written with ``##`` before it. What cannot be spelt is left out.
"""

from collections.abc import Iterable, Sequence

__all__ = ["Vocabulary"]

_MAX_PIECES = 6
_MAX_REMEMBERED = 200_000


class Vocabulary:
    """Numbers words. Safe for several threads: what it remembers depends on the word alone."""

    def __init__(self, pieces: Sequence[str]) -> None:
        """``pieces[i]`` has the number ``i``; the first stands for padding."""
        self.pieces = tuple(pieces)
        self._numbers = {piece: number for number, piece in enumerate(self.pieces) if number}
        self._longest = max((len(p.removeprefix("##")) for p in self.pieces), default=0)
        self._known: dict[str, tuple[int, ...]] = {}

    def __len__(self) -> int:
        return len(self.pieces)

    def spell(self, word: str) -> tuple[int, ...]:
        """The numbers of a word's pieces, at most six."""
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= _MAX_REMEMBERED:
                self._known = {}
            known = self._known[word] = self._spell(word)
        return known

    def spell_all(self, found: Iterable[str], limit: int) -> list[int]:
        """The numbers of the pieces of several words, no more than ``limit``."""
        numbers: list[int] = []
        for word in found:
            numbers += self.spell(word)
            if len(numbers) >= limit:
                return numbers[:limit]
        return numbers

    def _spell(self, word: str) -> tuple[int, ...]:
        numbers: list[int] = []
        begin = 0
        while begin < len(word) and len(numbers) < _MAX_PIECES:
            prefix = "##" if begin else ""
            for end in range(min(len(word), begin + self._longest), begin, -1):
                number = self._numbers.get(prefix + word[begin:end])
                if number is not None:
                    numbers.append(number)
                    begin = end
                    break
            else:
                begin += 1
        return tuple(numbers)
