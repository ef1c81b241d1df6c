"""Uses of members on values of unknown type: an answer that lacks them says how many and where."""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

PYTHON = {
    "box.py": "class Box:\n    def discard(self, item): ...\n    lid = 1\n\ndef fold(): ...\n",
    "use.py": "from box import Box\nBox().discard(1)\n",
    "known.py": "items: set[int] = set()\nitems.discard(1)\n",
}
UNKNOWN = """import box
def work(one, two: box.Box, items: set[int]):
    one.discard(1)
    two.discard(2)
    items.discard(3)
    # one.discard(4)
    "one.discard(5)" + '''
    one.discard(6) ''' + "it's" + "one.discard(7)"
    f"{one.discard(8)}"
    one.discards, one.discardé, one.fold, one.lid
    😀 = one; 😀.discard(9)
""".replace("😀", "é")
JAVASCRIPT = {
    "jsconfig.json": "{}",
    "box.js": "export class Box {\n  discard(item) {}\n}\nexport function fold() {}\n",
    "use.js": 'import { Box } from "./box.js";\nnew Box().discard(1);\n',
    "unknown.js": """export function work(one) {
  one.discard(1); one?.discard(2);
  // one.discard(3)
  /* one.discard(4) */ "one.discard(5)"; 'don"t' + "one.discard(6)";
  `${one.discard(7)} don't`; one.discards(); one.fold();
  new Set().discard; one.discard$;
}
""",
}


async def summary(running: Engine, file: str, line: int, character: int, **more: Any) -> str:
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position={"line": line, "character": character},
        **more,
    )
    return str(answer["summary"])


def said(count: str, where: str) -> str:
    return f"discard stands on values of unknown type in {count} ({where}); {NOT_COUNTED}"


NOT_COUNTED = "uses there are not counted."


