"""The pinned grammars: which node types declare something, under which name, as what.

This is data. ``declarations.py`` walks a tree by it. A *path* says how to get from a node to the
nodes that hold the declared names, one step per word:

    name            the child in that field
    >const_spec     every named child of that type
    >>var_spec      every named descendant of that type, at most four levels down
    *declarator     that field, again and again, to the last one

Grammars are loaded only in worker processes, where a grammar that hangs or crashes costs one file.
"""

import importlib
from dataclasses import dataclass, field
from functools import cache
from typing import Literal, NamedTuple

from tree_sitter import Language, Parser

__all__ = ["GRAMMARS", "Grammar", "Rule", "parser_for"]


class Rule(NamedTuple):
    """How one node type declares something."""

    kind: str
    path: tuple[str, ...] = ("name",)
    #: The field or child type that holds members; empty for a leaf.
    body: str = ""
    #: The path to the name of the type that this is a member of, for languages that say it here.
    owner: tuple[str, ...] = ()
    #: Whether the name is declared here. An ``impl`` block only mentions it.
    declares: bool = True


@dataclass(frozen=True)
class Grammar:
    module: str
    function: str = "language"
    #: Node types that become chunks.
    rules: dict[str, Rule] = field(default_factory=dict)
    #: Node types whose names become symbols of the chunk around them.
    small: dict[str, Rule] = field(default_factory=dict)
    #: Node types around a declaration that belong to it: decorators, exports, templates.
    wrappers: frozenset[str] = frozenset()
    #: Node types whose children count as if they stood in their place.
    open: frozenset[str] = frozenset()
    #: Node types that belong to the declaration after them.
    attached: frozenset[str] = frozenset({"comment"})
    #: What is searched for declarations inside: nothing else than bodies and what is open, or also
    #: statements and functions with many lines, or everything.
    inner: Literal["none", "long", "all"] = "none"
    #: Node types that declare a variable, and perhaps the type of it.
    typed: frozenset[str] = frozenset()
    #: Node types that can hold no declaration, however long they are, unless they do not parse.
    closed: frozenset[str] = frozenset()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _rules(**rules: Rule) -> dict[str, Rule]:
    """Rules by node type. A type that is a word of Python is written with an underscore behind."""
    return {type_.rstrip("_"): rule for type_, rule in rules.items()}


def _r(kind: str, path: str = "name", body: str = "", owner: str = "") -> Rule:
    return Rule(kind, tuple(path.split()), body, tuple(owner.split()))


_PYTHON = Grammar(
    "tree_sitter_python",
    rules=_rules(
        function_definition=_r("function"),
        class_definition=_r("class", body="body"),
    ),
    small=_rules(
        expression_statement=_r("variable", ">assignment left"),
        type_alias_statement=_r("type", "left >identifier"),
    ),
    wrappers=_words("decorated_definition"),
    open=_words("if_statement else_clause elif_clause try_statement block except_clause"),
    inner="long",
    closed=_words(
        "expression_statement import_statement import_from_statement future_import_statement "
        "return_statement raise_statement assert_statement delete_statement type_alias_statement "
        "identifier string parameters argument_list call attribute subscript dictionary list set "
        "tuple binary_operator boolean_operator comparison_operator not_operator "
        "conditional_expression parenthesized_expression list_comprehension "
        "dictionary_comprehension set_comprehension generator_expression lambda await"
    ),
)

_JAVASCRIPT_RULES = _rules(
    function_declaration=_r("function"),
    generator_function_declaration=_r("function"),
    class_declaration=_r("class", body="body"),
    class_=_r("class", body="body"),
    method_definition=_r("method"),
    pair=_r("property", "key"),
    lexical_declaration=_r("constant", ">variable_declarator name"),
    variable_declaration=_r("variable", ">variable_declarator name"),
    expression_statement=_r("property", ">assignment_expression left"),
    field_definition=_r("field", "property"),
)
_JAVASCRIPT = Grammar(
    "tree_sitter_javascript",
    rules=_JAVASCRIPT_RULES,
    wrappers=_words("export_statement"),
    attached=_words("comment decorator"),
    inner="long",
)
_TYPESCRIPT_RULES = _JAVASCRIPT_RULES | _rules(
    abstract_class_declaration=_r("class", body="body"),
    interface_declaration=_r("interface"),
    type_alias_declaration=_r("type"),
    enum_declaration=_r("enum"),
    internal_module=_r("namespace", body="body"),
    module=_r("module", body="body"),
    function_signature=_r("function"),
    abstract_method_signature=_r("method"),
    public_field_definition=_r("field"),
)
_TYPESCRIPT_SMALL = _rules(
    property_signature=_r("property"),
    method_signature=_r("method"),
)
_TYPESCRIPT = Grammar(
    "tree_sitter_typescript",
    "language_typescript",
    rules=_TYPESCRIPT_RULES,
    small=_TYPESCRIPT_SMALL,
    wrappers=_words("export_statement ambient_declaration"),
    attached=_words("comment decorator"),
    inner="long",
)
_TSX = Grammar(
    "tree_sitter_typescript",
    "language_tsx",
    rules=_TYPESCRIPT_RULES,
    small=_TYPESCRIPT_SMALL,
    wrappers=_TYPESCRIPT.wrappers,
    attached=_TYPESCRIPT.attached,
    inner="long",
)

