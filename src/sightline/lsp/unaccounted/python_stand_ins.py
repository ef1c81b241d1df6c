"""Other places that mean the same as an occurrence in Python, where servers get that one wrong.

import pkg.mod
pkg.mod.f                       # behind it the import tells what both names are
x = []  # type: list[Cart]      # a type comment names what the module binds
class Order:
    Cart = Cart                 # so does the right side: the class binds the left one after it
"""

import re
from functools import lru_cache

from sightline.contract.texts import line_length_utf16
from sightline.contract.values import Position, Range
from sightline.lsp.python.names import PythonText
from sightline.lsp.unaccounted.python_imports import chain_before, import_at, imported, imports
from sightline.text.scopes import node_at
from sightline.text.sources import numbered, position_of, word

__all__ = ["by_module", "in_chain", "is_before_binding", "is_type_comment"]

_TYPE_COMMENT = re.compile(rb"#[ \t]*type:[ \t]*(?!ignore\b)[^#\n]*\Z")
#: A statement inside of something that binds a name.
_ASSIGNED = re.compile(rb"[ \t]+(\w+)[ \t]*[:=]")
#: So much of a line is read before a comment, and so many places of a name before its binding.
_MOST_BEFORE, _MOST_PLACES = 400, 200


def in_chain(text: bytes, name: str, offset: int) -> int | None:
    """Where ``import pkg.mod`` spells the same chain up to the same name."""
    size = len(name.encode())
    chain = chain_before(text, offset + size)
    if chain is None or b"import" not in text or import_at(text, offset) is not None:
        return None
    for found in imports(text):
        if found["module"]:
            continue
        for each in imported(found):
            stated = each["name"]
            if each["alias"] is None and (stated + b".").startswith(chain + b"."):
                return each.start("name") + len(chain) - size
    return None


def by_module(text: bytes, name: str, offset: int) -> int | None:
    """Where the module binds the name, for one in a type comment or before a class binds it."""
    if is_type_comment(text, offset):
        chain = chain_before(text, offset + len(name.encode()))
        if chain != name.encode():
            return None
    elif not is_before_binding(text, name, offset):
        return None
    return _binding(text, name)


def is_type_comment(text: bytes, offset: int) -> bool:
    """
    >>> is_type_comment(b"x = []  # type: list[A]", 21), is_type_comment(b"x  # type", 5)
    (True, False)
    """
    return _TYPE_COMMENT.search(text, max(0, offset - _MOST_BEFORE), offset) is not None


def is_before_binding(text: bytes, name: str, offset: int) -> bool:
    """Whether a name is read in the body of a class by the statement that first binds it there.

    >>> text = b"class A:\\n    T: T = T\\n    y = T"
    >>> [is_before_binding(text, "T", at) for at in (13, 16, 20, 30)]
    [False, True, True, False]
    """
    literal = name.encode()
    stated = _ASSIGNED.match(text, text.rfind(b"\n", 0, offset) + 1)
    if stated is None or stated[1] != literal or stated.end() > offset:
        return False
    node = node_at("python", text, offset)
    while node is not None and node.type not in ("assignment", "block", "function_definition"):
        node = node.parent
    left = node.child_by_field_name("left") if node is not None else None
    if node is None or node.type != "assignment" or left is None or left.end_byte > offset:
        return False
    statement = node.parent
    body = statement.parent if statement is not None else None
    holder = body.parent if body is not None else None
    if left.text != literal or body is None or holder is None or holder.type != "class_definition":
        return False
    before = text[body.start_byte : left.start_byte]
    bound = rb"^[ \t]*(?:def[ \t]+|class[ \t]+)?%b\b[ \t]*(?:[:=(](?!=))" % re.escape(literal)
    return re.search(bound, before, re.MULTILINE) is None


@lru_cache(maxsize=64)
def _binding(text: bytes, name: str) -> int | None:
    """Where a module first binds a name: a class, a function, an import or an assignment."""
    source, units = PythonText(text.decode("utf-8", "replace")), line_length_utf16(name)
    starts = word(name).starts(text)[:_MOST_PLACES]
    for start, _ in numbered(text, starts):
        at = position_of(text, start)
        if source.binds_in_module(Range(at, Position(at.line, at.character + units))):
            return start
    return None
