"""Which of many texts have a word: a filter, so that most of them need not be looked through.

Told for plain words only, of ASCII letters, digits and underscores; for anything else every text
may have it. A text that changed since counts as one that may have any word. So nothing is ever
missed, and what is told twice is the same.

>>> texts = {"a": b"go on", "b": b"gone"}
>>> words = WordFiles(texts)
>>> words.having(b"go", texts), words.having(b"go", texts | {"c": b"new"})
(['a'], ['a', 'c'])
"""

import time
from array import array
from collections.abc import Mapping, Sequence

__all__ = ["WordFiles"]

#: Every byte that is no part of a plain word becomes a blank.
_BLANKED = bytes(
    byte if byte < 0x80 and (chr(byte).isalnum() or byte == ord("_")) else ord(" ")
    for byte in range(256)
)
#: After so much others have a turn, and for so long.
_STEP_BYTES = 64 << 10
_PAUSE_S = 0.0005


class WordFiles:
    def __init__(self, texts: Mapping[str, bytes], *, gently: bool = False) -> None:
        """Reads all texts. ``gently``: beside work that somebody waits for."""
        self._texts = texts
        self._paths = list(texts)
        #: The numbers of the texts that have each word. Two words may share an entry.
        self._having: dict[int, array[int]] = {}
        #: What was last compared with the texts, and the paths whose text is another.
        self._compared: tuple[Mapping[str, bytes], Sequence[str]] = (texts, ())
        self._read(gently=gently)

    def having(self, word: bytes, texts: Mapping[str, bytes]) -> Sequence[str]:
        """The paths of these texts that may have a word, in their order."""
        if word.translate(_BLANKED) != word:
            return list(texts)
        paths = [self._paths[number] for number in self._having.get(hash(word), ())]
        if texts is self._texts:
            return paths
        others = self._others(texts)
        found = {path for path in paths if texts.get(path) is self._texts[path]}
        found.update(others)
        return [path for path in texts if path in found]

    def unlike(self, texts: Mapping[str, bytes]) -> int:
        """How many bytes of these texts are not known here."""
        return sum(len(texts[path]) for path in self._others(texts))

    def _others(self, texts: Mapping[str, bytes]) -> Sequence[str]:
        compared, others = self._compared
        if compared is not texts:
            others = [path for path, text in texts.items() if self._texts.get(path) is not text]
            self._compared = (texts, others)
        return others

    def _read(self, *, gently: bool) -> None:
        having: dict[int, list[int]] = {}
        read = 0
        for number, text in enumerate(self._texts.values()):
            for word in set(text.translate(_BLANKED).split()):
                having.setdefault(hash(word), []).append(number)
            read += len(text)
            if gently and read > _STEP_BYTES:
                read = 0
                time.sleep(_PAUSE_S)
        # So many lists would be looked through by every collection of garbage.
        self._having = {word: array("L", numbers) for word, numbers in having.items()}
