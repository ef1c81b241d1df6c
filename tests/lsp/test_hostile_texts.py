"""Whatever a project has written, reading it takes time in proportion to its size.

A text that is looked through again from each of its places takes hours, so a test that ends shows
that none is.
"""

import asyncio
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest

from sightline.context.code.signatures import signature
from sightline.contract.declarations import without_declarations
from sightline.contract.limits import MAX_SEARCH_QUERY_CODE_POINTS
from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.contract.values import Location, Position, Range
from sightline.index.cutting.keys import cut_keys
from sightline.index.reading.languages import language_of
from sightline.index.searching.query import understand
from sightline.lsp.asking.unknown_names import is_imported, is_name
from sightline.lsp.c.directives import needed, spelled
from sightline.lsp.c.dropped_arguments import arguments, definitions, dropping
from sightline.lsp.c.outside_bodies import only_adds_functions, outside_bodies
from sightline.lsp.coverage.left_out import is_left_out
from sightline.lsp.coverage.packages import not_installed
from sightline.lsp.coverage.shell_mentions import ShellMentions
from sightline.lsp.coverage.shell_quotes import plain_texts
from sightline.lsp.coverage.unlisted_macros import macros_of
from sightline.lsp.files.globs import matcher
from sightline.lsp.files.reading import read_toml
from sightline.lsp.go.build_constraints import constraint, target_of
from sightline.lsp.project.projects import Project
from sightline.lsp.python.names import PythonText
from sightline.lsp.typescript.path_patterns import expression_of, fills
from sightline.lsp.typescript.tsconfig import read
from sightline.lsp.unaccounted.class_hierarchy import Blocks
from sightline.lsp.unaccounted.engine import MOST_ASKED, RULES
from sightline.lsp.unaccounted.symbols import Symbol
from sightline.text.code import PYTHON
from sightline.text.names import name_at
from sightline.text.scopes import Scope, grammar_of, is_prose, scope_at
from sightline.text.sources import SourceTexts, word
from sightline.text.spans import spans_of
from tests.support.files import write_files

SIZE = 1 << 20
PIECES = [" ", "\t", "\n", "a", "A", "0.", "'", '"', "\\", "\\'", '\\"', "/* ", "// ", "#if ", "#"]
PIECES += [
    "import ",
    "import\t",
    "import (",
    "\n__all__ = [",
    "x import a ",
    "from ",
    "require( ",
    "exports ",
    "module . ",
    "{",
    "f() {",
    "f f(a);\n",
    "}",
]
PIECES += [
    "require(",
    "import a = require(",
    "/// <reference path=",
    "import a;",
    "; import a",
    "if a: import ",
]
PIECES += ["a,  # b\n", "a,\n", "(a) ", '"""', "a as b, ", "def f(a):\n  ", "\r", "{,}", "*/"]
PIECES += ["$a ", "<<a ", "<<'a ", "<<-'a'\n", "$(", '"$(', '`"', "case a in ", "trap a ", "$'\\'"]
PIECES += ["[", "[ ", "a = ", "- ", "//go:build ", "( ", "! ", "a.b ", "@a/", "`", "${"]
PIECES += [
    "(/",
    "(/[",
    "(/a",
    "=\n/",
    "</a>",
    "(/</",
    "(/{a",
    "@a(",
    "@a() ",
    "@a(b() ",
    "enum a {",
    "a,",
    "a(a, b(",
    "f(b(a), ",
    "\n#define a(a) b(a)\n",
    "#define a(a, ",
    "## ",
    ".",
    "class ",
]
BEGINNINGS = ["", "import", "from", "#if", "[", "a", "a b", "//go:build a", "/*", "'", "require("]
BEGINNINGS += ["from a import (", "import {", 'x = f"""']
#: What an expression may begin all over again for.
ENDINGS = ["", "\n)\n\nend"]


def toml_keys(text: str) -> None:
    cut_keys(text.encode(), "toml")


def ini_keys(text: str) -> None:
    cut_keys(text.encode(), "ini")


