"""Questions: identifiers in code, chosen at random with a seed.

A parser finds the identifiers and says what each one is by the shape of the code around it. Each
kind gets some questions; the others are chosen over all occurrences, so that what is frequent in
code is frequent among the questions. No name is asked about twice in a code base.
"""

import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import tree_sitter
import tree_sitter_c
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript

from bench.golden.bases import Base

__all__ = ["Question", "chosen", "files_of"]

_PER_KIND = 2

_GRAMMARS = {
    "python": tree_sitter_python.language(),
    "typescript": tree_sitter_typescript.language_typescript(),
    "javascript": tree_sitter_javascript.language(),
    "c": tree_sitter_c.language(),
}
_SUFFIXES = {
    "python": (".py", ".pyi"),
    "typescript": (".ts",),
    "javascript": (".js",),
    "c": (".c", ".h"),
}
_LEFT_OUT = {"node_modules", ".venv", ".git"}
_NOT_ASKED = {"self", "cls", "_", "this", "undefined"}

#: What an identifier is, by the node around it and its field there. The first row that fits.
_KINDS: dict[str, list[tuple[str, str, str]]] = {
    "python": [
        ("function_definition", "name", "function"),
        ("class_definition", "name", "class"),
        ("keyword_argument", "name", "keyword"),
        ("default_parameter", "name", "parameter"),
        ("typed_default_parameter", "name", "parameter"),
        ("typed_parameter", "", "parameter"),
        ("parameters", "", "parameter"),
        ("lambda_parameters", "", "parameter"),
        ("attribute", "attribute", "member"),
        ("assignment", "left", "variable"),
        ("for_statement", "left", "variable"),
        ("aliased_import", "alias", "alias"),
        ("type", "", "type"),
        ("call", "function", "call"),
    ],
    "typescript": [
        ("function_declaration", "name", "function"),
        ("class_declaration", "name", "class"),
        ("abstract_class_declaration", "name", "class"),
        ("method_definition", "name", "method"),
        ("method_signature", "name", "method"),
        ("interface_declaration", "name", "type"),
        ("type_alias_declaration", "name", "type"),
        ("enum_declaration", "name", "type"),
        ("type_parameter", "name", "parameter"),
        ("required_parameter", "pattern", "parameter"),
        ("optional_parameter", "pattern", "parameter"),
        ("formal_parameters", "", "parameter"),
        ("arrow_function", "parameter", "parameter"),
        ("public_field_definition", "name", "field"),
        ("property_signature", "name", "field"),
        ("pair", "key", "field"),
        ("member_expression", "property", "member"),
        ("variable_declarator", "name", "variable"),
        ("import_specifier", "", "import"),
        ("namespace_import", "", "import"),
        ("import_clause", "", "import"),
        ("export_specifier", "", "export"),
        ("call_expression", "function", "call"),
    ],
    "c": [
        ("function_declarator", "declarator", "function"),
        ("preproc_def", "name", "macro"),
        ("preproc_function_def", "name", "macro"),
        ("preproc_ifdef", "name", "macro"),
        ("parameter_declaration", "declarator", "parameter"),
        ("field_declaration", "declarator", "field"),
        ("field_expression", "field", "member"),
        ("init_declarator", "declarator", "variable"),
        ("declaration", "declarator", "variable"),
        ("type_definition", "declarator", "type"),
        ("struct_specifier", "name", "struct"),
        ("enumerator", "name", "constant"),
        ("call_expression", "function", "call"),
    ],
}
_KINDS["javascript"] = _KINDS["typescript"]
_IDENTIFIERS = {
    "python": {"identifier"},
    "typescript": {
        "identifier",
        "property_identifier",
        "type_identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "private_property_identifier",
    },
    "c": {"identifier", "field_identifier", "type_identifier"},
}
_IDENTIFIERS["javascript"] = _IDENTIFIERS["typescript"]
_TRANSPARENT = {"pointer_declarator", "array_declarator", "list_splat_pattern"}
_TRANSPARENT |= {"dictionary_splat_pattern", "parenthesized_declarator"}