_GO = Grammar(
    "tree_sitter_go",
    rules=_rules(
        function_declaration=_r("function"),
        method_declaration=_r("method", owner="receiver >>type_identifier"),
        type_spec=_r("type"),
        type_alias=_r("type"),
    ),
    small=_rules(
        const_declaration=_r("constant", ">>const_spec name"),
        var_declaration=_r("variable", ">>var_spec name"),
    ),
    wrappers=_words("type_declaration"),
)

_RUST = Grammar(
    "tree_sitter_rust",
    rules=_rules(
        function_item=_r("function"),
        function_signature_item=_r("function"),
        struct_item=_r("struct"),
        enum_item=_r("enum"),
        union_item=_r("union"),
        trait_item=_r("trait", body="body"),
        impl_item=_r("class", "type", body="body")._replace(declares=False),
        mod_item=_r("module", body="body"),
        macro_definition=_r("macro"),
    ),
    small=_rules(
        const_item=_r("constant"),
        static_item=_r("variable"),
        type_item=_r("type"),
    ),
    attached=_words("line_comment block_comment attribute_item"),
)

_JAVA = Grammar(
    "tree_sitter_java",
    rules=_rules(
        class_declaration=_r("class", body="body"),
        interface_declaration=_r("interface", body="body"),
        enum_declaration=_r("enum", body="body"),
        record_declaration=_r("class", body="body"),
        annotation_type_declaration=_r("interface", body="body"),
        method_declaration=_r("method"),
        constructor_declaration=_r("method"),
        compact_constructor_declaration=_r("method"),
    ),
    small=_rules(
        field_declaration=_r("field", "declarator name"),
        constant_declaration=_r("constant", "declarator name"),
        enum_constant=_r("constant"),
    ),
    open=_words("enum_body_declarations"),
    attached=_words("line_comment block_comment"),
)

_C_OPEN = _words(
    "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification "
    "declaration_list"
)
_C_RULES = _rules(
    function_definition=_r("function", "*declarator"),
    struct_specifier=_r("struct"),
    union_specifier=_r("union"),
    enum_specifier=_r("enum"),
    type_definition=_r("type", "*declarator"),
    preproc_function_def=_r("macro"),
)
_C_SMALL = _rules(
    declaration=_r("variable", "*declarator"),
    preproc_def=_r("macro"),
)
_C_TYPED = _words("declaration field_declaration")
_C = Grammar("tree_sitter_c", rules=_C_RULES, small=_C_SMALL, open=_C_OPEN, typed=_C_TYPED)
_CPP = Grammar(
    "tree_sitter_cpp",
    rules=_C_RULES
    | _rules(
        struct_specifier=_r("struct", body="body"),
        class_specifier=_r("class", body="body"),
        namespace_definition=_r("namespace", body="body"),
        concept_definition=_r("type"),
    ),
    small=_C_SMALL
    | _rules(alias_declaration=_r("type"), field_declaration=_r("field", "*declarator")),
    wrappers=_words("template_declaration"),
    open=_C_OPEN,
    attached=_words("comment attribute_declaration"),
    typed=_C_TYPED,
)

_CSHARP = Grammar(
    "tree_sitter_c_sharp",
    rules=_rules(
        namespace_declaration=_r("namespace", body="body"),
        class_declaration=_r("class", body="body"),
        struct_declaration=_r("struct", body="body"),
        interface_declaration=_r("interface", body="body"),
        enum_declaration=_r("enum"),
        record_declaration=_r("class", body="body"),
        record_struct_declaration=_r("struct", body="body"),
        delegate_declaration=_r("type"),
        method_declaration=_r("method"),
        constructor_declaration=_r("method"),
        destructor_declaration=_r("method"),
        property_declaration=_r("property"),
        operator_declaration=_r("method", "operator"),
    ),
    small=_rules(
        field_declaration=_r("field", ">variable_declaration >variable_declarator name"),
        event_field_declaration=_r("field", ">variable_declaration >variable_declarator name"),
    ),
    open=_words("preproc_if preproc_else preproc_elif preproc_region global_statement"),
)

_RUBY = Grammar(
    "tree_sitter_ruby",
    rules=_rules(
        module=_r("module", body="body"),
        class_=_r("class", body="body"),
        singleton_class=_r("class", "value", body="body")._replace(declares=False),
        method=_r("method"),
        singleton_method=_r("method"),
    ),
    small=_rules(assignment=_r("constant", "left")),
    open=_words("body_statement"),
    inner="long",
)

