"""TOML changed by its text: one table is put in or replaced, every other byte stays.

Python reads TOML but does not write it, and a printed one would lose its user's comments. So the
lines of one table are replaced, or put at the end; members that the user added to it are kept, and
the tables below it are left alone. Before the result is returned it is read: everything else must
say what it said before. A file in which the table is written another way (inline, by dotted keys)
fails that test and is refused.

    >>> print(put('a = 1 # mine', ["b", "c"], {"x": [1]}), end="")
    a = 1 # mine
    <BLANKLINE>
    [b.c]
    x = [1]
"""

import copy
import json
import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from typing import Any

__all__ = ["BadToml", "member", "put", "table", "value"]

_HEADER = re.compile(r"[ \t]*\[(?P<name>[^\[\]\n][^\n]*?)\][ \t]*(?:#[^\n]*)?\r?\n?\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
Table = Mapping[str, Any]


class BadToml(ValueError):
    """The text is not TOML, or cannot take the change. The text says what is in the way."""


def value(text: str) -> dict[str, Any]:
    """What the text says."""
    try:
        return tomllib.loads(text)
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise BadToml(str(error)) from None
    except RecursionError:
        raise BadToml("it is nested too deeply") from None


def put(text: str, path: Sequence[str], new: Table, drop: Collection[str] = ()) -> str:
    """The text with ``new`` in the table at ``path``; the members named in ``drop`` go."""
    before = value(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    problem = BadToml(f"{'.'.join(path)} is written in a form that cannot be changed safely")
    start, end = _span(text, path)
    there = member(before, path)
    try:
        own = member(tomllib.loads(text[start:end]), path) or {}
    except tomllib.TOMLDecodeError:
        raise problem from None
    if not isinstance(there, Mapping | None):
        raise problem
    merged = {key: kept for key, kept in own.items() if key not in drop} | dict(new)
    stanza = table(path, merged).replace("\n", newline)
    if start == end:
        gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
        changed = text + gap + stanza
    else:
        changed = text[:start] + stanza + text[end:]
    below = {k: v for k, v in (there or {}).items() if k not in own}
    for name in below.keys() & (set(drop) - new.keys()):
        raise BadToml(
            f"[{'.'.join((*path, name))}] belongs to another way to reach the server; "
            "remove that table and write again"
        )
    try:
        if tomllib.loads(changed) == _with(before, path, below | merged):
            return changed
    except (tomllib.TOMLDecodeError, TypeError):
        pass  # the table is there inline or by dotted keys, or is no table
    raise problem


def member(whole: Table, path: Sequence[str]) -> Any:  # noqa: ANN401 - any TOML value
    """What stands at ``path``, or ``None``."""
    found: Any = whole
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found


def table(path: Sequence[str], members: Table) -> str:
    """A table as text."""
    lines = [f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_printed(each)}" for name, each in members.items()]
    return "\n".join(lines) + "\n"


def _span(text: str, path: Sequence[str]) -> tuple[int, int]:
    """From the table's header to behind its last member; both the end if there is none."""
    start = end = len(text)
    at = 0
    for line in text.splitlines(keepends=True):
        header = line.lstrip(" \t").startswith("[")
        if header and start < len(text):
            return start, end
        if header and _names(line) == list(path):
            start, end = at, at + len(line)
        elif start < len(text) and line.strip() and not line.lstrip().startswith("#"):
            end = at + len(line)  # comments and blank lines behind the last member stay
        at += len(line)
    return start, end


def _names(line: str) -> list[str] | None:
    """The names in a header line, as TOML reads them."""
    found = _HEADER.match(line)
    if not found:
        return None
    try:
        inner: Any = tomllib.loads(f"[{found['name']}]")
    except tomllib.TOMLDecodeError:
        return None
    names: list[str] = []
    while inner:
        names += inner
        inner = inner[names[-1]]
    return names


def _with(whole: Table, path: Sequence[str], new: Table) -> dict[str, Any]:
    changed = copy.deepcopy(dict(whole))
    at: Any = changed
    for name in path[:-1]:
        at = at.setdefault(name, {})
    at[path[-1]] = new
    return changed


def _key(name: str) -> str:
    return name if _BARE.match(name) else _printed(name)


def _printed(each: object) -> str:
    if isinstance(each, bool):
        return "true" if each else "false"
    if isinstance(each, str):
        return json.dumps(each, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(each, int | float):
        return repr(each)
    if isinstance(each, list):
        return f"[{', '.join(map(_printed, each))}]"
    if isinstance(each, dict):
        inner = ", ".join(f"{_key(key)} = {_printed(one)}" for key, one in each.items())
        return f"{{ {inner} }}" if inner else "{}"
    raise BadToml(f"a {type(each).__name__} in the table cannot be written")
