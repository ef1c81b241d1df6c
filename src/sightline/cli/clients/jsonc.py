"""JSON with comments: read with the place of every value, changed by splicing one member.

A client's file belongs to its user. So it is never printed anew: the text of one member is put in
or replaced, and every other byte, comment, order and spelling stays as it was. Line and block
comments and trailing commas are understood. What cannot be understood is refused.

    >>> put('{"a": 1, /* mine */ "b": {}}', ["b", "c"], 2)
    '{"a": 1, /* mine */ "b": {"c": 2}}'
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["BadJson", "append", "has_comments", "put", "value"]

_MAX_DEPTH = 64
_BLANK = "\ufeff \t\r\n"
_SPACE = re.compile(r"[ \t\r\n]+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?|true|false|null")


class BadJson(ValueError):
    """The text is not JSON, or cannot take the change. The text says what is in the way."""


@dataclass
class _Node:
    """A value and where it stands in the text."""

    start: int
    end: int
    value: Any
    members: dict[str, "_Node"] = field(default_factory=dict)
    repeated: set[str] = field(default_factory=set)
    #: Where its line of the file begins to be about it: the name of a member, or the value.
    name: int = 0
    #: The beginning of the first member or item, if there is one.
    first: int | None = None
    #: Behind the last member or item, or behind the opening bracket.
    inner: int = 0
    trailing_comma: bool = False


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0
        self.comments = 0

    def document(self) -> _Node:
        node = self.node(0)
        self.skip()
        if self.at != len(self.text):
            raise self.bad("something follows the end")
        return node

    def skip(self) -> None:
        """Past white space and comments."""
        while True:
            if space := _SPACE.match(self.text, self.at):
                self.at = space.end()
            elif comment := _COMMENT.match(self.text, self.at):
                self.at = comment.end()
                self.comments += 1
            else:
                return

    def node(self, depth: int) -> _Node:
        if depth > _MAX_DEPTH:
            raise self.bad("it is nested too deeply")
        self.skip()
        if self.text.startswith("{", self.at):
            return self._object(depth)
        if self.text.startswith("[", self.at):
            return self._array(depth)
        start = self.at
        if self.text.startswith('"', start):
            return _Node(start, self._string_end(), self._decoded(start))
        found = _SCALAR.match(self.text, start)
        if not found:
            raise self.bad("a value is missing")
        self.at = found.end()
        return _Node(start, self.at, self._decoded(start))

    def _object(self, depth: int) -> _Node:
        made = _Node(self.at, 0, {}, inner=self.at + 1)
        while self._another("}", made):
            name_at = self.at
            if not self.text.startswith('"', name_at):
                raise self.bad("a name is missing")
            self._string_end()
            name = self._decoded(name_at)
            self.skip()
            if not self.text.startswith(":", self.at):
                raise self.bad("a colon is missing")
            self.at += 1
            member = self.node(depth + 1)
            if name in made.members:
                made.repeated.add(name)
            member.name = name_at
            made.members[name] = member
            made.value[name] = member.value
            made.first = name_at if made.first is None else made.first
            made.inner = self.at
        return made

    def _array(self, depth: int) -> _Node:
        made = _Node(self.at, 0, [], inner=self.at + 1)
        while self._another("]", made):
            item = self.node(depth + 1)
            made.value.append(item.value)
            made.first = item.start if made.first is None else made.first
            made.inner = self.at
        return made

    def _another(self, close: str, made: _Node) -> bool:
        """Moves to the next member or item; at the end, past the closing bracket."""
        first = self.at == made.start
        if first:
            self.at += 1
        self.skip()
        if not first and self.text.startswith(",", self.at):
            self.at += 1
            self.skip()
            made.trailing_comma = self.text.startswith(close, self.at)
        elif not first and not self.text.startswith(close, self.at):
            raise self.bad("a comma is missing")
        if self.text.startswith(close, self.at):
            self.at += 1
            made.end = self.at
            return False
        return True

    def _string_end(self) -> int:
        found = _STRING.match(self.text, self.at)
        if not found:
            raise self.bad("a string is not closed")
        self.at = found.end()
        return self.at

    def _decoded(self, start: int) -> Any:  # noqa: ANN401 - any JSON value
        try:
            return json.loads(self.text[start : self.at])
        except ValueError:
            raise self.bad("a value cannot be read") from None

    def bad(self, what: str) -> BadJson:
        line = self.text.count("\n", 0, self.at) + 1
        return BadJson(f"{what} (line {line})")


def value(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """What the text says; an empty one says nothing, ``{}``."""
    return _read(text).value if text.strip(_BLANK) else {}


def has_comments(text: str) -> bool:
    reader = _Reader(text)
    if text.strip(_BLANK):
        reader.document()
    return reader.comments > 0


def put(text: str, path: Sequence[str], new: object) -> str:
    """The text with ``new`` at ``path``. Objects on the way are made; the rest stays, each byte."""
    if not text.strip(_BLANK):
        return _Style.of("").printed(_nested(path, new), "") + "\n"
    changed = _put(text, path, new)
    before = value(text)
    return _proven(changed, _with(before, path, new))


def _put(text: str, path: Sequence[str], new: object) -> str:
    node = _read(text)
    style = _Style.of(text)
    for depth, name in enumerate(path):
        if not isinstance(node.value, dict):
            where = ".".join(path[:depth]) or "the file"
            raise BadJson(f"{where} is not an object")
        if name in node.repeated:
            raise BadJson(f"{name} is there twice")
        if name not in node.members:
            return _added(text, node, style, _nested(path[depth + 1 :], new), name)
        node = node.members[name]
    printed = style.printed(new, _indent_at(text, node.name))
    return text[: node.start] + printed + text[node.end :]


def append(text: str, name: str, item: object) -> str:
    """The text with ``item`` at the end of the top-level list of this name."""
    found = _read(text).members.get(name) if text.strip(_BLANK) else None
    if found is None:
        return put(text, [name], [item])
    if not isinstance(found.value, list):
        raise BadJson(f"{name} is not a list")
    changed = _added(text, found, _Style.of(text), item)
    return _proven(changed, value(text) | {name: [*found.value, item]})


def _proven(changed: str, expected: object) -> str:
    """The changed text, once it was read back and says exactly what it should."""
    if value(changed) != expected:
        raise BadJson("the change would touch something else")
    return changed


def _with(whole: dict[str, Any], path: Sequence[str], new: object) -> dict[str, Any]:
    inner = new if len(path) == 1 else _with(whole.get(path[0], {}), path[1:], new)
    return whole | {path[0]: inner}


def _read(text: str) -> _Node:
    return _Reader(text).document()


def _nested(path: Sequence[str], new: object) -> object:
    for name in reversed(path):
        new = {name: new}
    return new


@dataclass(frozen=True)
class _Style:
    """How the file is written: one level of indentation and the end of a line."""

    unit: str
    newline: str

    @classmethod
    def of(cls, text: str) -> "_Style":
        found = re.search(r"\n([ \t]+)\S", text)
        unit = "  " if not found else "\t" if found[1].startswith("\t") else found[1]
        return cls(unit, "\r\n" if "\r\n" in text else "\n")

    def printed(self, new: object, indent: str) -> str:
        """JSON over several lines, its first line where the text already is."""
        flat = json.dumps(new, ensure_ascii=False)
        inner = indent + self.unit
        if isinstance(new, dict) and new:
            members = [f"{json.dumps(k)}: {self.printed(v, inner)}" for k, v in new.items()]
            return self._block("{", members, "}", indent)
        if isinstance(new, list) and any(isinstance(item, dict | list) for item in new):
            return self._block("[", [self.printed(item, inner) for item in new], "]", indent)
        return flat

    def _block(self, begin: str, parts: list[str], end: str, indent: str) -> str:
        line = self.newline + indent + self.unit
        return begin + line + f",{line}".join(parts) + self.newline + indent + end


def _added(text: str, node: _Node, style: _Style, new: object, name: str | None = None) -> str:
    """A new last member or item, in the style of those that are there."""
    head = "" if name is None else json.dumps(name, ensure_ascii=False) + ": "
    close = node.end - 1
    tail = len(text[:close].rstrip(" \t\r\n"))  # behind the last comma or comment
    outer = _indent_at(text, node.start)
    if node.first is None:
        flat = "\n" not in text
        indent = outer + style.unit
    else:
        flat = "\n" not in text[node.start : node.first]
        indent = _indent_at(text, node.first)
    flat = flat and "//" not in text[node.inner : tail]  # nothing can follow such a comment
    comma = "" if node.first is None or node.trailing_comma else ","
    before = text[: node.inner] + comma + text[node.inner : tail]
    after = "," if node.trailing_comma else ""
    if flat:
        gap = "" if tail == node.start + 1 else " "
        member = head + json.dumps(new, ensure_ascii=False)
        return before + gap + member + after + text[tail:]
    member = head + style.printed(new, indent)
    space = text[tail:close]
    if "\n" in space:
        return before + style.newline + indent + member + after + space + text[close:]
    line = style.newline
    return before + space + line + indent + member + after + line + outer + text[close:]


def _indent_at(text: str, place: int) -> str:
    """The white space at the beginning of the line."""
    line = text[text.rfind("\n", 0, place) + 1 : place].lstrip("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
