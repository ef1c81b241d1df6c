"""JavaScript that TypeScript's servers do not follow to the end: the answer says so."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

COMMONJS = "Uses in CommonJS may be missing; search the text for the name too."
CLASSES = (
    "Uses of members of functions that serve as classes may be missing; "
    "search the text for the name too."
)
REQUIRE = "const m = require('./a')\nm.list()\n"

#: The file that defines ``list``, the one that uses it, and the servers that miss the use.
MISSED = {
    "exports.list": ("exports.list = () => {}\n", REQUIRE, {"tsgo"}),
    "module.exports.list": ("module.exports.list = () => {}\n", REQUIRE, {"tsgo"}),
    "an object": ("function list() {}\nmodule.exports = { list }\n", REQUIRE, {"tsgo", "vtsls"}),
    "a prototype": (
        "function Foo() {}\nFoo.prototype.list = () => {}\n",
        "new Foo().list()\n",
        {"tsgo"},
    ),
    "a constructor": ("function Foo() {\n  this.list = 1\n}\n", "new Foo().list\n", {"tsgo"}),
    "a class": ("class Foo {\n  list() {}\n}\n", "new Foo().list()\n", set()),
    "a module": (
        "export function list() {}\n",
        "import { list } from './a.js'\nlist()\n",
        set(),
    ),
}


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("kind", list(MISSED))
async def test_it_is_said_where_uses_are_missed(tmp_path: Path, server: str, kind: str) -> None:
    text, use, missing = MISSED[kind]
    root = write_files(tmp_path / "ws", {"a.js": text, "b.js": use})
    line = next(number for number, line in enumerate(text.split("\n")) if "list" in line)
    place = {"line": line, "character": text.split("\n")[line].index("list")}
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("a.js"), position=place
        )
        is_missed = running.uri("b.js") not in {item["uri"] for item in answer["items"]}
        assert is_missed == (server in missing), answer
        said = COMMONJS in answer["summary"] or CLASSES in answer["summary"]
        assert said or not is_missed
        assert not said or kind not in ("a class", "a module")


#: Texts that only speak of it, and one that does it behind them.
QUOTED = {
    "a comment": ("// unlike exports.list or Foo.prototype.x\n", False),
    "a text": ("export const help = 'module.exports = { list }, require(name)'\n", False),
    "code behind a comment": ("// exports.list\nexports.more = 1\n", True),
}


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("kind", list(QUOTED))
async def test_nothing_is_said_of_what_is_quoted(tmp_path: Path, server: str, kind: str) -> None:
    text, is_said = QUOTED[kind]
    files = {"a.js": f"function list() {{}}\nlist()\n{text}", "b.js": "const list = 1\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        place = {"line": 0, "character": 9}
        answer = await running.call(
            "vscode.lsp.references", uri=running.uri("a.js"), position=place
        )
    said = COMMONJS in answer["summary"] or CLASSES in answer["summary"]
    assert said == is_said, answer["summary"]
