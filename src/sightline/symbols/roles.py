"""What an occurrence of a name does, by the syntax tree of its file.

>>> text = b"from a import f\\nx = f(1)\\ny = f"
>>> [role_at("python", text, at) for at in (14, 20, 29)]
['import', 'call', 'read']
"""

from tree_sitter import Node

from sightline.text.scopes import node_at

__all__ = ["ROLES", "role_at"]

#: In the order in which a header counts them.
ROLES = ("call", "write", "read", "type", "import", "declaration", "text")

_CALLS = frozenset(
    """
    call call_expression new_expression method_invocation invocation_expression
    object_creation_expression macro_invocation function_call_expression member_call_expression
    decorator jsx_opening_element jsx_self_closing_element instance_expression command
    """.split()
)
#: The fields of a call that name what is called.
_CALLEES = ("function", "constructor", "method", "name", "type", "macro")
#: The fields by which a longer name ends in this one: ``a.b``.
_LAST = ("attribute", "property", "field", "name")
_IMPORTS = frozenset(
    """
    import_statement import_from_statement import_declaration import_clause use_declaration
    using_directive future_import_statement export_clause import_header import_require_clause
    """.split()
)
_ASSIGNMENTS = frozenset(
    """
    assignment augmented_assignment assignment_expression augmented_assignment_expression
    update_expression assignment_statement inc_statement dec_statement for_statement
    short_var_declaration compound_assignment_expr init_declarator
    """.split()
)
_WRITTEN = ("left", "argument", "declarator")
_TYPES = frozenset(
    """
    type type_annotation type_arguments type_parameters extends_clause implements_clause
    class_heritage extends_type_clause base_class_clause superclass super_interfaces
    generic_type type_constraint type_list base_list
    """.split()
)
_PROSE = frozenset(
    "comment string string_content string_fragment line_comment block_comment".split()
)


def role_at(grammar: str, text: bytes, offset: int) -> str:
    """One of ``ROLES`` but ``declaration``, which a tree alone cannot tell from a use."""
    node = node_at(grammar, text, offset)
    if node is None:
        return "read"
    if node.type in _PROSE:
        return "text"
    whole = _whole(node)
    above = whole.parent
    if _is_called(whole):
        return "call"
    if node.type == "type_identifier":
        return "type"
    step: Node | None = above
    for _ in range(12):
        if step is None:
            break
        if step.type in _IMPORTS:
            return "import"
        if step.type in _TYPES:
            return "type"
        step = step.parent
    if above is not None and _is_base(above):
        return "type"
    return "write" if above is not None and _is_written(whole, above) else "read"


def _whole(node: Node) -> Node:
    """The longest name that ends in this one: ``a.b.c`` for ``c``."""
    while node.parent is not None:
        above = node.parent
        if above.type in _CALLS or above.child_count < 2 or not _ends_in(above, node):
            break
        node = above
    return node


def _ends_in(above: Node, node: Node) -> bool:
    return (
        above.end_byte == node.end_byte
        and any(above.child_by_field_name(field) == node for field in _LAST)
        and above.named_children[0] != node
    )


def _is_called(node: Node) -> bool:
    above = node.parent
    if above is None or above.type not in _CALLS:
        return False
    if above.type == "decorator":
        return True
    return any(above.child_by_field_name(field) == node for field in _CALLEES)


def _is_base(above: Node) -> bool:
    """Python: ``class Gift(Cart)``."""
    holder = above.parent
    return (
        above.type == "argument_list" and holder is not None and holder.type == "class_definition"
    )


def _is_written(node: Node, above: Node) -> bool:
    if above.type in ("pattern_list", "tuple_pattern", "expression_list") and above.parent:
        node, above = above, above.parent
    if above.type == "keyword_argument":
        return above.child_by_field_name("name") == node
    if above.type in ("delete_statement", "as_pattern_target"):
        return True
    return above.type in _ASSIGNMENTS and any(
        above.child_by_field_name(field) == node for field in _WRITTEN
    )
