"""Where a declared name can be used: inside its function, through its owner, or everywhere.

Read from the syntax tree of the one file that declares the name. A language without rules here
answers ``Scope.GLOBAL``, which excludes nothing.

>>> scope_at("python", b"class A:\\n    def close(self): ...", 17)
Declared(scope=<Scope.MEMBER: 'member'>, owner='A')
>>> scope_at("python", b"def load(path): ...", 9)
Declared(scope=<Scope.PARAMETER: 'parameter'>, owner='load')
"""

import threading
import warnings
from collections.abc import Iterator
from enum import Enum
from functools import cache, lru_cache
from typing import NamedTuple

from tree_sitter import Node, Parser, Tree

from sightline.text.grammars import parser_for

__all__ = [
    "Declared",
    "Scope",
    "grammar_of",
    "is_prose",
    "node_at",
    "path_of",
    "scope_at",
    "tree_of",
]


class Scope(Enum):
    #: Only the function, or the file, that declares it can name it.
    LOCAL = "local"
    #: A parameter; callers may pass it by its name. The owner is the function.
    PARAMETER = "parameter"
    #: It belongs to a class or an object, which is the owner.
    MEMBER = "member"
    GLOBAL = "global"


class Declared(NamedTuple):
    scope: Scope
    owner: str = ""


class _Rules(NamedTuple):
    functions: frozenset[str]
    #: Lists of parameters.
    parameters: frozenset[str]
    #: What holds members.
    classes: frozenset[str]
    #: The names of members, wherever they are declared.
    members: frozenset[str]
    #: What makes a name local even outside of a function.
    blocks: frozenset[str] = frozenset()
    #: What a parameter that is also a member has.
    promoted: frozenset[str] = frozenset()
    #: Whether only exported names of a file can be used in others.
    exports: bool = False


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PYTHON = _Rules(
    functions=_words("function_definition lambda"),
    parameters=_words("parameters lambda_parameters"),
    classes=_words("class_definition"),
    members=frozenset(),
    blocks=_words(
        "list_comprehension set_comprehension dictionary_comprehension generator_expression"
    ),
)
_SCRIPT = _Rules(
    functions=_words(
        "function_declaration generator_function_declaration function_expression "
        "generator_function arrow_function method_definition function_signature"
    ),
    parameters=_words("formal_parameters"),
    classes=_words("class_body interface_body object_type object enum_body"),
    members=_words("property_identifier private_property_identifier"),
    blocks=_words(
        "statement_block for_statement for_in_statement catch_clause type_parameters "
        "function_type call_signature"
    ),
    promoted=_words("accessibility_modifier override_modifier readonly"),
    exports=True,
)
_RULES = {
    "python": _PYTHON,
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "tsx": _SCRIPT,
}
#: The protocol's words for languages, and the grammars that read them.
_GRAMMARS = {
    "python": "python",
    "javascript": "javascript",
    "javascriptreact": "javascript",
    "typescript": "typescript",
    "typescriptreact": "tsx",
}


#: So long may a text take.
_MOST_MICROSECONDS = 500_000
#: A parser reads one text at a time, and what silences its warning holds for all threads.
_parsing = threading.Lock()
_BODIES = _words("class_body interface_body enum_body object_type object")
#: What has a block around names that are not local to it.
_NAMESPACES = _words("internal_module module ambient_declaration")
_EXPORTS = ("exports", "module.exports")
_PROSE = _words("comment string string_content string_fragment template_string jsx_text regex")


def grammar_of(language: str) -> str:
    """The grammar of a language with scope rules, by the protocol's id; empty for any other."""
    return _GRAMMARS.get(language, "")


@lru_cache(maxsize=16)
def tree_of(grammar: str, text: bytes) -> Tree | None:
    """The syntax tree of a text; ``None`` of one that takes too long.

    Some texts take a grammar a minute for each 64 KiB: thousands of quotes, say. Nothing else runs
    meanwhile.
    """
    with _parsing:
        parser = _parser(grammar)
        parser.reset()  # it would go on with the text that took too long
        try:
            return parser.parse(text)
        except ValueError:
            return None


@cache
def _parser(grammar: str) -> Parser:
    with warnings.catch_warnings():
        # What is to be used instead ends the process in the version that is pinned.
        warnings.simplefilter("ignore", DeprecationWarning)
        return Parser(parser_for(grammar).language, timeout_micros=_MOST_MICROSECONDS)


def node_at(grammar: str, text: bytes, offset: int) -> Node | None:
    """The smallest named node that begins at or spans an offset."""
    tree = tree_of(grammar, text)
    if tree is None:
        return None
    return tree.root_node.named_descendant_for_byte_range(offset, offset + 1)