async def test_ty_is_asked_what_each_place_is(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", PYTHON)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await summary(running, "box.py", 1, 8) == "Returned 1 reference."
        (root / "unknown.py").write_text(UNKNOWN)
        expected = f"Returned 2 references. {said('3 places', 'unknown.py')}"
        for place in (("box.py", 1, 8), ("use.py", 1, 6), ("unknown.py", 3, 8)):
            assert await summary(running, *place) == expected, place
        with_declaration = await summary(running, "box.py", 1, 8, includeDeclaration=True)
        assert with_declaration == f"Returned 3 references. {said('3 places', 'unknown.py')}"
        (root / "unknown.py").write_text(UNKNOWN.replace("one", "two"))
        assert await summary(running, "box.py", 1, 8) == "Returned 5 references."


async def test_a_function_of_a_module_is_no_member(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", PYTHON | {"unknown.py": UNKNOWN})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await summary(running, "box.py", 4, 4) == "Returned 0 references."
        lid = await summary(running, "box.py", 2, 4)
        assert lid == f"Returned 0 references. {said('1 place', 'unknown.py')}".replace(
            "discard", "lid"
        )


async def test_pyright_is_not_asked(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", PYTHON | {"unknown.py": UNKNOWN})
    async with engine(root, cache=tmp_path / "cache", registry=only("pyright")) as running:
        assert await summary(running, "box.py", 1, 8) == (
            "Returned 2 references. discard stands after a dot in 5 other places "
            "(known.py, unknown.py); uses on values of unknown type are not counted."
        )


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_javascript(tmp_path: Path, server: str) -> None:
    root = write_files(tmp_path / "ws", JAVASCRIPT)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await summary(running, "box.js", 1, 2)
        other = "discard stands after a dot in 4 other places (unknown.js); "
        assert answer == "Returned 1 reference. " + (
            said("4 places", "unknown.js")
            if server == "tsgo"
            else f"{other}uses on values of unknown type are not counted."
        )
        assert await summary(running, "box.js", 3, 17) == "Returned 0 references."


async def test_many_places_are_counted_and_not_asked_about(tmp_path: Path) -> None:
    many = "def work(one):\n" + "    one.discard(1)\n" * 60
    root = write_files(tmp_path / "ws", PYTHON | {"many.py": many})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await summary(running, "box.py", 1, 8) == (
            "Returned 1 reference. discard stands after a dot in 61 other places "
            "(known.py, many.py); uses on values of unknown type are not counted."
        )
        (root / "many.py").write_text(many * 10)
        assert await summary(running, "box.py", 1, 8) == (
            "Returned 1 reference. discard stands after a dot in more than 500 other places; "
            "uses on values of unknown type are not counted."
        )


async def test_the_name_of_a_module_is_no_member(tmp_path: Path) -> None:
    imports = "from lost.discard import a\nimport b, lost.discard as c\nfrom .discard import d\n"
    root = write_files(tmp_path / "ws", PYTHON | {"unknown.py": imports})
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await summary(running, "box.py", 1, 8) == "Returned 1 reference."
        write_files(root, {"unknown.py": f"{imports}import lost; lost.discard(1)\n"})
        expected = f"Returned 1 reference. {said('1 place', 'unknown.py')}"
        assert await summary(running, "box.py", 1, 8) == expected


@pytest.mark.parametrize(
    ("names", "where"),
    [
        (["(shop)/[[...slug]]/@side/$id.js"], " ((shop)/[[...slug]]/@side/$id.js)"),
        (["say yes.js"], ""),
        (["say yes.js", "a.js"], " (a.js, 1 more)"),
    ],
)
async def test_files_are_named_if_their_names_are_no_sentences(
    tmp_path: Path, names: list[str], where: str
) -> None:
    use = "export const work = (one) => one.discard(1)\n"
    files = dict.fromkeys(names, use)
    root = write_files(tmp_path / "ws", JAVASCRIPT | {"unknown.js": ""} | files)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        answer = await summary(running, "box.js", 1, 2)
    count = "1 place" if len(names) == 1 else f"{len(names)} places"
    assert answer == "Returned 1 reference. " + said(count, "").replace(" ()", where)


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_a_name_of_javascript_may_have_a_dollar(tmp_path: Path, server: str) -> None:
    files = {
        "jsconfig.json": "{}",
        "box.js": "export class Box {\n  $lid() {}\n  lid$() {}\n  $() {}\n}\n",
        "unknown.js": "export const work = (one) => [one.$lid(), one.lid$(), one.$, one.lid]\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        for line, name in enumerate(["$lid", "lid$", "$"], 1):
            answer = await summary(running, "box.js", line, 2)
            assert answer.startswith(f"Returned 0 references. {name} stands "), answer
            assert " in 1 " in answer, answer


#: Members that no line begins with, and where each is declared.
ATTRIBUTES = {
    "lid": "class Box:\n    def __init__(self):\n        self.lid = 1\n",
    "rim": "class Box:\n    def __init__(self):\n        self.lid, self.rim = 1, 2\n",
    "pin": "class Box:\n    def __init__(self):\n        with x as self.pin:\n            ...\n",
}


@pytest.mark.parametrize("name", ATTRIBUTES)
async def test_an_attribute_that_a_method_gives(tmp_path: Path, name: str) -> None:
    """ty says that it is defined where ``self`` stands."""
    box = ATTRIBUTES[name]
    lines = box.split("\n")
    line = next(number for number, text in enumerate(lines) if f"self.{name}" in text)
    files = {"box.py": box, "any.py": f"def work(one):\n    return one.{name}\n"}
    async with engine(write_files(tmp_path / "ws", files), cache=tmp_path) as running:
        told = await summary(running, "box.py", line, lines[line].index(f".{name}") + 1)
    assert f"{name} stands on values of unknown type in 1 place (any.py)" in told


@pytest.mark.parametrize("name", ["lid", "rim", "pin", "cap"])
async def test_a_property_behind_others(tmp_path: Path, name: str) -> None:
    box = "export const box = { lid: 1, rim: { pin: [2, 3], 'cap': 4 }, size: (5, 6) }\n"
    use = f"export function work(one) {{\n  return one.{name}\n}}\n"
    files = {"jsconfig.json": "{}", "box.js": box, "any.js": use}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("tsgo")) as running:
        told = await summary(running, "box.js", 0, box.index(name))
    assert f"{name} stands on values of unknown type in 1 place (any.js)" in told


async def test_what_a_value_makes_up_is_unknown(tmp_path: Path) -> None:
    relay = (
        "class Hook:\n    def __call__(self) -> None: ...\n\n\nclass Relay:\n"
        "    kept: Hook\n\n    def __getattr__(self, name: str) -> Hook: ...\n"
    )
    use = "from relay import Relay\n\nRelay().discard()\nRelay().kept()\n"
    plugin = "class Plugin:\n    def kept(self) -> None: ...\n"
    files = PYTHON | {"relay.py": relay, "unknown.py": use, "plugin.py": plugin}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        answer = await summary(running, "box.py", 1, 8)
        assert answer == f"Returned 1 reference. {said('1 place', 'unknown.py')}"
        assert await summary(running, "plugin.py", 1, 8) == "Returned 0 references."
