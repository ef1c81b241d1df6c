"""Cursor v2: an offset, the question it belongs to, and the state it was asked in.

A cursor is ``base64url(JSON)`` without padding. Only the exact bytes that ``encode`` writes are
read back: another member order, padding or a foreign alphabet is ``CursorInvalid``. Whether a
good cursor is stale or expired is decided where the state is known, in ``calls``.

>>> decode(encode(Cursor(100, "k", "s")), "k").offset
100
"""

import base64
import binascii
import json
from typing import NamedTuple

from sightline.contract.failures import CursorInvalid
from sightline.contract.uris import is_unicode

__all__ = ["Cursor", "decode", "encode"]

VERSION = 2
_MAX_CHARS = 1_024


class Cursor(NamedTuple):
    offset: int
    request: str
    snapshot: str


def encode(cursor: Cursor) -> str:
    payload = {"v": VERSION, "o": cursor.offset, "k": cursor.request, "s": cursor.snapshot}
    text = json.dumps(payload, separators=(",", ":"), ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(text: str, request: str) -> Cursor:
    """The cursor in ``text``, which must have been made for ``request``."""
    if len(text) > _MAX_CHARS:
        raise CursorInvalid
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        payload = json.loads(raw.decode())
    except (binascii.Error, ValueError, RecursionError):
        raise CursorInvalid from None
    match payload:
        case {"v": 2, "o": int(offset), "k": str(key), "s": str(snapshot)} if (
            offset >= 0 and not isinstance(offset, bool)
        ):
            cursor = Cursor(offset, key, snapshot)
        case _:
            raise CursorInvalid
    if key != request or not is_unicode(snapshot) or encode(cursor) != text:
        raise CursorInvalid
    return cursor
