"""The import statements of a Python source, and what each place in them names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.unaccounted.engine import RULES
from sightline.lsp.unaccounted.python_imports import (
    chain_before,
    import_at,
    imported,
    imports,
    is_module,
    name_from,
)
from sightline.lsp.unaccounted.python_stand_ins import (
    by_module,
    in_chain,
    is_before_binding,
    is_type_comment,
)

PATH = "/w/shop/a.py"


def read(text: str) -> list[tuple[str, list[tuple[str, str]]]]:
    """The modules of a text, each with the names and aliases that it is asked for."""
    return [
        (
            (each["module"] or b"").decode(),
            [(one["name"].decode(), (one["alias"] or b"").decode()) for one in imported(each)],
        )
        for each in imports(text.encode())
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import a.b as c, d", [("", [("a.b", "c"), ("d", "")])]),
        ("from a import b as c, d", [("a", [("b", "c"), ("d", "")])]),
        ("from .a import (  # c, d\n    e,\n    f as g,\n)", [(".a", [("e", ""), ("f", "g")])]),
        ("from . import a", [(".", [("a", "")])]),
        ("from .import a", [(".", [("a", "")])]),
        ("from ..a.b import c", [("..a.b", [("c", "")])]),
        ("from a \\\n    import b", [("a", [("b", "")])]),
        ("from \\\n a \\\n import \\\n (b)", [("a", [("b", "")])]),
        ("import sys; from a import b", [("", [("sys", "")]), ("a", [("b", "")])]),
        ("try: from a import b\nexcept: import c", [("a", [("b", "")]), ("", [("c", "")])]),
        ("from módulo import ñame as é", [("módulo", [("ñame", "é")])]),
        ("from a import *", [("a", [])]),
        ("important; reimport a; x.import_module(b)", []),
    ],
)
def test_statements_are_read_however_they_are_written(
    text: str, found: list[tuple[str, list[tuple[str, str]]]]
) -> None:
    assert read(text) == found


def origin(text: str, mark: str, path: str = PATH) -> bytes | None:
    return RULES["python"].origin(text.encode(), path, text.encode().index(mark.encode()))


#: The same name of the same module, in files of one folder.
@pytest.mark.parametrize(
    "text",
    [
        "from a.b import NAME",
        "from a.b import x, NAME",
        "from a.b import (x,  # NAMES\n    NAME)",
        "from a.b import x; from a.b import NAME",
        "from a.b \\\n    import NAME",
        "import a.b.NAME",
        "import x, a.b.NAME as c",
        "from a.b.NAME import c",
        "from a.b.NAME.c import d",
    ],
)
def test_equal_imports_have_one_origin(text: str) -> None:
    assert origin(text.replace("NAMES", "others"), "NAME") == b"a.b.NAME"


def test_an_alias_has_the_origin_of_what_it_names() -> None:
    assert origin("from a import b as NAME", "NAME") == b"a.b"
    assert origin("import a.b as NAME", "NAME") == b"a.b"


def test_a_relative_import_is_told_by_its_folder() -> None:
    here, below = origin("from .m import NAME", "NAME"), "/w/shop/deep/b.py"
    assert here == origin("from ..m import NAME", "NAME", below)
    assert here != origin("from .m import NAME", "NAME", below)


def test_comments_import_nothing() -> None:
    text = "from a import (\n    b,  # NAME\n)"
    assert origin(text, "NAME") is None


NAMES = st.from_regex(r"[a-zé]{1,3}", fullmatch=True).filter(
    lambda name: name not in ("as", "from", "import")
)
MODULES = st.lists(NAMES, min_size=1, max_size=3).map(".".join)
BLANKS = st.sampled_from([" ", "  ", "\t", " \\\n "])


@given(MODULES, NAMES, NAMES, BLANKS, BLANKS, BLANKS, st.booleans())
def test_any_import_tells_its_origin(
    module: str, name: str, other: str, first: str, second: str, third: str, braced: bool
) -> None:
    names = f"({other},{third}# {name}\n{name})" if braced else f"{other}, {name}"
    if braced and "\\" in third:
        names = names.replace("\\\n", "")
    text = f"x = 1; from{first}{module}{second}import{third}{names}"
    expected = f"{module}.{name}".encode()
    place = text.rindex(name) if not braced else text.index(name, text.index("\n", text.index("#")))
    assert RULES["python"].origin(text.encode(), PATH, len(text[:place].encode())) == expected


PARTS = ["import ", "from ", " as ", "a", "b.c", ".", ",", "(", ")", "\\\n", "\n", " ", "#", ";"]
PARTS += ["class A:\n    ", "a: a = a", "# type: a", '"', "é", ":", "=", "[", "x = []  "]
TEXTS = st.binary(max_size=60) | st.lists(st.sampled_from(PARTS), max_size=30).map(
    lambda parts: "".join(parts).encode()
)


@given(text=TEXTS, offset=st.integers(0, 80))
def test_any_text_can_be_read(text: bytes, offset: int) -> None:
    stated = import_at(text, offset)
    assert stated is None or stated.start() <= offset < stated.end()
    assert is_module(text, offset) <= (stated is not None)
    assert name_from(text, offset) in text
    chain = chain_before(text, offset)
    assert chain is None or re.sub(rb"[ \t]", b"", text[:offset]).endswith(chain)
    is_type_comment(text, offset), is_before_binding(text, "a", offset)
    RULES["python"].origin(text, PATH, offset)
    for other in (in_chain(text, "a", offset), by_module(text, "a", offset)):
        assert other is None or text[other : other + 1] == b"a"
