"""Declarations that are easily missed: which are known, whose they are, and their lines."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from sightline.index.cutting import declarations
from sightline.index.cutting.chunks import Chunk, Symbol
from sightline.index.cutting.cut import cut
from sightline.index.cutting.declarations import _own_first
from sightline.index.terms.words import raw_words_of
from tests.conftest import Workspace
from tests.support.index import index_engine

#: The kind, the container, and the first and last line, from 1.
Known = tuple[str, str, int, int]


def known(language: str, text: str) -> dict[str, Known]:
    """What is known of each name, with the lines that show_file shows. No name is known twice."""
    found: dict[str, Known] = {}
    for chunk in cut(text.encode(), language):
        for symbol in chunk.symbols:
            own = symbol is chunk.symbols[0] and symbol.name == chunk.name
            path = chunk.container if own else f"{chunk.container}.{chunk.name}".strip(".")
            start = chunk.start_line if own else symbol.line
            assert symbol.name not in found
            found[symbol.name] = (symbol.kind, path, start + 1, symbol.end_line + 1)
    return found


def spans(chunks: list[Chunk]) -> list[tuple[int, int]]:
    return sorted(span for chunk in chunks for span in chunk.spans)


SIZE = """\
typedef struct {
  int width;
  int height;
} size2d_t;
"""


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_a_typedef_begins_where_its_body_does(language: str) -> None:
    assert known(language, SIZE) == {
        "size2d_t": ("struct", "", 1, 4),
        "width": ("field", "size2d_t", 2, 2),
        "height": ("field", "size2d_t", 3, 3),
    }
    modes = "typedef enum {\n  FAST,\n  SLOW = 2,\n} speed_t;\n"
    assert known(language, modes) == {
        "speed_t": ("enum", "", 1, 4),
        "FAST": ("constant", "speed_t", 2, 2),
        "SLOW": ("constant", "speed_t", 3, 3),
    }
    union = "typedef union {\n  int whole;\n  float real;\n} number_t;\n"
    assert known(language, union)["number_t"] == ("union", "", 1, 4)


def test_a_typedef_of_many_lines_begins_there_too() -> None:
    """It is cut into windows, and its name stands in the last one."""
    names = [f"AN_ENUMERATOR_WITH_A_LONG_NAME_{number}" for number in range(200)]
    text = "typedef enum {\n" + "".join(f"  {name},\n" for name in names) + "} codes_t;\n"
    found = known("c", text)
    assert found.pop("codes_t") == ("enum", "", 1, 202)
    assert found == {
        name: ("constant", "codes_t", line, line) for line, name in enumerate(names, 2)
    }


def test_what_is_in_a_namespace_without_a_name_is_known() -> None:
    text = (
        "namespace {\n"
        "int hidden() { return 1; }\n"
        "}\n"
        "namespace net {\n"
        "namespace {\n"
        "class Deep { int size; };\n"
        "}\n"
        "}\n"
    )
    assert known("cpp", text) == {
        "hidden": ("function", "", 2, 2),
        "net": ("namespace", "", 4, 8),
        "Deep": ("class", "net", 6, 6),
        "size": ("field", "net.Deep", 6, 6),
    }


def test_types_inside_a_class_are_known() -> None:
    text = (
        "class Outer {\n"
        " public:\n"
        "  // What is inside.\n"
        "  struct InStruct {\n"
        "    int size;\n"
        "    int take() { return size; }\n"
        "  };\n"
        "  enum class Mode { Fast, Slow };\n"
        "  mutable union Both { int whole; float real; } both;\n"
        "  struct Ahead;\n"
        "  struct { int nameless; } point;\n"
        "};\n"
    )
    assert known("cpp", text) == {
        "Outer": ("class", "", 1, 12),
        "InStruct": ("struct", "Outer", 3, 7),
        "size": ("field", "Outer.InStruct", 5, 5),
        "take": ("method", "Outer.InStruct", 6, 6),
        "Mode": ("enum", "Outer", 8, 8),
        "Fast": ("constant", "Outer.Mode", 8, 8),
        "Slow": ("constant", "Outer.Mode", 8, 8),
        "Both": ("union", "Outer", 9, 9),
        "whole": ("field", "Outer.Both", 9, 9),
        "real": ("field", "Outer.Both", 9, 9),
        "both": ("field", "Outer", 9, 9),
        "point": ("field", "Outer", 11, 11),
    }


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_the_tag_of_a_typedef_is_known(language: str) -> None:
    text = "typedef struct list_node {\n  struct list_node *next;\n} list_node_t;\n"
    assert known(language, text) == {
        "list_node_t": ("struct", "", 1, 3),
        "list_node": ("struct", "list_node_t", 1, 3),
        "next": ("field", "list_node_t", 2, 2),
    }
    # One name for both is one declaration; a tag without a body is declared elsewhere.
    assert list(known(language, "typedef struct node { int next; } node;\n")) == ["node", "next"]
    assert list(known(language, "typedef struct node node_t;\n")) == ["node_t"]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_the_type_of_a_variable_is_known(language: str) -> None:
    text = (
        "/* Where we listen. */\n"
        "static struct config_s {\n"
        "  int port;\n"
        "} cfg = {80};\n"
        "struct config_s other;\n"
    )
    assert known(language, text) == {
        "config_s": ("struct", "", 1, 4),
        "port": ("field", "config_s", 3, 3),
        "cfg": ("variable", "", 4, 4),
        "other": ("variable", "", 5, 5),
    }
    chunks = cut(text.encode(), language)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans(chunks)))
    words = [raw_words_of(text.encode()[start:end]) for start, end in spans(chunks)]
    assert list(itertools.chain(*words)) == raw_words_of(text.encode())


def test_types_inside_a_struct_of_c_are_known() -> None:
    text = "struct outer {\n  struct inner {\n    int size;\n  } first;\n};\n"
    assert known("c", text) == {
        "outer": ("struct", "", 1, 5),
        "first": ("field", "outer", 4, 4),
        "inner": ("struct", "outer", 2, 4),
        "size": ("field", "outer.inner", 3, 3),
    }


def test_types_inside_each_other_without_end_are_cut() -> None:
    text = "struct s { " * 3_000 + "int x; " + "} y; " * 2_999 + "};"
    assert cut(text.encode(), "c") and cut(text.encode(), "cpp")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_macro_ends_on_its_own_line(end: str) -> None:
    lines = ["#define BUF_MAX 3", "int after;", "#define TWICE(x) \\", "  (x * 2)", "int last;", ""]
    assert known("c", end.join(lines)) == {
        "BUF_MAX": ("macro", "", 1, 1),
        "after": ("variable", "", 2, 2),
        "TWICE": ("macro", "", 3, 4),
        "last": ("variable", "", 5, 5),
    }


def test_members_of_an_enum_are_known_with_their_own_lines() -> None:
    text = (
        "export enum Color {\n"
        '  Red = "red",\n'
        "  Blue,\n"
        "  // The third.\n"
        "  Green =\n"
        "    1 << 2,\n"
        '  "Dark",\n'
        "}\n"
    )
    assert known("typescript", text) == {
        "Color": ("enum", "", 1, 8),
        "Red": ("constant", "Color", 2, 2),
        "Blue": ("constant", "Color", 3, 3),
        "Green": ("constant", "Color", 5, 6),
        "Dark": ("constant", "Color", 7, 7),
    }


def test_methods_of_a_generic_type_are_its_own() -> None:
    text = (
        "package a\n"
        "func (g *Gen[T]) Fetch() int { return 1 }\n"
        "func (g Gen[T]) Value() int { return 1 }\n"
        "func (*Pair[K, V]) Both(other Thing) {}\n"
        "var (\n"
        "\tA, B = func() int { var inner = 3; return inner }, 1\n"
        ")\n"
    )
    found = {name: (kind, path) for name, (kind, path, _, _) in known("go", text).items()}
    assert found == {
        "Fetch": ("method", "Gen"),
        "Value": ("method", "Gen"),
        "Both": ("method", "Pair"),
        "A": ("constant", ""),
        "B": ("constant", ""),
    }


@pytest.mark.parametrize(
    ("language", "text"), [("python", "...\n"), ("javascript", ";;;"), ("c", "\n;\n")]
)
def test_a_file_without_a_word_is_one_chunk(language: str, text: str) -> None:
    (chunk,) = cut(text.encode(), language)
    assert (chunk.kind, chunk.name, chunk.spans) == ("module", "", ((0, len(text)),))
    assert not cut(b" \n\n", language) and not cut(b"", language)


async def test_they_are_shown_and_found(workspace: Workspace, tmp_path: Path) -> None:
    files = {"size.c": SIZE + "#define BUF_MAX 3\nint after;\n", "stub.pyi": "...\n"}
    async with index_engine(workspace(files), tmp_path / "cache") as running:
        shown = await running.once("show_file", symbol="size2d_t")
        assert (shown["startLine"], shown["endLine"]) == (1, 4)
        shown = await running.once("show_file", symbol="BUF_MAX")
        assert (shown["startLine"], shown["endLine"]) == (5, 5)
        found = await running.once("search", query="...", mode="literal")
        assert [hit["path"] for hit in found["items"]] == ["stub.pyi"]


class _Counted(list[tuple[int, Symbol]]):
    """Symbols that count how often one is looked at."""

    looks = 0

    @override
    def __getitem__(self, place: Any) -> Any:
        self.looks += 1
        return super().__getitem__(place)

    @override
    def __iter__(self) -> Iterator[tuple[int, Symbol]]:
        for each in super().__iter__():
            self.looks += 1
            yield each


def test_a_long_list_of_members_is_gone_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is cut into many pieces; with all members looked at for each, a file takes too long."""
    counted: list[_Counted] = []

    def own_first(part: Any) -> _Counted:
        counted.append(_Counted(_own_first(part)))
        return counted[-1]

    monkeypatch.setattr(declarations, "_own_first", own_first)
    members = "".join(f"  int member_{number};\n" for number in range(6_000))
    chunks = cut(f"struct big {{\n{members}}};\n".encode(), "c")
    names = [symbol.name for chunk in chunks for symbol in chunk.symbols]
    assert names == ["big", *(f"member_{number}" for number in range(6_000))]
    pieces = len(chunks)
    assert pieces > 50
    assert sum(each.looks for each in counted) < 3 * len(names) + 50 * pieces
