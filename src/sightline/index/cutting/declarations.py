"""Cutting a source file at its declarations, by its syntax tree.

The walk enters only what can hold members: classes, modules, what the grammar calls open, and
anything so long that it should not be one chunk. A file that does not parse is cut as far as it
does. Runs in worker processes only.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter, itemgetter
from typing import NamedTuple

from tree_sitter import Node, Tree

from sightline.index.cutting.chunks import Chunk, Symbol, utf16_column
from sightline.index.cutting.windows import MAX_LINES, cut_windows, newlines, split_spans
from sightline.text.grammars import GRAMMARS, Rule, parser_for

__all__ = ["Declaration", "cut_declarations", "declared_in"]

#: A function that is longer is searched for declarations inside.
_LONG = 100
#: A statement with fewer lines is not looked into.
_WORTH_ENTERING = 8
_MAX_DEPTH = 60
_MAX_NAME = 200
_MAX_MEMBERS = 500
_GENERIC = frozenset("generic_type user_type scoped_type_identifier template_type".split())
_SMALL_KINDS = frozenset("constant variable field".split())
_CLASS_LIKE = frozenset("class interface struct trait enum union".split())
_FUNCTIONS = frozenset(
    "arrow_function function_expression function generator_function class call_expression".split()
)
_STRUCTS = {"struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum"}
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6 title".split())


#: The kind, the name and the node of the members of a declaration.
_Resolved = tuple[str, Node, Node | None]


@dataclass(slots=True)
class _Part:
    """A declaration on its way to becoming a chunk."""

    kind: str
    name: str
    container: str
    start: int
    end: int
    symbols: list[tuple[int, Symbol]] = field(default_factory=list)
    parts: list["_Part"] = field(default_factory=list)

    @property
    def path(self) -> str:
        return f"{self.container}.{self.name}" if self.container and self.name else self.name


def cut_declarations(data: bytes, language: str) -> list[Chunk]:
    """The chunks of a UTF-8 file, in the order of their first lines."""
    tree = parser_for(language).parse(data)
    root = _Part("module", "", "", 0, len(data))
    lines = newlines(data)
    walk = _Walk(data, lines, language)
    walk.enter(tree.root_node.named_children, root, 0)
    chunks = [chunk for part in root.parts for chunk in _flatten(data, part, lines)]
    chunks += _leftovers(data, root, lines)
    if not chunks:  # no declaration, and not a word: punctuation can be searched for, too
        return cut_windows(data, "module")
    return sorted(chunks, key=lambda chunk: (chunk.start_line, -chunk.end_line, chunk.spans))


class Declaration(NamedTuple):
    """What a name is declared as. Lines and columns are 0-based; columns count UTF-16 units."""

    name: str
    kind: str
    #: The names around it, joined by dots.
    container: str
    #: Where its name stands.
    line: int
    column: int
    #: All of its lines, with the comments and decorators that belong to it.
    first: int
    last: int


def declared_in(data: bytes, language: str, tree: Tree) -> list[Declaration]:
    """What a UTF-8 file declares outside of functions, in the order of the names. The tree is its.

    >>> text = b"class A:\\n  x = 1\\n  def f(self): ..."
    >>> [d.name for d in declared_in(text, "python", parser_for("python").parse(text))]
    ['A', 'x', 'f']
    """
    root = _Part("module", "", "", 0, len(data))
    lines = newlines(data)
    walk = _Walk(data, lines, language)
    walk.enter(tree.root_node.named_children, root, 0)
    found = [_declaration(each, root, lines) for _, each in root.symbols]
    stack = list(root.parts)
    while stack:
        part = stack.pop()
        stack += part.parts
        found += [_declaration(symbol, part, lines) for _, symbol in part.symbols]
    return sorted(found, key=lambda each: (each.line, each.column))


def _declaration(symbol: Symbol, part: _Part, lines: list[int]) -> Declaration:
    """A symbol of a part: the declaration itself, or a small one inside."""
    name, kind, row, column, end = symbol
    if name == part.name and kind == part.kind:
        first, last = bisect_left(lines, part.start), bisect_left(lines, part.end - 1)
        return Declaration(name, kind, part.container, row, column, first, max(last, row))
    return Declaration(name, kind, part.path, row, column, row, end)


#: What the walk does at a node, as bits.
_ATTACHED, _OPEN, _DECLARING, _NAMING, _CLOSED, _TYPED = 1, 2, 4, 8, 16, 32


@cache
def _uses(language: str) -> Mapping[str, int]:
    """What the walk does at nodes of each type. It looks into those that are not there."""
    grammar = GRAMMARS[language]
    small = {kind for kind, rule in grammar.rules.items() if rule.kind in _SMALL_KINDS}
    uses: dict[str, int] = {}
    for bit, kinds in (
        (_ATTACHED, grammar.attached),
        (_OPEN, grammar.open | {"ERROR"}),
        (_DECLARING, grammar.wrappers | grammar.rules.keys()),
        (_NAMING, grammar.wrappers | grammar.small.keys() | small),
        (_CLOSED, grammar.closed),
        (_TYPED, grammar.typed),
    ):
        for kind in kinds:
            uses[kind] = uses.get(kind, 0) | bit
    return uses


class _Walk:
    def __init__(self, data: bytes, lines: list[int], language: str) -> None:
        self.data = data
        self.lines = lines
        self.ascii = data.isascii()
        self.uses = _uses(language)
        self.grammar = GRAMMARS[language]
        self.inner = self.grammar.inner

    def enter(
        self, nodes: Sequence[Node], parent: _Part, depth: int, *, local: bool = False
    ) -> None:
        """Takes the declarations among ``nodes`` into ``parent``.

        Inside a function (``local``) only functions and classes count; its variables are its own.
        """
        if depth > _MAX_DEPTH:
            return
        attached: Node | None = None
        last_row = -1
        uses, inner = self.uses, self.inner
        for node in nodes:
            kind = node.type
            use = uses.get(kind, 0)
            if use & _ATTACHED:
                if attached is None or node.start_point[0] > last_row + 1:
                    attached = node
                last_row = _last_row(node)
                continue
            above = attached if attached and node.start_point[0] <= last_row + 1 else None
            attached = None
            if use & _OPEN:
                self.enter(node.named_children, parent, depth + 1, local=local)
            elif not use & _DECLARING or not self._declare(node, kind, above, parent, depth):
                if not local and use & _NAMING:
                    self._small(node, kind, parent)
                if use & _TYPED:
                    self._type(node, above, parent, depth)
                if (
                    inner != "none"
                    and (not use & _CLOSED or node.has_error)
                    and (inner == "all" or self._rows(node) >= _WORTH_ENTERING)
                ):
                    self.enter(node.named_children, parent, depth + 1, local=local)

    def _row(self, offset: int) -> int:
        """The row of a byte. (A node's points say the same, several times slower.)"""
        return bisect_left(self.lines, offset)

    def _rows(self, node: Node) -> int:
        """How many rows lie between the first and the last of a node."""
        return self._row(node.end_byte) - self._row(node.start_byte)

    def _declare(
        self, node: Node, type_: str, above: Node | None, parent: _Part, depth: int
    ) -> bool:
        """Whether ``node`` declares something that becomes a part of ``parent``."""
        inner = node
        while type_ in self.grammar.wrappers:
            declared = [n for n in inner.named_children if self._is_rule(n)]
            if len(declared) > 1:
                self.enter(inner.named_children, parent, depth + 1)
            if len(declared) != 1:
                return bool(declared)
            inner = declared[0]
            type_ = inner.type
        rule = self.grammar.rules.get(type_)
        if rule is None:
            return False
        found = self._resolve(inner, type_, rule)
        if found is None:
            return self._nameless(inner, rule, parent, depth)
        start = above.start_byte if above is not None else node.start_byte
        self._take(inner, rule, found, parent, start, node, depth)
        return True

    def _nameless(self, node: Node, rule: Rule, parent: _Part, depth: int) -> bool:
        """C++: what is in a namespace without a name belongs to what is around it."""
        body = _body(node, rule) if rule.kind == "namespace" else None
        if body is None:
            return False
        self.enter(body.named_children, parent, depth + 1)
        return True

    def _type(self, node: Node, above: Node | None, parent: _Part, depth: int) -> None:
        """C: ``static struct config {...} main;`` declares a type besides the variable.

        What stands before the type is its own; the variable stays with what is around it.
        """
        type_ = node.child_by_field_name("type")
        rule = self.grammar.rules.get(type_.type) if type_ is not None else None
        if type_ is None or rule is None or depth > _MAX_DEPTH:
            return
        found = self._resolve(type_, type_.type, rule)
        if found is not None:
            start = above.start_byte if above is not None else node.start_byte
            self._take(type_, rule, found, parent, start, type_, depth)

    def _take(
        self,
        node: Node,
        rule: Rule,
        found: _Resolved,
        parent: _Part,
        start: int,
        whole: Node,
        depth: int,
    ) -> None:
        """Makes a declaration a part of ``parent``, with what is declared inside.

        The part goes from ``start`` to the end of ``whole``, which is the node or wraps it.
        """
        kind, name, members = found
        part = self._part(node, rule, kind, name, parent, (start, whole.end_byte))
        parent.parts.append(part)
        if members is not None:
            self.enter(members.named_children, part, depth + 1)
        elif self.inner != "none" and self._rows(whole) >= _LONG:
            self.enter(node.named_children, part, depth + 1, local=True)
        else:
            self._members(node, part, depth)

    def _part(
        self, node: Node, rule: Rule, kind: str, name: Node, parent: _Part, span: tuple[int, int]
    ) -> _Part:
        """The part a declaration becomes, with its own symbol."""
        if kind == "function" and parent.kind in _CLASS_LIKE:
            kind = "method"
        shape = name.type
        if shape in _GENERIC:
            name = _leaf(name)
            shape = name.type
        part = _Part(kind, _name_text(name, self.data), parent.path, *span)
        if rule.owner:
            owners = _follow(node, rule.owner)
            part.container = _name_text(owners[0], self.data) if owners else ""
        elif shape == "qualified_identifier":
            part.container, part.name = _qualified(name, self.data, parent.path)
        if rule.declares and not _extends(node):
            leaf = _leaf(name)
            symbol = self._symbol(leaf, part.name, kind, node)
            part.symbols.append((leaf.start_byte, symbol))
        return part

    def _is_rule(self, node: Node) -> bool:
        return node.type in self.grammar.rules or node.type in self.grammar.wrappers

    def _resolve(self, node: Node, type_: str, rule: Rule) -> _Resolved | None:
        """What a declaration declares, or ``None`` if it is none."""
        special = _SPECIAL.get(type_)
        if special is not None:
            return special(node, rule, self.data)
        names = _follow(node, rule.path)
        if not names:
            return None
        kind = rule.kind
        if type_ == "class_declaration":  # Swift says struct, enum or extension by a keyword
            keyword = node.child_by_field_name("declaration_kind")
            kind = _SWIFT_KINDS.get(keyword.type, kind) if keyword is not None else kind
            if any(child.type == "interface" for child in node.children):  # so does Kotlin
                kind = "interface"
        return kind, names[0], _body(node, rule)

    def _small(self, node: Node, type_: str, parent: _Part) -> None:
        """The names that a statement declares become symbols of the chunk around it."""
        while type_ in self.grammar.wrappers and node.named_child_count:
            node = node.named_children[-1]
            type_ = node.type
        rule = self.grammar.small.get(type_)
        if rule is None:
            rule = self.grammar.rules.get(type_)
            if rule is None or rule.kind not in _SMALL_KINDS:
                return
        for name in _follow(node, rule.path):
            leaf = _leaf(name)
            text = _name_text(leaf, self.data)
            if not text.replace("_", "a").isalnum():
                continue
            kind = _small_kind(node, leaf, rule.kind, text, parent)
            symbol = self._symbol(leaf, text, kind, node)
            parent.symbols.append((leaf.start_byte, symbol))

    def _members(self, node: Node, part: _Part, depth: int) -> None:
        """The fields of a struct, the constants of an enum: symbols of their declaration."""
        if part.kind not in _MEMBERS:
            return
        if node.type == "type_definition":
            self._tag(node, part)
        for member in _descendants(node, _MEMBER_TYPES, 4):
            for name, declaring in _member_names(member):
                leaf = _leaf(name)
                kind = "property" if member.type == "property_signature" else _MEMBERS[part.kind]
                text = _name_text(leaf, self.data)
                symbol = self._symbol(leaf, text, kind, declaring)
                part.symbols.append((leaf.start_byte, symbol))
            if member.type in self.grammar.typed:
                self._type(member, None, part, depth + 1)

    def _tag(self, node: Node, part: _Part) -> None:
        """C: ``typedef struct node {...} node_t;`` declares both names."""
        type_ = node.child_by_field_name("type")
        name = type_.child_by_field_name("name") if type_ is not None else None
        if type_ is None or name is None:
            return
        text = _name_text(name, self.data)
        if text != part.name:  # one name for both is one declaration
            part.symbols.append((name.start_byte, self._symbol(name, text, part.kind, type_)))

    def _symbol(self, leaf: Node, name: str, kind: str, node: Node) -> Symbol:
        """The symbol that ``leaf`` names and ``node`` declares."""
        start = leaf.start_byte
        row = self._row(start)
        column = start - self.lines[row - 1] - 1 if row else start
        if not self.ascii:
            column = utf16_column(self.data, start, column)
        # The row of the last byte: a node may end with its line feed.
        return Symbol(name, kind, row, column, max(row, self._row(node.end_byte - 1)))


_MEMBERS = {"struct": "field", "union": "field", "enum": "constant", "interface": "method"}
_MEMBER_TYPES = frozenset(
    "field_declaration enumerator enum_variant enum_constant enum_member_declaration method_elem "
    "property_signature method_signature enum_assignment enum_body".split()
)
#: Node types that may have several children in one field.
_SEVERAL = frozenset(
    "var_spec const_spec field_declaration declaration enum_body enum_entry type_definition "
    "constant_declaration".split()
)
_SWIFT_KINDS = {"struct": "struct", "enum": "enum", "actor": "class"}


# Paths


def _follow(node: Node, path: Sequence[str]) -> list[Node]:
    """The nodes a path leads to."""
    if len(path) == 1:
        return _step(node, path[0])
    found = [node]
    for step in path:
        found = [target for origin in found for target in _step(origin, step)]
        if not found:
            break
    return found


def _step(node: Node, step: str) -> list[Node]:
    mark = step[0]
    if mark == ">":
        if step[1] == ">":
            return list(_descendants(node, frozenset((step[2:],)), 4))
        wanted = step[1:]
        return [child for child in node.named_children if child.type == wanted]
    if mark == "*":
        return [target for first in _fields(node, step[1:]) for target in _last(first, step[1:])]
    return _fields(node, step)


def _fields(node: Node, name: str) -> list[Node]:
    """Every child in a field. (The binding's own way frees the nodes it returns too early.)"""
    first = node.child_by_field_name(name)
    if first is None:
        return []
    if node.type not in _SEVERAL:
        return [first]
    return [
        child
        for place, child in enumerate(node.children)
        if child.is_named and node.field_name_for_child(place) == name
    ]


def _last(node: Node, name: str) -> list[Node]:
    for _ in range(16):
        below = node.child_by_field_name(name)
        if below is None and node.type.endswith("declarator") and node.named_children:
            below = node.named_children[0]
        if below is None:
            return [node]
        node = below
    return []


def _descendants(node: Node, types: frozenset[str], depth: int) -> Iterator[Node]:
    for child in node.named_children:
        if child.type in types:
            yield child
        elif depth > 1:
            yield from _descendants(child, types, depth - 1)


def _member_names(member: Node) -> list[tuple[Node, Node]]:
    """The names a member declares, each with the node whose lines it has."""
    if member.type != "enum_body":
        names = _fields(member, "name") or _follow(member, ("*declarator",))
        return [(name, member) for name in names[:_MAX_MEMBERS]]
    # TypeScript: a constant without a value is its name alone.
    found = [(name, name) for name in _fields(member, "name")]
    for child in member.named_children:
        if child.type == "enum_assignment":
            found += [(name, child) for name in _fields(child, "name")]
    return sorted(found, key=lambda pair: pair[0].start_byte)[:_MAX_MEMBERS]


def _body(node: Node, rule: Rule) -> Node | None:
    if not rule.body:
        return None
    if rule.body == ".":
        return node
    if rule.body.startswith(">"):
        for child in node.named_children:
            if child.type == rule.body[1:] or child.type == "enum_class_body":
                return child
        return None
    return node.child_by_field_name(rule.body)


def _leaf(node: Node) -> Node:
    """The identifier itself, inside a qualified or generic name."""
    for _ in range(8):
        if not node.child_count:
            break
        inner = node.child_by_field_name("name") or node.child_by_field_name("type")
        inner = inner or node.child_by_field_name("property")
        if inner is None:
            break
        node = inner
    return node


def _name_text(node: Node, data: bytes) -> str:
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    if text.isidentifier() and len(text) <= _MAX_NAME:
        return text  # nearly always
    return " ".join(text.split())[:_MAX_NAME].strip("'\"")


def _extends(node: Node) -> bool:
    """Swift: ``extension Shop`` mentions a type that is declared elsewhere."""
    if node.type != "class_declaration":
        return False
    keyword = node.child_by_field_name("declaration_kind")
    return keyword is not None and keyword.type == "extension"


def _qualified(node: Node, data: bytes, outer: str) -> tuple[str, str]:
    """C++: ``Shop::Cart::add`` is ``add`` in ``Shop.Cart``."""
    *scopes, name = _name_text(node, data).split("::")
    owner = ".".join(scope.split("<")[0].strip() for scope in scopes)
    return (f"{outer}.{owner}" if outer else owner), name


def _rows(node: Node) -> int:
    """How many rows lie between the first and the last of a node."""
    # By index: in one release of the binding, reading a point's fields by name corrupts memory.
    return int(node.end_point[0]) - int(node.start_point[0])


def _last_row(node: Node) -> int:
    """The last row with text of a node; a line comment may end at the start of the next row."""
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


# Node types that need more than a path


def _variable(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    """JavaScript: ``const f = () => ...`` declares a function."""
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    if len(declarators) != 1:
        return None
    name = declarators[0].child_by_field_name("name")
    value = declarators[0].child_by_field_name("value")
    if name is None or value is None or name.type != "identifier" or value.type not in _FUNCTIONS:
        return None
    if value.type == "call_expression":
        return _wrapped_function(name, value)
    if value.type == "class":
        return "class", name, value.child_by_field_name("body")
    return "function", name, None


def _wrapped_function(name: Node, call: Node) -> _Resolved | None:
    """``const Button = memo(() => ...)``: a call that is given a function."""
    arguments = call.child_by_field_name("arguments")
    if arguments is not None and any(a.type in _FUNCTIONS for a in arguments.named_children[:2]):
        return ("function", name, None) if _rows(call) >= 2 else None
    return None


def _assignment(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    """JavaScript: ``exports.f = function``, ``A.prototype.m = function``."""
    for child in node.named_children:
        if child.type == "assignment_expression":
            left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
            if left is None or right is None or right.type not in _FUNCTIONS - {"call_expression"}:
                return None
            name = left.child_by_field_name("property") or left
            kind = "method" if b".prototype." in data[left.start_byte : left.end_byte] else None
            return kind or "function", name, None
        if child.type == "internal_module":  # TypeScript: a namespace is an expression statement
            space = child.child_by_field_name("name")
            body = child.child_by_field_name("body")
            return None if space is None else ("namespace", space, body)
    return None


def _pair(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    key, value = node.child_by_field_name("key"), node.child_by_field_name("value")
    if key is None or value is None or value.type not in _FUNCTIONS - {"call_expression", "class"}:
        return None
    return "method", key, None


def _field(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    names = _follow(node, rule.path)
    value = node.child_by_field_name("value")
    if not names or value is None or value.type not in _FUNCTIONS - {"call_expression", "class"}:
        return None
    return "method", names[0], None


def _struct(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    """C: a struct is declared where its body is."""
    name = node.child_by_field_name("name")
    if name is None or node.child_by_field_name("body") is None:
        return None
    return rule.kind, name, _body(node, rule)


def _typedef(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    names = _follow(node, rule.path)
    if not names:
        return None
    type_ = node.child_by_field_name("type")
    has_body = type_ is not None and type_.child_by_field_name("body") is not None
    kind = _STRUCTS.get(type_.type, "type") if type_ is not None and has_body else "type"
    return kind, names[0], None


def _go_type(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    name, type_ = node.child_by_field_name("name"), node.child_by_field_name("type")
    if name is None:
        return None
    kinds = {"struct_type": "struct", "interface_type": "interface"}
    return kinds.get(type_.type if type_ else "", "type"), name, None


def _element(node: Node, rule: Rule, data: bytes) -> _Resolved | None:
    """HTML: elements with an id, headings, and what holds them."""
    tag = next(
        (c for c in node.named_children if c.type in ("start_tag", "self_closing_tag")), None
    )
    if tag is None:
        return None
    for attribute in tag.named_children:
        if attribute.type == "attribute" and len(attribute.named_children) == 2:
            name, value = attribute.named_children
            if data[name.start_byte : name.end_byte].lower() == b"id" and value.named_children:
                return "element", value.named_children[0], node
    names = [child for child in tag.named_children if child.type == "tag_name"]
    label = data[names[0].start_byte : names[0].end_byte].decode().lower() if names else ""
    if label in _HEADINGS:
        text = next((child for child in node.named_children if child.type == "text"), None)
        return ("section", text, None) if text is not None else None
    if node.type in ("script_element", "style_element"):
        return ("element", names[0], None) if names and _rows(node) >= 2 else None
    return None


_SPECIAL = {
    "lexical_declaration": _variable,
    "variable_declaration": _variable,
    "expression_statement": _assignment,
    "pair": _pair,
    "field_definition": _field,
    "public_field_definition": _field,
    "struct_specifier": _struct,
    "class_specifier": _struct,
    "union_specifier": _struct,
    "enum_specifier": _struct,
    "type_definition": _typedef,
    "type_spec": _go_type,
    "element": _element,
    "script_element": _element,
    "style_element": _element,
}


def _small_kind(node: Node, leaf: Node, kind: str, text: str, parent: _Part) -> str:
    if node.type == "declaration" and _declares_function(node):
        return "function"
    if kind == "variable" and text.isupper():
        return "constant"
    if kind == "variable" and parent.kind in _CLASS_LIKE:
        return "field"
    return kind


def _declares_function(node: Node) -> bool:
    """C: a prototype."""
    declarator = node.child_by_field_name("declarator")
    for _ in range(8):
        if declarator is None:
            return False
        if declarator.type == "function_declarator":
            return True
        declarator = declarator.child_by_field_name("declarator")
    return False


# From parts to chunks


def _flatten(data: bytes, part: _Part, lines: list[int]) -> Iterator[Chunk]:
    spans = _without(part.start, part.end, part.parts)
    start_line = bisect_right(lines, part.start - 1)
    end_line = bisect_right(lines, max(part.start, part.end - 1) - 1)
    symbols = _own_first(part)
    if end_line - start_line < MAX_LINES or sum(e - s for s, e in spans) < 4_000:
        yield Chunk(
            part.kind, part.name, part.container, start_line, end_line, tuple(spans),
            tuple([symbol for _, symbol in symbols]),
        )  # fmt: skip
    else:
        for piece in split_spans(data, spans, lines):
            inside = _inside(symbols, piece)
            first = bisect_right(lines, piece[0][0] - 1)
            last = bisect_right(lines, piece[-1][1] - 2)
            yield Chunk(
                part.kind, part.name, part.container, first, max(first, last), tuple(piece), inside,
            )  # fmt: skip
    for inner in part.parts:
        yield from _flatten(data, inner, lines)


def _own_first(part: _Part) -> list[tuple[int, Symbol]]:
    """The symbols of a part by place, but its own before all others.

    A name that stands behind its members (C: ``typedef struct {...} name;``) counts as standing
    where the part begins, so that it is in the first piece of a part that is cut.
    """
    symbols = sorted(part.symbols, key=_place)
    if len(symbols) > 1 and part.symbols[0][1].name == part.name:
        own = part.symbols[0]
        if own is not symbols[0]:
            symbols.remove(own)
            symbols.insert(0, (part.start, own[1]))
    return symbols


def _leftovers(data: bytes, root: _Part, lines: list[int]) -> Iterator[Chunk]:
    """What no declaration covers: imports, constants, statements between declarations."""
    symbols = sorted(root.symbols, key=_place)
    for begin, stop in _without(0, len(data), root.parts):
        text = data[begin:stop]
        if not _WORD_BYTE.search(text):
            continue
        start = begin + len(text) - len(text.lstrip())
        end = stop - len(text) + len(text.rstrip())
        for piece in split_spans(data, [(start, end)], lines):
            first = bisect_right(lines, piece[0][0] - 1)
            last = bisect_right(lines, piece[-1][1] - 2)
            inside = _inside(symbols, piece)
            yield Chunk("module", "", "", first, max(first, last), tuple(piece), inside)


def _inside(
    symbols: Sequence[tuple[int, Symbol]], spans: Sequence[tuple[int, int]]
) -> tuple[Symbol, ...]:
    """The symbols, sorted by place, that lie in one of some spans, which do not overlap."""
    found: list[Symbol] = []
    for start, end in spans:
        for place in range(bisect_left(symbols, start, key=_place), len(symbols)):
            if symbols[place][0] >= end:
                break
            found.append(symbols[place][1])
    return tuple(found)


_place: Callable[[tuple[int, Symbol]], int] = itemgetter(0)
_start: Callable[[_Part], int] = attrgetter("start")


_WORD_BYTE = re.compile(rb"[0-9A-Za-z\x80-\xff]")


def _without(start: int, end: int, parts: Sequence[_Part]) -> list[tuple[int, int]]:
    """The range without those of ``parts``."""
    spans: list[tuple[int, int]] = []
    for part in sorted(parts, key=_start) if parts else ():
        if part.start > start:
            spans.append((start, part.start))
        start = max(start, part.end)
    if end > start:
        spans.append((start, end))
    return spans