def is_prose(grammar: str, text: bytes, offset: int) -> bool:
    """Whether an offset is in a comment, or in what a string says: not in its expressions.

    >>> text = b'f"no {name}"'
    >>> is_prose("python", text, 2), is_prose("python", text, 6)
    (True, False)
    """
    node = node_at(grammar, text, offset) if grammar else None
    return node is not None and node.type in _PROSE


def scope_at(grammar: str, text: bytes, offset: int) -> Declared:
    """The scope of the name declared at an offset."""
    rules = _RULES.get(grammar)
    node = node_at(grammar, text, offset) if rules is not None else None
    if rules is None or node is None:
        return Declared(Scope.GLOBAL)
    parent = node.parent
    if grammar == "python" and parent is not None and parent.type == "attribute":
        return Declared(Scope.MEMBER, _owner(node, rules))
    if rules.exports and _is_common_export(node):
        return Declared(Scope.GLOBAL)
    if node.type in rules.members:
        return Declared(Scope.MEMBER, _owner(node, rules))
    for child, above in _steps(node):
        kind = above.type
        if kind in rules.parameters or (
            kind == "arrow_function" and above.child_by_field_name("parameter") == child
        ):
            if any(part.type in rules.promoted for part in child.children):
                return Declared(Scope.MEMBER, _owner(above, rules))
            return Declared(Scope.PARAMETER, _function(above, rules))
        if _names(above, child):
            continue
        if kind in rules.classes:
            return Declared(Scope.MEMBER, _name(above))
        if kind in rules.functions or (kind in rules.blocks and not _is_namespace(above)):
            return Declared(Scope.LOCAL)
    if rules.exports and not _is_exported(node):
        return Declared(Scope.LOCAL)
    return Declared(Scope.GLOBAL)


def path_of(grammar: str, text: bytes, offset: int) -> tuple[str, ...]:
    """The names around a declaration and its own: ``("Cart", "add")``."""
    rules = _RULES.get(grammar)
    node = node_at(grammar, text, offset) if rules is not None else None
    if rules is None or node is None:
        return ()
    names = [_text(node)]
    for child, above in _steps(node):
        if (above.type in rules.functions or above.type in rules.classes) and not _names(
            above, child
        ):
            names.append(_name(above))
    return tuple(reversed(names))


def _steps(node: Node) -> Iterator[tuple[Node, Node]]:
    """Each node on the way up, with its parent."""
    while node.parent is not None:
        yield node, node.parent
        node = node.parent


def _names(node: Node, child: Node) -> bool:
    """Whether a child is the name that a node declares outside of itself."""
    return node.child_by_field_name("name") == child


def _name(node: Node) -> str:
    """The name of what has a node as its body."""
    while node.type in _BODIES and node.parent is not None:
        node = node.parent
    name = node.child_by_field_name("name")
    return _text(name) if name is not None else ""


def _is_namespace(block: Node) -> bool:
    return block.parent is not None and block.parent.type in _NAMESPACES


def _function(node: Node, rules: _Rules) -> str:
    """The name of the function around a node, or of the variable that holds it."""
    above: Node | None = node
    while above is not None and above.type not in rules.functions:
        above = above.parent
    if above is None:
        return ""
    name = above.child_by_field_name("name")
    if name is None and above.parent is not None:
        name = above.parent.child_by_field_name("name")
    return _text(name) if name is not None else ""


def _owner(node: Node, rules: _Rules) -> str:
    above = node.parent
    while above is not None and above.type not in rules.classes:
        above = above.parent
    return _name(above) if above is not None else ""


def _is_common_export(node: Node) -> bool:
    """Whether CommonJS exports a name: ``exports.f = ...``, ``module.exports = {f}``."""
    parent = node.parent
    if parent is not None and parent.type == "member_expression":
        owner = parent.child_by_field_name("object")
        return owner is not None and _text(owner) in _EXPORTS and owner != node
    holder = parent if parent is not None and parent.type == "object" else parent and parent.parent
    assigned = holder.parent if holder is not None and holder.type == "object" else None
    if assigned is None or assigned.type != "assignment_expression":
        return False
    left = assigned.child_by_field_name("left")
    return left is not None and _text(left) in _EXPORTS


def _is_exported(node: Node) -> bool:
    """Whether other files can name what a file of JavaScript declares at its top.

    A file without imports and exports is a script: all of its names are global.
    """
    around = [above for _, above in _steps(node)]
    if any(above.type in ("export_statement", "ambient_declaration") for above in around):
        return True
    statements = around[-1].named_children if around else []
    exports = [each for each in statements if each.type == "export_statement"]
    if not exports and not any(each.type == "import_statement" for each in statements):
        return True
    name = _text(node)
    return any(name in _text(each)[:4_000] for each in exports)


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")
