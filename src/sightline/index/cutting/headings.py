"""Cutting prose at its headings: Markdown's ``#`` and underlines, reStructuredText's underlines.

A section runs to the next heading, whatever its level; its container is the headings above it.
Headings inside fenced code are code.
"""

import re

from sightline.index.cutting.chunks import Chunk, Symbol, utf16_column
from sightline.index.cutting.windows import newlines, split_spans

__all__ = ["cut_headings"]

_HASHES = re.compile(rb"(#{1,6})\s+(\S.*?)\s*#*\s*$")
_FENCE = re.compile(rb"\s{0,3}(```+|~~~+)")
_RULE = re.compile(rb"([=\-~^\"'`#*+:.<>_])\1{2,}\s*$")
_MARKDOWN_RULE = re.compile(rb"(=|-)\1{2,}\s*$")
_MAX_TITLE = 200


def cut_headings(data: bytes, language: str) -> list[Chunk]:
    """The sections of a prose file, long ones in windows."""
    ends = newlines(data)
    starts = [0, *(end + 1 for end in ends)]
    headings = _headings(data.split(b"\n"), markdown=language == "markdown")
    marks = [(0, 0, "", 0), *headings]
    chunks: list[Chunk] = []
    above: list[tuple[int, str]] = []
    for number, (line, level, title, title_line) in enumerate(marks):
        end_line = marks[number + 1][0] if number + 1 < len(marks) else len(starts)
        above = [(depth, name) for depth, name in above if depth < level]
        container = " > ".join(name for _, name in above)
        if title:
            above.append((level, title))
        start = starts[line]
        end = starts[end_line] if end_line < len(starts) else len(data)
        if not data[start:end].strip():
            continue
        symbols = (_symbol(data, starts[title_line], title, title_line, end_line - 1),)
        end -= len(data[start:end]) - len(data[start:end].rstrip())
        for place, piece in enumerate(split_spans(data, [(start, end)], ends)):
            first = line + data.count(b"\n", start, piece[0][0])
            last = line + data.count(b"\n", start, piece[-1][1] - 1)
            own = symbols if title and place == 0 else ()
            kind = "section" if title else "text"
            chunks.append(Chunk(kind, title, container, first, last, tuple(piece), own))
    return chunks


def _symbol(data: bytes, start: int, title: str, line: int, end_line: int) -> Symbol:
    column = max(0, data[start:].split(b"\n", 1)[0].find(title.encode()[:20]))
    return Symbol(title, "section", line, utf16_column(data, start + column, column), end_line)


def _headings(lines: list[bytes], *, markdown: bool) -> list[tuple[int, int, str, int]]:
    """(first line, level, title, line of the title) of every heading."""
    found: list[tuple[int, int, str, int]] = []
    styles: list[bytes] = []
    fence = b""
    for number, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = b"" if fence else mark[1][:3]
            continue
        if fence:
            continue
        hashes = _HASHES.match(line) if markdown else None
        if hashes:
            found.append((number, len(hashes[1]), _title(hashes[2]), number))
            continue
        rule = (_MARKDOWN_RULE if markdown else _RULE).match(line)
        if rule and _is_underline(lines, number, line):
            over = number >= 2 and lines[number - 2].strip()[:3] == line.strip()[:3]
            style = rule[1] + (b"o" if over and not markdown else b"")
            if style not in styles:
                styles.append(style)
            level = (1 if rule[1] == b"=" else 2) if markdown else styles.index(style) + 1
            first = number - 2 if over and not markdown else number - 1
            found.append((first, level, _title(lines[number - 1]), number - 1))
    return [heading for heading in found if heading[2]]


def _is_underline(lines: list[bytes], number: int, line: bytes) -> bool:
    """Whether a rule of punctuation stands below a title, and not around a table or a break."""
    if number == 0:
        return False
    title = lines[number - 1].rstrip()
    if not title.strip() or _RULE.match(title) or title[:1] in b" \t|":
        return False
    before = lines[number - 2].strip() if number >= 2 else b""
    standalone = not before or bool(_RULE.match(before))
    return standalone and len(line.rstrip()) >= min(len(title.decode("utf-8", "replace")), 40) - 1


def _title(raw: bytes) -> str:
    return " ".join(raw.decode("utf-8", "replace").split())[:_MAX_TITLE]
