"""Text that leaves the program: lines and columns, clean paths, deterministic cuts.

Columns count UTF-16 code units, as the Language Server Protocol does. A path outside the roots is
reduced to its last component before a text written by somebody else is shown.
"""

import re
from collections.abc import Callable, Sequence
from urllib.parse import unquote

__all__ = [
    "PLAIN_PATH",
    "column_of",
    "cut_code_points",
    "cut_utf8",
    "line_length_utf16",
    "line_text",
    "listed",
    "redact_paths",
]

#: A pattern for paths that may stand in a sentence of ours: no blanks, no words of their own.
PLAIN_PATH = r"[\w./+\\-]{1,120}"
_LINE_END = re.compile(r"\r\n|\n|\r")
_FILE_URI = re.compile(r"file:/+[^\s\"'`<>()\[\]{}|]*", re.IGNORECASE)
#: What parts the components of a link's path, on Windows too, however it is escaped.
_STEP = re.compile(r"[/\\]|%2f|%5c", re.IGNORECASE)
_COMPONENT = r"[^\s\"'`<>()\[\]{}|:;,*?/]+"
#: An absolute path in running text. It must not continue a word, a relative path or a URL's host.
_ABSOLUTE = re.compile(rf"(?<![\w.~/\\-])(?!(?<=:)//)/+(?:{_COMPONENT}/+)*{_COMPONENT}/*")


def line_text(text: str, line: int) -> str | None:
    """The text of a 0-based line without its end, or ``None`` past the last line."""
    if "\r" not in text:
        lines = text.split("\n", line + 1)
        return lines[line] if line < len(lines) else None
    start = 0
    for _ in range(line):
        end = _LINE_END.search(text, start)
        if end is None:
            return None
        start = end.end()
    end = _LINE_END.search(text, start)
    return text[start : end.start() if end else len(text)]


def line_length_utf16(line: str) -> int:
    """How many UTF-16 code units a line has."""
    if line.isascii():
        return len(line)
    return len(line) + sum(1 for character in line if character > "\uffff")


def column_of(line: str, units: int) -> int:
    """The index in a line of what stands after so many UTF-16 code units.

    >>> column_of("caf\u00e9 \U0001f600 x", 7)
    6
    """
    if line.isascii():
        return units
    before = line.encode("utf-16-le", "surrogatepass")[: units * 2]
    return len(before.decode("utf-16-le", "replace"))


def cut_code_points(text: str, limit: int) -> tuple[str, bool]:
    """At most ``limit`` code points, and whether anything was cut."""
    return (text, False) if len(text) <= limit else (text[:limit], True)


def cut_utf8(text: str, limit: int) -> str:
    """The longest prefix of at most ``limit`` UTF-8 bytes."""
    return text.encode()[: max(limit, 0)].decode(errors="ignore")


def listed(names: Sequence[str], most: int) -> str:
    """Names for a sentence, and how many more there are.

    >>> listed(["C", "Go", "Rust"], 2)
    'C, Go, 1 more'
    """
    more = [f"{len(names) - most} more"] if len(names) > most else []
    return ", ".join([*names[:most], *more])


def redact_paths(text: str, allowed: Callable[[str], bool], is_local: Callable[[str], bool]) -> str:
    """``text`` with links and absolute paths outside the roots reduced to their last component.

    ``allowed`` says whether a path may be shown. ``is_local`` says whether a path could name
    something on this machine: ``/api/users`` in a docstring is a route, not a path, and stays.
    """

    def shorten_uri(match: re.Match[str]) -> str:
        # Judged by what it names: an escape may hide a step out of a root, or spell one inside.
        path = unquote(match[0][len("file:") :].removeprefix("//").partition("#")[0])
        return (
            match[0] if allowed(path.replace("\\", "/")) else _STEP.split(match[0].rstrip("/"))[-1]
        )

    def shorten_path(match: re.Match[str]) -> str:
        path = "/" + match[0].lstrip("/")
        return match[0] if allowed(path) or not is_local(path) else _last(path)

    return _ABSOLUTE.sub(shorten_path, _FILE_URI.sub(shorten_uri, text))


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
