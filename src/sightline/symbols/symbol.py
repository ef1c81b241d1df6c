"""A symbol: what an address names, with where it is declared and how that reads."""

import re
from collections.abc import Sequence

from msgspec import Struct
from tree_sitter import Node

from sightline.contract.values import Position
from sightline.index.cutting.declarations import Declaration
from sightline.text.scopes import node_at
from sightline.text.sources import offset_of

__all__ = ["Symbol", "enclosing", "module_of", "shown_line", "signature_of"]

_LONGEST = 160
_LONGEST_LINE = 200
#: Where the type stands before the name.
_TYPE_FIRST = frozenset("c cpp java csharp".split())
_FOLDERS = frozenset({"src", "lib"})
_BEFORE_BODIES = frozenset({"comment", ":", "=>", "="})
_OWN = re.compile(r"\A\(\s*(?:self|cls)\s*(?:,\s*|(?=\)))")
_OPENED, _CLOSED = re.compile(r"\( "), re.compile(r",? \)")
_BLANKS = re.compile(r"\s+")
_SCOPES = frozenset(
    "class enum function interface method module namespace struct trait union".split()
)


class Symbol(Struct, frozen=True):
    name: str
    kind: str
    #: Its name with those around it, and in Python the module's before them.
    qualified: str
    container: str
    #: Its real path, and the path that people read.
    path: str
    shown: str
    #: Where its name stands.
    position: Position
    #: All of its lines, 0-based.
    first: int
    last: int
    signature: str
    #: Other declarations of the same symbol.
    also: tuple["Symbol", ...] = ()
    #: How it came to be meant, where the address does not say so.
    note: str = ""

    @property
    def address(self) -> str:
        """What names it and nothing else."""
        if self.kind in ("name", "local"):
            return f"{self.shown}:{self.position.line + 1}:{self.name}"
        return f"{self.shown}::{self.container + '.' if self.container else ''}{self.name}"

    @property
    def place(self) -> str:
        """Where its name stands, as people read it."""
        return f"{self.shown}:{self.position.line + 1}"

    @property
    def echo(self) -> str:
        """The first line of every answer about it."""
        also = "".join(f", {each.place}" for each in self.also[:3])
        more = f", {len(self.also) - 3} more" if len(self.also) > 3 else ""
        line = f"{self.kind} {self.qualified}  {self.place}"
        if also:
            line += f" (also{also[1:]}{more})"
        if self.signature:
            line += f"  {self.signature}"
        return f"{line}  [{self.note}]" if self.note else line


def module_of(shown: str) -> tuple[str, ...]:
    """The names that a path gives to what the file declares.

    >>> module_of("src/shop/__init__.py"), module_of("shop/cart.py")
    (('src', 'shop'), ('shop', 'cart'))
    """
    *folders, name = shown.split("/")
    stem = name.partition(".")[0]
    return tuple(folders) if stem in ("__init__", "index", "mod") else (*folders, stem)


def qualified(declared: Declaration, shown: str, grammar: str) -> str:
    """A name with those around it; in Python with its module, as an import spells it."""
    parts: Sequence[str] = ()
    if grammar == "python":
        parts = module_of(shown)
        if len(parts) > 1 and parts[0] in _FOLDERS:
            parts = parts[1:]
    return ".".join(filter(None, [*parts, declared.container, declared.name]))


def signature_of(grammar: str, text: bytes, position: Position) -> str:
    """How a declaration reads without its body, in one line.

    >>> signature_of("python", b"def f(a: int) -> str:\\n    return ''", Position(0, 4))
    '(a: int) -> str'
    """
    offset = offset_of(text, position)
    name = node_at(grammar, text, offset)
    if name is None:
        return ""
    node, body = _declaring(name)
    end = _end_of_head(node, body) if body is not None else node.end_byte
    start = name.end_byte
    if grammar in _TYPE_FIRST:
        start = node.start_byte
    said = _BLANKS.sub(" ", text[start:end].decode("utf-8", "replace")).strip()
    said = _OPENED.sub("(", _CLOSED.sub(")", said))
    said = said.removesuffix("=>").strip(" :{;,").removeprefix("=").strip()
    if grammar == "python":  # who calls it does not pass it
        said = _OWN.sub("(", said)
    return said if len(said) <= _LONGEST else said[: _LONGEST - 1] + "…"


def _end_of_head(node: Node, body: Node) -> int:
    """Where a declaration ends that goes on with a body, and perhaps a comment before it."""
    if body.parent is not None and body.parent != node:
        node = body.parent
    before = [
        child.end_byte
        for child in node.children
        if child.end_byte <= body.start_byte and child.type not in _BEFORE_BODIES
    ]
    return max(before, default=body.start_byte)


def _declaring(name: Node) -> tuple[Node, Node | None]:
    """The node that declares a name, and its body."""
    node = name
    for _ in range(6):
        above = node.parent
        if above is None or above.parent is None:
            break
        node = above
        body = node.child_by_field_name("body")
        if body is not None:
            return node, body
        value = node.child_by_field_name("value")
        if value is not None and value.child_by_field_name("body") is not None:
            return node, value.child_by_field_name("body")
        if node.type.endswith(("_statement", "declaration", "_signature", "_definition", "_spec")):
            return node, None
    return node, None


def enclosing(declarations: Sequence[Declaration], lines: int) -> list[str]:
    """Of each line of a file the innermost function or class around it; ``-`` where there is none.

    >>> add = Declaration("add", "method", "Cart", 1, 6, 1, 2)
    >>> enclosing([add, Declaration("Cart", "class", "", 0, 6, 0, 3)], 5)
    ['Cart', 'Cart.add', 'Cart.add', 'Cart', '-']
    """
    found = ["-"] * lines
    scopes = [each for each in declarations if each.kind in _SCOPES]
    # The largest first; of several on one line the outer one is certain.
    for each in sorted(scopes, key=lambda each: (each.first - each.last, -each.line, -each.column)):
        name = f"{each.container}.{each.name}" if each.container else each.name
        last = min(each.last, lines - 1)
        found[each.first : last + 1] = [name] * (last + 1 - each.first)
    return found


def shown_line(text: bytes) -> str:
    """A line as an answer shows it: without indentation and control characters, and not endless."""
    line = "".join(
        each if each.isprintable() else " " for each in text.decode("utf-8", "replace").strip()
    )
    return line if len(line) <= _LONGEST_LINE else line[: _LONGEST_LINE - 1] + "…"