_PHP = Grammar(
    "tree_sitter_php",
    "language_php",
    rules=_rules(
        function_definition=_r("function"),
        class_declaration=_r("class", body="body"),
        interface_declaration=_r("interface", body="body"),
        trait_declaration=_r("trait", body="body"),
        enum_declaration=_r("enum", body="body"),
        method_declaration=_r("method"),
    ),
    small=_rules(
        const_declaration=_r("constant", ">const_element >name"),
        property_declaration=_r("property", ">property_element name >name"),
        enum_case=_r("constant"),
    ),
    open=_words("namespace_definition compound_statement if_statement"),
    inner="long",
)

_KOTLIN = Grammar(
    "tree_sitter_kotlin",
    rules=_rules(
        class_declaration=_r("class", body=">class_body"),
        object_declaration=_r("class", body=">class_body"),
        function_declaration=_r("function"),
        type_alias=_r("type", "type"),
    ),
    small=_rules(
        property_declaration=_r("property", ">variable_declaration >identifier"),
        enum_entry=_r("constant", ">identifier"),
    ),
    open=_words("enum_class_body companion_object class_body"),
    attached=_words("line_comment block_comment"),
    inner="long",
)

_SWIFT = Grammar(
    "tree_sitter_swift",
    rules=_rules(
        class_declaration=_r("class", body="body"),
        protocol_declaration=_r("interface", body="body"),
        function_declaration=_r("function"),
        protocol_function_declaration=_r("function"),
        init_declaration=_r("method", "name"),
        subscript_declaration=_r("method"),
        typealias_declaration=_r("type"),
        macro_declaration=_r("macro"),
    ),
    small=_rules(
        property_declaration=_r("property", "name bound_identifier"),
        protocol_property_declaration=_r("property", "name bound_identifier"),
        enum_entry=_r("constant"),
    ),
    attached=_words("comment multiline_comment"),
    inner="long",
)

_SCALA = Grammar(
    "tree_sitter_scala",
    rules=_rules(
        class_definition=_r("class", body="body"),
        object_definition=_r("class", body="body"),
        trait_definition=_r("trait", body="body"),
        enum_definition=_r("enum", body="body"),
        package_object=_r("module", body="body"),
        function_definition=_r("function"),
        function_declaration=_r("function"),
        type_definition=_r("type"),
        given_definition=_r("constant"),
    ),
    small=_rules(
        val_definition=_r("constant", "pattern"),
        var_definition=_r("variable", "pattern"),
        simple_enum_case=_r("constant"),
    ),
    open=_words("extension_definition template_body enum_case_definitions"),
    attached=_words("comment block_comment annotation"),
    inner="long",
)

_BASH = Grammar(
    "tree_sitter_bash",
    rules=_rules(function_definition=_r("function")),
    small=_rules(
        variable_assignment=_r("variable"),
        declaration_command=_r("variable", ">variable_assignment name"),
    ),
    open=_words("if_statement elif_clause else_clause"),
    inner="long",
)

_SQL = Grammar(
    "tree_sitter_sql",
    rules=_rules(
        create_table=_r("table", ">object_reference name"),
        create_view=_r("view", ">object_reference name"),
        create_materialized_view=_r("view", ">object_reference name"),
        create_function=_r("function", ">object_reference name"),
        create_procedure=_r("function", ">object_reference name"),
        create_trigger=_r("trigger", ">object_reference name"),
        create_type=_r("type", ">object_reference name"),
        create_index=_r("index", "column"),
    ),
    wrappers=_words("statement"),
    open=_words("transaction block"),
    attached=_words("comment marginalia"),
)

_HTML = Grammar(
    "tree_sitter_html",
    rules=_rules(
        element=_r("element", body="."),
        script_element=_r("element"),
        style_element=_r("element"),
    ),
    inner="all",
)

_CSS = Grammar(
    "tree_sitter_css",
    rules=_rules(
        rule_set=_r("rule", ">selectors"),
        keyframes_statement=_r("rule", ">keyframes_name"),
    ),
    open=_words("media_statement supports_statement block at_rule"),
)

#: By the name of the language.
GRAMMARS: dict[str, Grammar] = {
    "python": _PYTHON,
    "starlark": _PYTHON,
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TSX,
    "go": _GO,
    "rust": _RUST,
    "java": _JAVA,
    "c": _C,
    "cpp": _CPP,
    "csharp": _CSHARP,
    "ruby": _RUBY,
    "php": _PHP,
    "kotlin": _KOTLIN,
    "swift": _SWIFT,
    "scala": _SCALA,
    "bash": _BASH,
    "sql": _SQL,
    "html": _HTML,
    "css": _CSS,
}


@cache
def parser_for(language: str) -> Parser:
    """A parser of one language, loaded when first asked for."""
    grammar = GRAMMARS[language]
    module = importlib.import_module(grammar.module)
    return Parser(Language(getattr(module, grammar.function)()))
