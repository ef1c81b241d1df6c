"""Pages of answers in words: which lines of a text a page has, and how its last line goes on.

A page is cut from the whole text each time, by its number and size alone, so nothing is kept
between calls. The digest in ``more: page=2-k7qf4c`` is of the question, the size and the state of
the workspace; a page that is asked for in another state is refused.
"""

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sightline.contract.failures import CursorInvalid, CursorStale
from sightline.tools.tool import Section

__all__ = ["FIRST", "Wanted", "digest_of", "page_of_text", "wanted"]

_PAGE = re.compile(r"([1-9][0-9]{0,5})-([a-z2-7]{6})")
#: What the last line of a cut page takes.
_MORE_BYTES = 32
_CHANGED = (
    "the workspace changed since that page was made, or the question did; ask again without page"
)


class Wanted(NamedTuple):
    """A page by its number, and the digest that it was promised with."""

    number: int
    digest: str = ""


FIRST = Wanted(1)


def wanted(text: str | None) -> Wanted:
    """The page that a caller asks for.

    >>> wanted("2-k7qf4c")
    Wanted(number=2, digest='k7qf4c')
    """
    if text is None:
        return FIRST
    found = _PAGE.fullmatch(text)
    if found is None:
        raise CursorInvalid("page names no page of an answer; pass what follows more: page=")
    return Wanted(int(found[1]), found[2])


def digest_of(*parts: object) -> str:
    """Six characters that stand for a question in a state."""
    digest = hashlib.sha256("\0".join(map(str, parts)).encode()).digest()
    return base64.b32encode(digest).decode("ascii")[:6].lower()


def page_of_text(sections: Sequence[Section], page: Wanted, size: int, digest: str) -> str:
    """A page of about so many bytes, the ``more`` line with it. At least one line of it is new."""
    if page.digest and page.digest != digest:
        raise CursorStale(_CHANGED)
    for number, (lines, more) in enumerate(_pages(sections, size), 1):
        if number == page.number:
            last = [f"more: page={number + 1}-{digest}"] if more else []
            return "\n".join([*lines, *last])
    raise CursorInvalid("there are fewer pages; ask again without page")


class _Piece(NamedTuple):
    """A line, and what of it a page has to repeat that begins with it."""

    line: str
    above: tuple[str, ...]
    #: How many bytes there are from here to the end of the block.
    rest: int
    begins: bool


def _pieces(sections: Sequence[Section]) -> Iterator[_Piece]:
    for number, section in enumerate(sections):
        if number:
            yield _Piece("", (), 1, begins=True)
        yield from _of_block("", section.head, ())
        for block in section.blocks:
            yield from _of_block(block.title, block.lines, tuple(section.head))


def _of_block(title: str, lines: Sequence[str], head: tuple[str, ...]) -> Iterator[_Piece]:
    all_lines = [title, *lines] if title else list(lines)
    rest = sum(len(line.encode()) + 1 for line in all_lines)
    for place, line in enumerate(all_lines):
        inside = (title,) if title and place else ()
        yield _Piece(line, (*head, *inside), rest, begins=place == 0)
        rest -= len(line.encode()) + 1


def _pages(sections: Sequence[Section], size: int) -> Iterator[tuple[list[str], bool]]:
    """The lines of each page, and whether there are more."""
    room = max(size - _MORE_BYTES, 0)
    page: list[str] = []
    used = fresh = 0
    for piece in _pieces(sections):
        length = len(piece.line.encode()) + 1
        # A block that does not fit begins the next page, if it fits there.
        whole = piece.begins and fresh and used + piece.rest > room >= piece.rest
        if fresh and (used + length > room or whole):
            yield page, True
            page, fresh = list(piece.above), 0
            if not piece.line:
                continue
            used = sum(len(line.encode()) + 1 for line in page)
        page.append(piece.line)
        used, fresh = used + length, fresh + 1
    yield page, False
