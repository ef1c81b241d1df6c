"""Cutting settings at their outer keys: JSON, YAML, TOML, INI and the like, line by line.

No document is parsed: a file with a mistake in it is cut like any other. A chunk is a run of lines
that starts at an outer key; the keys of the two outer levels are its symbols.
"""

import itertools
import re
from bisect import bisect_right

from sightline.index.cutting.chunks import Chunk, Symbol, utf16_column
from sightline.index.cutting.windows import newlines, split_spans

__all__ = ["cut_keys"]

_MAX_KEY = 120
_MAX_KEYS = 2_000
_PATTERNS = {
    "json": re.compile(rb'^([ \t]*)"((?:[^"\\\n]|\\.){1,120})"[ \t]*:', re.MULTILINE),
    "yaml": re.compile(
        rb"^([ \t]*(?:- +)*)[\"']?([A-Za-z0-9_./$@*-][^\s:#\"'{}\[\],]{0,119})[\"']?[ \t]*"
        rb":(?=\s|$)",
        re.MULTILINE,
    ),
    "toml": re.compile(
        rb"^([ \t]*)(?:\[\[?[ \t]*([^\]\s][^\]\n]{0,119}?)[ \t]*\]\]?"
        rb"|([A-Za-z0-9_.\"'-]{1,120})[ \t]*=)",
        re.MULTILINE,
    ),
    "ini": re.compile(
        rb"^([ \t]*)(?:\[[ \t]*([^\]\s][^\]\n]{0,119}?)[ \t]*\]"
        rb"|([A-Za-z0-9_./-]{1,120})[ \t]*[=:])",
        re.MULTILINE,
    ),
    "hcl": re.compile(
        rb"^([ \t]*)(?:([a-z_]+(?:[ \t]+\"[^\"\n]{1,80}\"){0,2})[ \t]*\{|([A-Za-z0-9_-]+)[ \t]*=)",
        re.MULTILINE,
    ),
}


def cut_keys(data: bytes, language: str) -> list[Chunk]:
    """The chunks of a settings file."""
    lines = newlines(data)
    keys = _keys(data, language, lines)
    chunks: list[Chunk] = []
    if not data.strip():
        return chunks
    for piece in _group(data, [start for start, depth, _ in keys if depth == 0], lines):
        first = bisect_right(lines, piece[0][0] - 1)
        last = max(first, bisect_right(lines, piece[-1][1] - 2))
        inside = [
            (depth, symbol._replace(end_line=last if depth == 0 else symbol.line))
            for start, depth, symbol in keys
            if piece[0][0] <= start < piece[-1][1]
        ]
        outer = [symbol for depth, symbol in inside if depth == 0]
        name = outer[0].name if len(outer) == 1 else ""
        kind = "key" if outer else "text"
        chunks.append(
            Chunk(kind, name, "", first, last, tuple(piece), tuple(symbol for _, symbol in inside))
        )
    return chunks


def _keys(data: bytes, language: str, lines: list[int]) -> list[tuple[int, int, Symbol]]:
    """(offset of the line, depth 0 or 1, symbol) of the keys of the two outer levels."""
    found: list[tuple[int, int, int, str, int]] = []
    for match in _PATTERNS[language].finditer(data):
        group = 2 if match[2] is not None else 3
        is_table = match.re.groups == 3 and match[2] is not None
        indent = -1 if is_table else len(match[1].expandtabs(4))
        text = " ".join(match[group].decode("utf-8", "replace").split())[:_MAX_KEY]
        found.append((match.start(), indent, match.start(group), text, 0))
        if len(found) >= _MAX_KEYS:
            break
    levels = sorted({indent for _, indent, _, _, _ in found})[:2]
    keys: list[tuple[int, int, Symbol]] = []
    for start, indent, place, text, _ in found:
        if indent in levels:
            line = bisect_right(lines, place - 1)
            line_start = lines[line - 1] + 1 if line else 0
            column = utf16_column(data, place, place - line_start)
            keys.append((start, levels.index(indent), Symbol(text, "key", line, column, line)))
    return keys


_TARGET = 40


def _group(data: bytes, starts: list[int], lines: list[int]) -> list[list[tuple[int, int]]]:
    """Byte ranges that begin at outer keys and have a fair number of lines."""
    bounds = [0]
    for start in starts:
        first = bisect_right(lines, bounds[-1] - 1)
        if bisect_right(lines, start - 1) - first >= _TARGET:
            bounds.append(start)
    bounds.append(len(data))
    pieces: list[list[tuple[int, int]]] = []
    for start, end in itertools.pairwise(bounds):
        text = data[start:end]
        if text.strip():
            pieces += split_spans(data, [(start, end - len(text) + len(text.rstrip()))], lines)
    return pieces
