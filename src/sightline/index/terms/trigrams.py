"""Trigrams: which files can contain a text, for literal and regular-expression search.

Bytes are folded first (ASCII letters to lower case, white space to a blank), which keeps every
promise that matters: if a text is in a file, each folded trigram of the text is in the file's list.
What a list promises is always checked against the file.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["FOLD", "fold", "text_codes", "trigrams_of"]

FOLD = bytes(c + 32 if 65 <= c <= 90 else 32 if c in (9, 10, 11, 12, 13) else c for c in range(256))


def fold(data: bytes) -> bytes:
    return data.translate(FOLD)


def trigrams_of(data: bytes) -> NDArray[np.uint32]:
    """The distinct trigrams of a file, sorted."""
    if len(data) < 3:
        return np.zeros(0, np.uint32)
    # Four bytes from every place on, read as one number, less the last of them.
    padded = fold(data) + b"\0"
    overlapping: NDArray[np.uint32] = np.ndarray((len(data) - 2,), ">u4", padded, strides=(1,))
    codes = overlapping.astype(np.uint32)
    codes >>= np.uint32(8)
    codes.sort()
    keep = np.empty(len(codes), bool)
    keep[0] = True
    np.not_equal(codes[1:], codes[:-1], out=keep[1:])
    return codes[keep]


def text_codes(text: bytes) -> list[int]:
    """The trigrams that every file containing ``text`` has.

    >>> text_codes(b"AbC") == text_codes(b"abc") == [0x616263]
    True
    """
    folded = fold(text)
    return sorted({int.from_bytes(folded[i : i + 3], "big") for i in range(len(folded) - 2)})
