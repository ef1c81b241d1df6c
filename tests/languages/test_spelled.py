"""What stands in the way of finding uses is said where a use can be missing, and nowhere else."""

from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

PYTHON = {"pyproject.toml": '[project]\nname = "app"\ndependencies = ["dep"]\n'}
NODE = {"package.json": '{"name": "app", "dependencies": {"dep": "1"}}', "tsconfig.json": "{}"}
NOTE = " Packages not installed: dep; what needs them may be missing."


async def asked(running: Engine, name: str, word: str, *, declaration: bool = False) -> str:
    """What is said of the references of a word, where it first stands in a file."""
    before, _, _ = (running.root / name).read_text().partition(word)
    place = {"line": before.count("\n"), "character": len(before.rpartition("\n")[2])}
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri(name),
        position=place,
        includeDeclaration=declaration,
    )
    summary: str = answer["summary"]
    return summary.partition(".")[2]


@pytest.mark.parametrize("declaration", [False, True])
@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_python(tmp_path: Path, server: str, declaration: bool) -> None:
    files = {
        **PYTHON,
        "a.py": "def area() -> int:\n    return 1\n\n\ndef __getattr__(name): ...\n",
        "b.py": "from a import area\n\nprint(area())\n",
        "c.py": '"""About area."""\n',
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:

        async def said(word: str = "area") -> str:
            return await asked(running, "a.py", word, declaration=declaration)

        assert await said() == ""
        write_files(root, {"c.py": "from dep import make\n\nmake().area()\n"})
        assert await said() == NOTE
        write_files(root, {"c.py": "from dep import area\n"})
        assert await said() == NOTE
        write_files(root, {"c.py": "x = 1  # area\n"})
        assert await said() == ""
        # Python calls it by itself.
        assert NOTE in await said("__getattr__")


async def test_the_server_knows_that_it_is_something_else(tmp_path: Path) -> None:
    files = {
        **PYTHON,
        "a.py": "def area(): ...\n\n\nclass Box:\n    def open(self) -> None: ...\n",
        "b.py": "def area() -> int:\n    return 2\n\n\narea()\n",
        "c.py": "class Tin:\n    def open(self) -> None: ...\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await asked(running, "a.py", "area") == ""
        write_files(
            root, {"b.py": "try:\n    from dep import area\nexcept ImportError:\n    area = 1\n"}
        )
        assert await asked(running, "a.py", "area") == NOTE
        # Who derives from a class that is not known may have the method of another one.
        assert await asked(running, "a.py", "open") == NOTE


async def test_what_belongs_to_a_function_is_used_in_it(tmp_path: Path) -> None:
    text = '''\
def outer(
    first: int,
) -> None:
    """Text.

class Nobody:
    """

    def area() -> int:
        return first

    area()


class Box:
    def area(self) -> int:
        return 1
'''
    files = {**PYTHON, "a.py": text, "b.py": "from dep import make\n\nmake().area()\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await asked(running, "a.py", "area() -> int") == ""
        unknown = (
            " area stands on values of unknown type in 1 place (b.py); uses there are not counted."
        )
        assert await asked(running, "a.py", "area(self)") == NOTE + unknown
        # It is named where the function is called.
        write_files(root, {"b.py": "from dep import outer\n\nouter(first=1)\n"})
        given = (
            " first is an argument of unknown meaning in 1 place (b.py); it is not counted there."
        )
        assert await asked(running, "a.py", "first") == NOTE + given


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_typescript(tmp_path: Path, server: str) -> None:
    files = {
        **NODE,
        "a.ts": "export function area() { return 1 }\nexport default function size() {}\n",
        "b.ts": 'import { area } from "./a"\n\n/**\n * About area.\n */\narea()\n',
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        assert await asked(running, "a.ts", "area") == ""
        # Others may call it something else.
        assert await asked(running, "a.ts", "size") == NOTE
        write_files(root, {"c.ts": 'import { make } from "dep"\n\nconst { area } = make()\n'})
        assert await asked(running, "a.ts", "area") == NOTE
        write_files(root, {"c.ts": 'import { make } from "dep"\n\nmake()["area"]()\n'})
        assert await asked(running, "a.ts", "area") == NOTE


@pytest.mark.parametrize(
    ("text", "name", "lacking"),
    [
        ("const one = 1\nswitch (+one) { case 1: break\ndefault:\none }\n", "one", False),
        ("type Menu = 1\nexport default function (all: Menu[]) {}\n", "Menu", False),
        ("type Menu = 1\nexport default class Shown {\n  all?: Menu\n}\n", "Menu", False),
        ("/** By default. */\nexport const one = 1\n", "one", False),
        ("const one = 1\nexport default one\n", "one", True),
        ("const one = 1\nexport default [\n  one\n]\n", "one", True),
        ("const one = 1\nexport { one as default }\n", "one", True),
        ("const one = 1\nexport = one\n", "one", True),
        ("export default class {}\n", "class", True),
        ("export default abstract class Shown {}\n", "Shown", True),
    ],
)
async def test_what_is_exported_without_its_name(
    tmp_path: Path, text: str, name: str, lacking: bool
) -> None:
    root = write_files(tmp_path / "ws", {**NODE, "a.ts": text})
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        said = await asked(running, "a.ts", name)
    assert said == (NOTE if lacking else "")


async def test_a_language_is_named_if_the_name_stands_in_it(tmp_path: Path) -> None:
    files = {
        "tsconfig.json": "{}",
        "a.ts": "export class UserCard {}\nexport const one = 1\n"
        "const two = 2\nexport default two\n",
        "a.vue": "<template><b>one day</b></template>\n",
        "b.mdx": "# Text\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        assert await asked(running, "a.ts", "one") == " Not looked for in Vue."
        assert await asked(running, "a.ts", "two") == " Not looked for in MDX, Vue."
        assert await asked(running, "a.ts", "UserCard") == ""
        write_files(root, {"a.vue": "<template><user-card /></template>\n"})
        assert await asked(running, "a.ts", "UserCard") == " Not looked for in Vue."
        assert await asked(running, "a.ts", "one") == ""
        write_files(root, {"c.svelte": "<UserCard />\n"})
        assert await asked(running, "a.ts", "UserCard") == " Not looked for in Svelte, Vue."


async def test_a_file_that_is_too_large_to_look_through_may_have_it(tmp_path: Path) -> None:
    files = {"a.py": "def area() -> int:\n    return 1\n", "a.ipynb": "{}" + " " * (4 << 20)}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("ty")) as running:
        assert await asked(running, "a.py", "area") == " Not looked for in Jupyter notebooks."
        write_files(root, {"a.ipynb": "{}"})
        assert await asked(running, "a.py", "area") == ""
