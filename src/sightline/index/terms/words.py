"""From text to terms: identifiers taken apart, words lower-cased and lightly stemmed.

Every run of word characters is one raw word. A raw word gives the terms of its parts (at case
changes, underscores and digits) and, where there are several parts, one term for the whole, so
that ``parseHTTPRequest`` is found by "parse request" and by its own name in any spelling.

>>> terms("loadHTTPRequests")
['load', 'http', 'request', 'loadhttprequests']
>>> terms("utf_8"), terms("The"), terms("connections")
(['utf', 'utf8'], [], ['connect'])
"""

import re

from sightline.index.terms.stems import stem

__all__ = [
    "MAX_RAW",
    "MAX_TERM",
    "STOPWORDS",
    "blanked",
    "compact",
    "name_terms",
    "parts_of",
    "raw_words",
    "raw_words_of",
    "terms",
]

_WORD = re.compile(r"\w+")
#: Every ASCII character that is not part of a word as a blank.
_BLANKED = bytes(
    byte if chr(byte).isalnum() or byte == 0x5F or byte >= 0x80 else 0x20 for byte in range(256)
)
_PART = re.compile(
    r"[A-Z]{2,}s(?![a-z])"  # URLs, IDs
    r"|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+"
)
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff]+")

#: Longer runs are keys, hashes and encoded data; nobody asks for them in words.
MAX_RAW = 80
MAX_TERM = 40

#: Words that say nothing about code. They are neither indexed in bodies nor asked for.
STOPWORDS = frozenset(
    """
    a an and are as at be been but by can could did do does for from had has have he her his how i
    if in into is it its me my no not of on or our she should so some such than that the their them
    then there these they this to too us was we were what when where which while who whom whose why
    will with would you your
    """.split()
)


def raw_words(text: str) -> list[str]:
    """The runs of word characters in a text, in order."""
    return _WORD.findall(text)


def blanked(data: bytes) -> bytes:
    """An ASCII text with blanks for whatever is not part of a word."""
    return data.translate(_BLANKED)


def raw_words_of(data: bytes) -> list[bytes]:
    """The same for UTF-8 bytes, several times faster."""
    if data.isascii():
        return blanked(data).split()
    return " ".join(_WORD.findall(data.decode("utf-8", "replace"))).encode().split()


def terms(raw: str) -> list[str]:
    """The terms one raw word of a body is indexed under."""
    if raw.lower() in STOPWORDS:
        return []
    return name_terms(raw)


def name_terms(raw: str) -> list[str]:
    """The terms of one raw word of a name. Stop words count here: ``is_in`` is a name."""
    if len(raw) > MAX_RAW:
        return []
    return _split(raw) if raw.isascii() else _wide(raw)


def compact(name: str) -> str:
    """A name in the one spelling that ignores case and underscores."""
    return name.replace("_", "").lower()


def parts_of(raw: str) -> list[str]:
    """The parts of an ASCII word as they are written, without underscores."""
    if raw.isalpha() and (raw[1:].islower() or raw.isupper()):
        return [raw]  # most words
    return _PART.findall(raw)


def _split(raw: str) -> list[str]:
    parts = parts_of(raw)
    found = [stem(part.lower()) for part in parts if 1 < len(part) <= MAX_TERM]
    if len(parts) > 1:
        whole = "".join(parts).lower()
        if len(whole) <= MAX_TERM:
            found.append(whole)
    return found


def _wide(raw: str) -> list[str]:
    """Words of other scripts: whole, or by pairs of characters where blanks do not part them."""
    found: list[str] = []
    for run in _WIDE.findall(raw):
        found += [run[i : i + 2] for i in range(max(1, len(run) - 1))]
    for piece in _WIDE.split(raw):
        if piece.isascii():
            found += _split(piece) if piece else []
        else:
            word = piece.casefold().strip("_")
            if 1 < len(word) <= MAX_TERM:
                found.append(word)
    return found
