"""Words as v0 counts them: lower case, split at Unicode white space, nothing else removed.

``alpha,`` and ``alpha`` are two words. White space is the Unicode property White_Space, which is
not what ``str.split()`` splits at: Python also splits at U+001C..U+001F. Lower case is that of
Unicode 17, whichever version the interpreter has.

>>> words("Alpha  BETA\\u3000\\x1cx")
['alpha', 'beta', '\\x1cx']
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

__all__ = ["MOST_DISTINCT", "WHITE_SPACE", "count_terms", "count_words", "lower", "words"]

#: The characters with the property White_Space.
WHITE_SPACE = (
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009"
    "\u200a\u2028\u2029\u202f\u205f\u3000"
)
_SPACE = re.compile(f"[{WHITE_SPACE}]")
#: Where Python splits and v0 does not.
_PYTHON_ONLY = re.compile("[\x1c-\x1f]")
_WORD = re.compile(f"[^{WHITE_SPACE}]+")

#: Upper-case letters that are newer than Python 3.11's tables: first, last, distance.
_NEWER = (
    (0x1C89, 0x1C89, 1),
    (0xA7CB, 0xA7CB, 0x264 - 0xA7CB),
    (0xA7CC, 0xA7CC, 1),
    (0xA7CE, 0xA7CE, 1),
    (0xA7D2, 0xA7D2, 1),
    (0xA7D4, 0xA7D4, 1),
    (0xA7DA, 0xA7DA, 1),
    (0xA7DC, 0xA7DC, 0x19B - 0xA7DC),
    (0x10D50, 0x10D65, 0x20),
    (0x16EA0, 0x16EB8, 0x1B),
)
_NEWER_LETTERS = re.compile(
    "[" + "".join(f"{chr(first)}-{chr(last)}" for first, last, _ in _NEWER) + "]"
)
_NEWER_TABLE = {
    code: code + distance for first, last, distance in _NEWER for code in range(first, last + 1)
}

#: A text with more different words than this is counted again for every query.
MOST_DISTINCT = 100_000
#: How much text is taken at a time, so that long documents do not hold up other threads.
_CHUNK = 1 << 16


def lower(text: str) -> str:
    """Full Unicode lower case, with the rule for a final sigma."""
    lowered = text.lower()
    if not lowered.isascii() and _NEWER_LETTERS.search(lowered):
        return lowered.translate(_NEWER_TABLE)
    return lowered


def words(text: str) -> list[str]:
    """The words of a text, in order, with repetitions."""
    lowered = lower(text)
    if _PYTHON_ONLY.search(lowered):
        return _WORD.findall(lowered)
    return lowered.split()


def count_words(
    text: str, pause: Callable[[], None] = lambda: None, most: int = MOST_DISTINCT
) -> tuple[int, Counter[str] | None]:
    """How many words there are and how often each occurs.

    The counts are ``None`` when more than ``most`` different words occur, so that what is kept of a
    text stays in proportion to it.
    """
    total = 0
    counts: Counter[str] | None = Counter()
    for piece in _pieces(text, pause):
        found = words(piece)
        total += len(found)
        if counts is not None:
            counts.update(found)
            if len(counts) > most:
                counts = None
    return total, counts


def count_terms(
    text: str, terms: Mapping[str, int], pause: Callable[[], None] = lambda: None
) -> int:
    """How many words are terms, each as often as its number says."""
    return sum(terms.get(word, 0) for piece in _pieces(text, pause) for word in words(piece))


def _pieces(text: str, pause: Callable[[], None]) -> Iterator[str]:
    """A text in pieces that end at white space.

    Working on pieces changes nothing: neither words nor the rule for a final sigma reach across
    white space.
    """
    start = 0
    while start < len(text):
        pause()
        end = start + _CHUNK
        if end < len(text):
            space = _SPACE.search(text, end)
            end = space.start() if space else len(text)
        yield text[start:end]
        start = end
