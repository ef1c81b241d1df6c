"""Where a class names its base classes, by the syntax tree of its file."""

from collections.abc import Iterator

from tree_sitter import Node

from sightline.contract.values import Position
from sightline.text.scopes import node_at
from sightline.text.sources import offset_of, position_of

__all__ = ["bases_of"]

_CLAUSES = frozenset(
    """
    argument_list class_heritage extends_clause implements_clause extends_type_clause
    base_class_clause superclass super_interfaces interfaces base_list delegation_specifiers
    """.split()
)
_ARGUMENTS = frozenset("type_arguments keyword_argument template_argument_list arguments".split())
_NAMES = frozenset("identifier type_identifier property_identifier".split())


def bases_of(grammar: str, text: bytes, position: Position) -> list[Position]:
    """The places of the names of the base classes of the class that is declared at a place.

    >>> bases_of("python", b"class A(B, m.C[int], key=D): ...", Position(0, 6))
    [Position(line=0, character=8), Position(line=0, character=13)]
    """
    name = node_at(grammar, text, offset_of(text, position))
    holder = name.parent if name is not None else None
    if holder is None:
        return []
    clauses = [child for child in holder.named_children if child.type in _CLAUSES]
    names = [each for clause in clauses for each in _named(clause)]
    return [position_of(text, each.start_byte) for each in names]


def _named(clause: Node) -> Iterator[Node]:
    for child in clause.named_children:
        if child.type in _ARGUMENTS:
            continue
        if child.type in _CLAUSES:
            yield from _named(child)
            continue
        last = _last(child)
        if last is not None:
            yield last


def _last(node: Node) -> Node | None:
    """The name that a longer one ends in, without what is passed to it."""
    while node.type not in _NAMES:
        inner = [child for child in node.named_children if child.type not in _ARGUMENTS]
        if node.type in ("subscript", "generic_type", "call", "call_expression"):
            inner = inner[:1]
        if not inner:
            return None
        node = inner[-1]
    return node
