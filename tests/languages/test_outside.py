"""What lies outside the roots does not get into an answer by what a project says."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Failure
from sightline.lsp.start import launcher
from sightline.process import landlock
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

pytestmark = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")

SECRET = "tr0ub4dor"
#: What would show it: the server, where it lies, the file that has it, and the project.
C = f'#define TEXT "{SECRET}"\n'
PYTHON = f'from typing import Literal\nTEXT: Literal["{SECRET}"] = "{SECRET}"\n'
TOLD = f'def told(a: int) -> "{SECRET}":\n    """{SECRET}"""\n'
SAID = f"/** {SECRET} */\nexport function said(a: {{ {SECRET}: 1 }}): void {{}}\n"
SCRIPT = f'export const text = "{SECRET}" as const\n'
SCHEMA = json.dumps({"description": SECRET, "properties": {"a": {"enum": [SECRET]}}})
WAYS: dict[str, tuple[str, str, str, dict[str, str]]] = {
    "a header": ("clangd", "x.h", C, {"a.c": '#include "{outside}/x.h"\nchar t[] = TEXT;\n'}),
    "bytes": (
        "clangd",
        "x.h",
        f"{SECRET}",
        {
            "compile_flags.txt": "-std=c++2c\n",
            "a.cpp": "struct M { const char* d; constexpr const char* data() const { return d; }"
            " constexpr unsigned long size() const { return 9; } };\n"
            'constexpr char t[] = {\n#embed "{outside}/x.h"\n, 0};\n'
            "static_assert(false, M{t});\n",
        },
    ),
    "a schema of json": (
        *("json", "x.json", SCHEMA),
        {"a.json": '{"$schema": "file://{outside}/x.json", "a": "b"}\n'},
    ),
    "a schema of yaml": (
        *("yaml", "x.json", SCHEMA),
        {"a.yaml": "# yaml-language-server: $schema=file://{outside}/x.json\na: b\n"},
    ),
    "a module of Python": (
        *("ty", "x.py", PYTHON),
        {
            "pyproject.toml": '[tool.ty.environment]\nextra-paths = ["{outside}"]\n',
            "a.py": "from x import TEXT\nreveal_type(TEXT)\nprint(TEXT)\n",
        },
    ),
    "a link to Python": (
        *("ty", "x.py", PYTHON),
        {"link.py": "-> {outside}/x.py", "a.py": "from link import TEXT\nreveal_type(TEXT)\n"},
    ),
    "a docstring": (
        *("ty", "x.py", TOLD),
        {
            "pyproject.toml": '[tool.ty.environment]\nextra-paths = ["{outside}"]\n',
            "a.py": "from x import told\ntold\n",
        },
    ),
    "a docstring behind a linked folder": (
        *("ty", "x.py", TOLD),
        {"pkg": "-> {outside}", "a.py": "from pkg.x import told\ntold\n"},
    ),
    "a comment of TypeScript": (
        *("tsgo", "x.ts", SAID),
        {"a.ts": 'import { said } from "{outside}/x"\nsaid\n'},
    ),
    "a comment behind a linked folder": (
        *("tsgo", "x.ts", SAID),
        {"pkg": "-> {outside}", "a.ts": 'import { said } from "./pkg/x"\nsaid\n'},
    ),
    "a module for pyright": (
        *("pyright", "x.py", PYTHON),
        {
            "pyrightconfig.json": '{"extraPaths": ["{outside}"]}',
            "a.py": "from x import TEXT\nreveal_type(TEXT)\nprint(TEXT)\n",
        },
    ),
    "a module of TypeScript": (
        *("tsgo", "x.ts", SCRIPT),
        {"a.ts": 'import { text } from "{outside}/x"\nexport const b: 1 = text\n'},
    ),
    "a module for vtsls": (
        *("vtsls", "x.ts", SCRIPT),
        {"a.ts": 'import { text } from "{outside}/x"\nexport const b: 1 = text\n'},
    ),
}
EVERY = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS.keys())
#: Servers of these read code wherever it may lie; what a home folder hides is none.
READ_CODE = ("ty", "pyright", "tsgo", "vtsls", "bash")


async def answers(way: tuple[str, str, str, dict[str, str]], folder: Path, outside: Path) -> str:
    """Everything that is said about the files of the project."""
    server, name, text, files = way
    write_files(outside, {name: text})
    root, home, cache = folder / "ws", folder / "home", folder / "cache"
    for each in (root, home, cache):
        each.mkdir(parents=True, exist_ok=True)
    for file, said in files.items():
        filled = said.replace("{outside}", str(outside))
        if filled.startswith("-> "):
            (root / file).symlink_to(filled.removeprefix("-> "))
        else:
            write_files(root, {file: filled})
    own = {"PATH": os.environ["PATH"], "HOME": str(home)}
    async with engine(root, cache=cache, registry=only(server), environment=own) as running:
        found = [answer async for answer in _asked(running, sorted(files))]
    assert found
    return json.dumps(found)


async def _asked(running: Engine, files: list[str]) -> Any:
    for file in files:
        uri = running.uri(file)
        for line in range(6):
            for character in (0, 9, 21):
                place = {"line": line, "character": character}
                for tool in ("hover", "definition"):
                    for answer in await _one(running, tool, uri=uri, position=place):
                        yield answer
        for answer in await _one(running, "diagnostics.document", uri=uri):
            yield answer


async def _one(running: Engine, tool: str, **arguments: Any) -> list[Any]:
    try:
        return [await running.call(f"vscode.lsp.{tool}", **arguments)]
    except Failure:
        return []


@EVERY
async def test_nothing_that_a_home_folder_hides(
    way: tuple[str, str, str, dict[str, str]], tmp_path: Path
) -> None:
    said = await answers(way, tmp_path, tmp_path / "home/.secrets")
    assert SECRET not in said


@pytest.mark.parametrize(
    "way", [way for way in WAYS.values() if way[0] not in READ_CODE], ids=lambda way: way[0]
)
async def test_nothing_at_all(way: tuple[str, str, str, dict[str, str]], tmp_path: Path) -> None:
    said = await answers(way, tmp_path, tmp_path / "outside")
    assert SECRET not in said


ASKED = {
    "json": ("a{}.json", '{{"$schema": "file://{}"}}\n'),
    "yaml": ("a{}.yaml", "# yaml-language-server: $schema=file://{}\na: b\n"),
}


@pytest.mark.parametrize("server", ASKED)
async def test_what_is_there_is_not_told_from_what_is_not(server: str, tmp_path: Path) -> None:
    """Neither a file that is closed nor a folder, and what is a pipe keeps nobody waiting."""
    name, text = ASKED[server]
    outside = write_files(tmp_path / "outside", {"there/x": "{}", "gone/y": "{}"})
    places = [f"{outside}/{way}" for way in ("there/x", "gone/x", "there/x/x")]
    os.mkfifo(outside / "x")
    os.makedirs(outside / "folder/x")
    places += [f"{outside}/x", f"{outside}/folder/x", "/dev/stdin", "/etc/shadow", "/usr/bin"]
    files = {name.format(number): text.format(place) for number, place in enumerate(places)}
    root = write_files(tmp_path / "ws", files)
    (tmp_path / "cache").mkdir()
    said: set[str] = set()
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        for file, place in zip(files, places, strict=True):
            found = await running.call("vscode.lsp.diagnostics.document", uri=running.uri(file))
            (item,) = found["diagnostics"]
            said.add(item["message"].replace(f"'{os.path.basename(place)}'", "'x'"))
    assert len(said) == 1


async def test_of_a_header_only_whether_it_is_there(tmp_path: Path) -> None:
    """What docs/SECURITY.md says that clangd tells, and not a word more."""
    outside = write_files(tmp_path / "outside", {"there/x": C, "folder/x/y": C})
    ways = ("there/x", "gone/x", "there/x/x", "folder/x")
    places = [f"{outside}/{way}" for way in ways] + ["../outside/there/x", "../outside/gone/x"]
    files = {f"a{number}.c": f'#include "{place}"\n' for number, place in enumerate(places)}
    files |= {
        f"b{number}.c": f'#if __has_include("{place}")\nint x = TEXT;\n#endif\n'
        for number, place in enumerate(places)
    }
    root = write_files(tmp_path / "ws", files)
    (tmp_path / "cache").mkdir()
    said: set[str] = set()
    async with engine(root, cache=tmp_path / "cache", registry=only("clangd")) as running:
        for file in files:
            found = await running.call("vscode.lsp.diagnostics.document", uri=running.uri(file))
            messages = (item["message"] for item in found["diagnostics"])
            said.update(message.replace("../outside/gone/", "") for message in messages)
    assert said == {"Cannot open file 'x': Permission denied", "'x' file not found"}


@EVERY
async def test_the_ways_work(
    way: tuple[str, str, str, dict[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A check that cannot fail proves nothing: without walls all of them lead out."""
    monkeypatch.setattr("sightline.process.allowed.Allowed.rules", lambda self: [])
    (tmp_path / "empty.cjs").write_text("")
    monkeypatch.setattr(launcher, "_GUARD", str(tmp_path / "empty.cjs"))
    assert SECRET in await answers(way, tmp_path, tmp_path / "outside")