def header(text: str) -> None:
    language_of("a.h", text.encode())


def build_constraint(text: str) -> None:
    target_of({}).leaves_out("a.go", constraint(text + "\npackage a\n"))


def question(text: str) -> None:
    understand(text[:MAX_SEARCH_QUERY_CODE_POINTS])


def python_names(text: str) -> None:
    python = PythonText("__all__ = [" + text)
    place = Range(Position(0, 0), Position(0, 1))
    python.exports("a"), python.alias_after(place), python.binds_in_module(place)


def brace_signature(text: str) -> None:
    signature(text, "c")


def added_functions(text: str) -> None:
    only_adds_functions(text, f"{text}\nint f(void) {{}}\n")


def dropped_arguments(text: str) -> None:
    """As what a macro is given, and as what it is defined as."""
    text = text[: SIZE // 64]
    arguments(f"a({text}", {"a": 1, "b": -1, "f": 2})
    dropping(definitions(f"#define f(a, ...) b(f(a, {text}"))
    dropping(definitions(text))


def blocks(text: str) -> None:
    data = text[: SIZE // 32].encode()
    found = Blocks(data, spans_of(PYTHON, data))
    found.class_line(len(found) - 1), found.openers


def occurrences_in(name: str, language: str) -> Callable[[str], object]:
    """Everything that is asked of each occurrence of a name in a source."""
    rules = RULES[language]
    grammar = grammar_of(language)

    def occurrences(text: str) -> None:
        data = text[: SIZE // 256].encode()
        with tempfile.TemporaryDirectory() as folder:
            path = str(write_files(Path(folder), {name: data.decode()}) / name)
            texts = SourceTexts(lambda: [path])
            hits = texts.search(word("a")) or {}
            for scope in Scope:
                symbol = Symbol("a", (), frozenset(), scope, frozenset({"b"}))
                for start in hits.get(path, ()):
                    rules.may_use(symbol, texts, path, start)
                    rules.may_use_string(symbol, texts, path, start)
                for start in hits.get(path, ())[:MOST_ASKED]:
                    rules.unresolved(symbol, texts, path, start, None)
                    rules.stand_in(texts.text(path), "a", start)
                    rules.passes_on(texts.text(path), "a", start)
                    is_prose(grammar, texts.text(path), start)
            scope_at(grammar, texts.text(path), len(texts.text(path)) // 2)

    occurrences.__name__ = f"occurrences_in_{language}"
    return occurrences


def shell_quotes(text: str) -> None:
    plain_texts(text.encode())


class Script:
    """A project of one script."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def files(self) -> list[str]:
        return [f"{self.folder}/a.sh"]

    def scripts(self) -> list[str]:
        return []


def mentioned(folder: Path, text: str, found: Sequence[Location] = ()) -> Unaccounted:
    """The occurrences of a name in a script that are not among those found."""
    project = Script(str(write_files(folder, {"a.sh": text})))
    mentions = ShellMentions(lambda: cast("Project", project))
    return asyncio.run(mentions.unaccounted("a", found))[0]


def shell_mentions(text: str) -> None:
    """Every place of the name is looked at, since it is found as often elsewhere."""
    place = Location("file:///a.sh", Range(Position(1, 0), Position(1, 1)))
    with tempfile.TemporaryDirectory() as folder:
        mentioned(Path(folder), text[: SIZE // 64], [place] * text.count("a"))


def name_in(language: str) -> Callable[[str], object]:
    """Everything that is asked of the text around a name at its end."""

    def around_a_name(text: str) -> None:
        line, column = text.count("\n"), len(text) - (text.rfind("\n") + 1)
        place = Position(line, column)
        here = Location("file:///a", Range(place, place))
        is_imported(language, here, lambda uri: text)
        is_name(language, text, place), name_at(text, place, language)
        without_declarations([here], [here], language, lambda uri: text)

    around_a_name.__name__ = f"around_a_name_in_{language}"
    return around_a_name


READERS: list[Callable[[str], object]] = [
    *map(name_in, ("python", "typescript", "c", "shellscript")),
    spelled,
    needed,
    outside_bodies,
    added_functions,
    python_names,
    dropped_arguments,
    blocks,
    occurrences_in("a.py", "python"),
    occurrences_in("a.ts", "typescript"),
    macros_of,
    signature,
    brace_signature,
    toml_keys,
    ini_keys,
    header,
    build_constraint,
    question,
    shell_quotes,
    shell_mentions,
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_every_reader_ends(reader: Callable[[str], object]) -> None:
    for beginning in BEGINNINGS:
        for piece in PIECES:
            for ending in ENDINGS:
                reader(beginning + piece * (SIZE // 16 // len(piece)) + ending)


#: Heads that never end, or that nobody could read in one piece.
HEADS = [
    "int f(void) {}\nint " + "a:: " * (SIZE // 16) + "(void) {}\n",
    "int f(void) {}\nint x(" + ";" * (SIZE // 4),
    "int f(void) {}\n" + "namespace " * (SIZE // 40) + "= { int a; };\n",
    "int f(void) {}\nint a[] = {" + "1, " * (SIZE // 12) + "};\n",
]


def test_a_name_that_is_everywhere_in_scripts(tmp_path: Path) -> None:
    assert mentioned(tmp_path, "b $a\n" * 30_000).reason is Reason.OVER_BUDGET
    # In one line of three megabytes, too, it is looked at from the place before.
    told = mentioned(tmp_path, f"echo $a {'b' * 200} " * 15_000)
    assert (told.reason, told.count) == (Reason.QUOTED, 1)


@pytest.mark.parametrize("head", HEADS, ids=lambda head: head[16:30])
def test_heads_of_functions_end(head: str) -> None:
    # What cannot be read in one piece is no plain addition; a long table is.
    assert only_adds_functions(head, f"{head}\nint g(void) {{}}\n") == ("a[]" in head)


@pytest.mark.parametrize(
    "line", ['x = "' + (("a" * 64 + ".") * 63 + ",") * 200 + '"', "a     ." * 100_000 + "b = 1"]
)
def test_keys_end(tmp_path: Path, line: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f"{line}\n")
    assert read_toml(str(tmp_path / "pyproject.toml")).get("x") in (None, line[5:-1])


def test_requirements_end(tmp_path: Path) -> None:
    hostile = "a" + " " * (SIZE // 2) + "b"
    project = f'[project]\nname = "here"\ndependencies = [{json.dumps(hostile)}]\n'
    root = str(write_files(tmp_path, {"pyproject.toml": project}))
    assert not_installed("python", root, root) == []


STARS = "*a" * 60 + "b"
LONG = "a" * 240


@pytest.mark.parametrize("pattern", [STARS, f"**/{STARS}", "**/a/" * 60 + "b", "{a,aa}" * 60 + "b"])
def test_patterns_that_projects_write(pattern: str) -> None:
    deep = "/".join(["a"] * 120)
    for path in (LONG, f"a/{LONG}", deep):
        assert not matcher(pattern)(path)
        assert is_left_out(path, [pattern], [])
        for files in (True, False):
            expression = expression_of(pattern, "/ws", files=files)
            assert expression is None or not fills(expression, f"/ws/{path}")


def test_a_configuration_with_such_patterns(tmp_path: Path) -> None:
    text = json.dumps({"include": [f"{STARS}.ts", "x" * 5_000], "exclude": [STARS]})
    root = write_files(tmp_path, {"tsconfig.json": text})
    configuration = read(f"{root}/tsconfig.json")
    assert not configuration.includes(f"{root}/{LONG}.ts")


def test_a_pattern_that_cannot_be_read_excludes_everything(tmp_path: Path) -> None:
    """What is not surely in a project is named to its server, which does no harm."""
    text = json.dumps({"include": ["src"], "exclude": ["x" * 5_000]})
    root = write_files(tmp_path, {"tsconfig.json": text})
    assert not read(f"{root}/tsconfig.json").includes(f"{root}/src/a.ts")
