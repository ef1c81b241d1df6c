"""From text to the model's words: identifiers taken apart, in lower case, without punctuation.

Unlike the terms of the lexical index, words are not stemmed and stop words stay: the model reads
them. Runs that are longer than any word (keys, hashes, encoded data) are passed over.

>>> words("def parseHTTPRequests(self, max_size=10):")
['def', 'parse', 'http', 'requests', 'self', 'max', 'size', '10']
"""

import re
from collections.abc import Iterable

__all__ = ["MAX_WORD", "distinct", "words"]

#: Characters of the longest word that is read.
MAX_WORD = 32
_WORD = re.compile(
    r"[A-Z]{2,}s(?![a-z])"  # URLs, IDs
    r"|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
    r"|[^\W\d_A-Za-z]+"  # letters of other alphabets
)
_MAX_DIGITS = 4


def words(text: str) -> list[str]:
    """The words of a text, in order."""
    return [
        word.lower()
        for word in _WORD.findall(text)
        if len(word) <= (MAX_WORD if not word.isdigit() else _MAX_DIGITS)
    ]


def distinct(found: Iterable[str]) -> list[str]:
    """Each word once, where it first stood; single letters say nothing about code."""
    return [word for word in dict.fromkeys(found) if len(word) > 1 or word.isdigit()]
