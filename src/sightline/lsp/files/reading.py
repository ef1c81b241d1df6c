"""Reading small files of a workspace for our own use: configuration that names other files.

Only regular files, and never more than a limit: a pipe or a huge file in a hostile project costs
nothing. What cannot be read counts as absent.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from sightline.workspace.regular import open_regular

__all__ = [
    "JSON_LIMIT",
    "names_in",
    "read_bytes",
    "read_json",
    "read_text",
    "read_toml",
    "table",
    "texts",
    "without_comments",
]

_LIMIT = 64 << 20
#: What is made of JSON may take twenty times its size, and nobody writes so much by hand.
JSON_LIMIT = 2 << 20
_TOML_LIMIT = 1 << 20
#: What ends a line of a script.
_LINE_END = re.compile("[\n\r\u2028\u2029]")
#: A key of more parts is none that anybody wrote, and reading it takes the square of its length.
_DEEPEST = 64
_DEEP = re.compile(r"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){64}").search


def read_text(path: str, limit: int = _LIMIT) -> str | None:
    """The text of a regular file of at most ``limit`` bytes, or ``None``."""
    data = read_bytes(path, limit)
    return data.decode("utf-8-sig", errors="replace") if data is not None else None


def read_bytes(path: str, limit: int = _LIMIT) -> bytes | None:
    """What a regular file of at most ``limit`` bytes holds, or ``None``."""
    file = open_regular(path, links=True)
    if file is None:
        return None
    with file:
        try:
            if os.fstat(file.fileno()).st_size > limit:
                return None
            return file.read(limit)
        except OSError:
            return None


def names_in(folder: str) -> list[str]:
    """What is in a folder, sorted; nothing if it cannot be looked into."""
    try:
        return sorted(os.listdir(folder))
    except (OSError, ValueError):  # the name may be a project's own, with a NUL in it
        return []


def read_toml(path: str) -> Mapping[str, Any]:
    """What a TOML file says; nothing if it is none."""
    text = read_text(path, _TOML_LIMIT)
    if not text or any(line.count(".") > _DEEPEST and _DEEP(line) for line in text.splitlines()):
        return {}
    import tomllib  # which most never need

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):  # also a number of thousands of digits
        return {}


def table(value: object, *names: str) -> Mapping[str, Any]:
    """The table in tables that names lead to; nothing if there is none.

    >>> table({"tool": {"ty": {"a": 1}}}, "tool", "ty"), table({"tool": 1}, "tool", "ty")
    ({'a': 1}, {})
    """
    for name in names:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def texts(value: object) -> list[str]:
    """The texts in a list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def read_json(path: str, *, comments: bool = False) -> Any:  # noqa: ANN401 - any JSON
    """The value in a JSON file, or ``None``. ``comments``: as TypeScript's configuration allows."""
    text = read_text(path, JSON_LIMIT)
    if text is None:
        return None
    try:
        return json.loads(without_comments(text) if comments else text)
    except (ValueError, RecursionError):
        return None


def without_comments(text: str) -> str:
    """JSON with comments and trailing commas as plain JSON.

    >>> without_comments('{"a": [1, /* two */ 3,], // end')
    '{"a": [1,  3], '
    """
    out: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        if character == '"':
            start, place = place, _string_end(text, place)
            out.append(text[start:place])
        elif text.startswith("//", place):
            end = _LINE_END.search(text, place)
            place = len(text) if end is None else end.start()
        elif text.startswith("/*", place):
            closed = text.find("*/", place + 2)
            place = len(text) if closed < 0 else closed + 2
        elif character in "]}":
            _drop_comma(out)
            out.append(character)
            place += 1
        else:
            out.append(character)
            place += 1
    return "".join(out)


def _string_end(text: str, place: int) -> int:
    place += 1
    while place < len(text) and text[place] != '"':
        place += 2 if text[place] == "\\" else 1
    return place + 1


def _drop_comma(out: list[str]) -> None:
    """Takes a comma back that stands before a closing bracket."""
    last = len(out) - 1
    while last >= 0 and out[last].isspace():
        last -= 1
    if last >= 0 and out[last] == ",":
        out[last] = ""