class Question(NamedTuple):
    path: str
    #: From 1.
    line: int
    #: From 0, in UTF-16 code units.
    column: int
    name: str
    kind: str
    #: How often the name stands in code of the code base.
    in_code: int


def files_of(root: Path, language: str) -> list[str]:
    """The files of a language, as paths below the root, in order."""
    found = []
    for file in root.rglob("*"):
        parts = file.relative_to(root).parts
        wanted = file.suffix in _SUFFIXES[language] and not _LEFT_OUT & set(parts)
        if wanted and file.is_file() and not file.is_symlink():
            found.append("/".join(parts))
    return sorted(found)


def chosen(base: Base) -> list[Question]:
    """The questions of a code base, the same ones every time."""
    root = base.folder()
    everything: list[tuple[str, int, int, str, str]] = []
    counts: Counter[str] = Counter()
    for path in files_of(root, base.language):
        for occurrence in _occurrences(root / path, base.language):
            counts[occurrence[2]] += 1
            if not base.within or path.startswith(tuple(f"{each}/" for each in base.within)):
                everything.append((path, *occurrence))
    chance = random.Random(base.seed)
    chance.shuffle(everything)
    picked: dict[str, tuple[str, int, int, str, str]] = {}
    kinds: Counter[str] = Counter()
    for each in everything:
        if kinds[each[4]] < _PER_KIND and each[3] not in picked:
            picked[each[3]] = each
            kinds[each[4]] += 1
    for each in everything:
        if len(picked) >= base.questions:
            break
        picked.setdefault(each[3], each)
    return [Question(*each, counts[each[3]]) for each in sorted(picked.values())]


def _occurrences(file: Path, language: str) -> Iterator[tuple[int, int, str, str]]:
    """Line, column, name and kind of each identifier in code."""
    content = file.read_bytes()
    try:
        content.decode()
    except UnicodeDecodeError:
        return
    lines = content.split(b"\n")
    tree = tree_sitter.Parser(tree_sitter.Language(_GRAMMARS[language])).parse(content)
    waiting = [tree.root_node]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.type in _IDENTIFIERS[language] and node.text:
            name = node.text.decode()
            line, column = node.start_point
            if name not in _NOT_ASKED:
                before = lines[line][:column].decode()
                units = len(before.encode("utf-16-le")) // 2
                yield line + 1, units, name, _kind(node, language)


def _kind(node: tree_sitter.Node, language: str) -> str:
    inner, outer = node, node.parent
    while outer is not None and outer.type in _TRANSPARENT:
        inner, outer = outer, outer.parent
    if outer is None:
        return "use"
    if outer.type == "dotted_name":
        return _of_import(outer)
    field = next(
        (outer.field_name_for_child(i) for i, c in enumerate(outer.children) if c == inner), None
    )
    for parent, name, kind in _KINDS[language]:
        if outer.type == parent and name in {"", field}:
            in_class = kind == "function" and _is_in_class(outer)
            return "method" if in_class else kind
    return "use"


def _of_import(dotted: tree_sitter.Node) -> str:
    outer = dotted.parent
    if outer is not None and outer.type == "aliased_import":
        dotted, outer = outer, outer.parent
    if outer is None or outer.type not in {
        "import_statement",
        "import_from_statement",
        "relative_import",
    }:
        return "use"  # of a pattern, or of a decorator
    is_name = outer.type == "import_from_statement" and any(
        child == dotted and outer.field_name_for_child(i) == "name"
        for i, child in enumerate(outer.children)
    )
    return "import" if is_name else "module"


def _is_in_class(function: tree_sitter.Node) -> bool:
    outer = function.parent
    if outer is not None and outer.type == "decorated_definition":
        outer = outer.parent
    return (
        outer is not None
        and outer.type == "block"
        and outer.parent is not None
        and outer.parent.type == "class_definition"
    )
