"""Text that leaves the program: lines and columns, deterministic cuts.

Columns count UTF-16 code units, as the Language Server Protocol does.
"""

import re
from collections.abc import Iterable, Sequence

__all__ = [
    "PLAIN_PATH",
    "column_of",
    "cut_code_points",
    "cut_sentences",
    "cut_utf8",
    "did_you_mean",
    "line_length_utf16",
    "line_text",
    "listed",
    "listed_paths",
    "visible",
]

#: A pattern for paths that may stand in a sentence of ours: no blanks, no words of their own. Web
#: frameworks give names like ``(shop)/[[...slug]]/@modal/$id.tsx`` a meaning.
PLAIN_PATH = r"[\w./+\\()\[\]@$~-]{1,120}"
#: Where a sentence of a summary ends and the next one begins.
_NEXT = re.compile(r"(?<=\.) (?=[^a-z ])")
_CUT = "…"
#: A piece of text that is gone through line by line.
_STEPPED = 4_096


def line_text(text: str, line: int) -> str | None:
    """The text of a 0-based line without its end, or ``None`` past the last line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    # Counting is many times faster than stepping from line to line.
    start, high = 0, len(text)
    while high - start > _STEPPED:
        middle = (start + high) // 2
        ends = text.count("\n", start, middle)
        if ends < line:
            line -= ends
            start = middle
        else:
            high = middle
    for _ in range(line):
        start = text.find("\n", start) + 1
        if not start:
            return None
    start = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    return text[start : end if end >= 0 else len(text)]


def line_length_utf16(line: str) -> int:
    """How many UTF-16 code units a line has."""
    if line.isascii():
        return len(line)
    return len(line.encode("utf-16-le", "surrogatepass")) // 2


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


def cut_sentences(text: str, limit: int) -> str:
    """Whole sentences of at most ``limit`` code points, and how many are left out.

    >>> cut_sentences("One is here. Two is there. Three is gone.", 40)
    'One is here. 2 notes are left out.'
    """
    if len(text) <= limit:
        return text
    sentences = _NEXT.split(text)
    for kept in range(len(sentences) - 1, 0, -1):
        shown = " ".join(sentences[:kept]) + _left_out(len(sentences) - kept)
        if len(shown) <= limit:
            return shown
    end = _CUT + _left_out(len(sentences) - 1)
    return sentences[0][: max(limit - len(end), 0)] + end


def _left_out(notes: int) -> str:
    if not notes:
        return ""
    return f" {notes} notes are left out." if notes > 1 else " 1 note is left out."


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


def listed_paths(paths: Sequence[str], most: int) -> str:
    """Paths in brackets for a sentence, those that may stand in one; nothing if none may.

    >>> listed_paths(["a.py", "b c.py", "d.py"], 2), listed_paths(["b c.py"], 2)
    (' (a.py, d.py, 1 more)', '')
    """
    plain = [path for path in paths if re.fullmatch(PLAIN_PATH, path)]
    if not plain:
        return ""
    more = len(paths) - len(plain[:most])
    return f" ({', '.join([*plain[:most], *([f'{more} more'] if more else [])])})"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that names the known word nearest to one that is not, or nothing.

    >>> did_you_mean("prot", ["port", "dense"])
    'did you mean port?'
    """
    import difflib  # which takes a moment, and only mistakes need

    close = difflib.get_close_matches(word, list(known), n=1)
    return f"did you mean {close[0]}?" if close else ""


def visible(text: str) -> str:
    """Text on one line, each run of blanks as one, without what cannot be seen.

    >>> visible(" a\\tb\\n\\x1b[2J ")
    'a b [2J'
    """
    if not text.isprintable():
        text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split())
