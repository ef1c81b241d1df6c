"""Text that cannot do anything to a terminal but be read there.

Names of files, lines of source and what programs say may hold escapes that set a title, move the
cursor, or turn the direction of writing, and line ends that pass for a result of ours. Whatever a
command prints that it did not write itself goes through here.
"""

import re
import sys

__all__ = ["plain", "plain_json", "plain_source", "write_json"]

_TAB = " " * 4


def plain(text: object) -> str:
    """Text on one line that cannot move a cursor.

    >>> plain("a\\x1b]0;x\\x07\\n\\u202eb é")
    'a?]0;x???b é'
    """
    return "".join(c if c.isprintable() else "?" for c in str(text))


def plain_source(line: str) -> str:
    """The same for a line of a file, in which tabs mean something."""
    return plain(line.removesuffix("\r").replace("\t", _TAB))


def plain_json(text: str) -> str:
    """The same JSON, whose texts hold only characters that can be seen.

    >>> plain_json('["\\u202e\\x9b\\ud800é"]')
    '["\\\\u202e\\\\u009b\\\\ud800é"]'
    """
    return text if text.isprintable() else re.sub(r"[^\n -~]", _escaped, text)


def write_json(data: bytes) -> None:
    """JSON as it is, for programs; where a person looks at it, without what cannot be seen."""
    if sys.stdout.isatty():
        data = plain_json(data.decode("utf-8", "replace")).encode()
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def _escaped(match: "re.Match[str]") -> str:
    character = match[0]
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i] << 8 | units[i + 1]:04x}" for i in range(0, len(units), 2))
