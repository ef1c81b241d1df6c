"""Scripts without an extension: their first line tells the language, and they are asked about and
counted like any other file.
"""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Unavailable
from sightline.contract.settings import Settings
from sightline.lsp.project import projects
from tests.languages.samples import only, unaccounted
from tests.support.engine import Engine, engine
from tests.support.files import write_files

NOT_READ = "in files that the server does not read"
_PYTHON = {
    "lib.py": "def area() -> int:\n    return 1\n\n\ndef other() -> int:\n    return 2\n",
    "bin/deploy": (
        "#!/usr/bin/env python3\nfrom lib import area\n\n\ndef helper() -> int:\n"
        "    return area()\n\n\nwrong: str = helper()\n"
    ),
}
_SHELL = {
    "lib.sh": "area() {\n  echo 1\n}\nother() {\n  echo 2\n}\n",
    "bin/deploy": "#!/bin/bash\n. ../lib.sh\nhelper() {\n  area\n}\nhelper\n",
}
_NODE = {
    "package.json": '{"type": "module"}\n',
    "lib.js": "export function area() { return 1; }\nexport function other() { return 2; }\n",
    "bin/deploy": (
        '#!/usr/bin/env node\nimport { area } from "../lib.js";\n'
        "function helper() { return area(); }\nhelper();\n"
    ),
}
#: Per server: files, the library, where it declares ``area``, where the script uses it, where the
#: script declares ``helper``, and the lines of the script with ``area`` and with ``helper``.
CASES: dict[str, tuple[dict[str, str], str, tuple[int, int], tuple[int, int], set[int], Any]] = {
    "ty": (_PYTHON, "lib.py", (0, 4), (5, 11), {1, 5}, (4, 4, {4, 8})),
    "pyright": (_PYTHON, "lib.py", (0, 4), (5, 11), {1, 5}, (4, 4, {4, 8})),
    "bash": (_SHELL, "lib.sh", (0, 0), (3, 2), {3}, (2, 0, {2, 5})),
    "tsgo": (_NODE, "lib.js", (0, 16), (2, 27), {1, 2}, (2, 9, {2, 3})),
    "vtsls": (_NODE, "lib.js", (0, 16), (2, 27), {1, 2}, (2, 9, {2, 3})),
}


def _place(line: int, column: int) -> dict[str, int]:
    return {"line": line, "character": column}


async def _references(
    running: Engine, file: str, line: int, column: int
) -> tuple[set[tuple[str, int]], str]:
    """The files and lines of all places, and what is said besides."""
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position=_place(line, column),
        includeDeclaration=True,
    )
    base = running.root.as_uri() + "/"
    items = answer["items"]
    found = {(i["uri"].removeprefix(base), i["range"]["start"]["line"]) for i in items}
    return found, re.sub(r"^Returned \d+ references?\. ?", "", answer["summary"])


@pytest.mark.parametrize("server", CASES)
async def test_a_script_is_asked_about(tmp_path: Path, server: str) -> None:
    files, library, declared, used, lines, (line, column, own) = CASES[server]
    root = write_files(tmp_path / "ws", files)
    settings = Settings(allow_unstable_hover=True)
    async with engine(root, cache=tmp_path, registry=only(server), settings=settings) as running:
        script = running.uri("bin/deploy")
        outline = await running.call("vscode.lsp.documentSymbols", uri=script)
        assert "helper" in {item["name"] for item in outline["symbols"]}
        there = _place(*used)
        hover = await running.call("vscode.lsp.hover", uri=script, position=there)
        assert "area" in hover["contents"][0]["value"]
        defined = await running.call("vscode.lsp.definition", uri=script, position=there)
        assert {item["uri"] for item in defined["locations"]} == {running.uri(library)}
        found, said = await _references(running, "bin/deploy", line, column)
        assert (found, said) == ({("bin/deploy", each) for each in own}, "")
        whole = {(library, declared[0])} | {("bin/deploy", each) for each in lines}
        found, said = await _references(running, "bin/deploy", *used)
        assert (found, said) == (whole, "")


@pytest.mark.parametrize("server", ["ty", "pyright", "tsgo", "vtsls"])
async def test_its_diagnostics(tmp_path: Path, server: str) -> None:
    files = dict(CASES[server][0])
    if "lib.js" in files:
        files["bin/deploy"] = (
            "#!/usr/bin/env ts-node\nconst wrong: string = 1;\nexport { wrong };\n"
        )
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        script = running.uri("bin/deploy")
        one = await running.call("vscode.lsp.diagnostics.document", uri=script)
        assert len(one["diagnostics"]) == 1
        every = await running.call("vscode.lsp.diagnostics.workspace")
        shown = [item for item in every["items"] if item["uri"] == script]
        assert [item["message"] for item in shown[0]["diagnostics"]] == [
            one["diagnostics"][0]["message"]
        ]


@pytest.mark.parametrize("server", CASES)
async def test_uses_in_scripts_are_counted(tmp_path: Path, server: str) -> None:
    """Also those that come, change and go while the server runs, as after a new start."""
    files, library, (line, column), _, lines, _ = CASES[server]
    root = write_files(tmp_path / "ws", files)
    text = files["bin/deploy"]
    whole = {(library, line)} | {("bin/deploy", each) for each in lines}
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        assert await _references(running, library, line, column) == (whole, "")
        write_files(root, {"bin/another": text, "bin/deploy": text + "\n"})
        more = whole | {("bin/another", each) for each in lines}
        assert await _references(running, library, line, column) == (more, "")
        # A text now, though what it says is the same.
        write_files(root, {"bin/another": text.removeprefix("#!")})
        assert await _references(running, library, line, column) == (whole, "")
        with pytest.raises(Unavailable):
            await running.call("vscode.lsp.documentSymbols", uri=running.uri("bin/another"))
        write_files(root, {"bin/another": text})
        assert await _references(running, library, line, column) == (more, "")
        other = text.replace("area", "other")
        write_files(root, {"bin/another": other})
        assert await _references(running, library, line, column) == (whole, "")
        (root / "bin/deploy").unlink()
        assert await _references(running, library, line, column) == ({(library, line)}, "")
        last = await _symbols(running, "helper")
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        assert await _references(running, library, line, column) == ({(library, line)}, "")
        assert await _symbols(running, "helper") == last


async def _symbols(running: Engine, query: str) -> tuple[list[str], str]:
    answer = await running.call("vscode.lsp.workspaceSymbols", query=query)
    return [item["location"]["uri"] for item in answer["items"]], answer["summary"]


@pytest.mark.parametrize("server", CASES)
async def test_symbols_of_scripts(tmp_path: Path, server: str) -> None:
    """Also where nothing else is written in the language."""
    files = {"bin/deploy": CASES[server][0]["bin/deploy"], "README": "helper\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        found, summary = await _symbols(running, "helper")
    if server == "pyright":
        said = "Returned 0 workspace symbols. Not looked for in 1 script without an extension."
        assert (found, summary) == ([], said)
    else:
        assert found == [running.uri("bin/deploy")]


async def test_what_was_asked_before_does_not_matter(tmp_path: Path) -> None:
    """A script of somebody else's in the project is not shown: it would turn up in answers."""
    tool = {"node_modules/tool/run": _PYTHON["bin/deploy"]}
    root = write_files(tmp_path / "ws", _PYTHON | tool)
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        before = await _references(running, "lib.py", 0, 4)
        with pytest.raises(Unavailable, match="no text of the project's own"):
            await running.call(
                "vscode.lsp.documentSymbols", uri=running.uri("node_modules/tool/run")
            )
        assert await _references(running, "lib.py", 0, 4) == before


@pytest.mark.parametrize("server", ["ty", "bash"])
async def test_more_than_are_shown(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, library, (line, column), _, lines, _ = CASES[server]
    text = files["bin/deploy"]
    root = write_files(tmp_path / "ws", files | {"bin/more": text})
    monkeypatch.setattr(projects, "MAX_SCRIPTS", 1)
    whole = {(library, line)} | {("bin/deploy", each) for each in lines}
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        with pytest.raises(Unavailable, match="one of too many"):
            await running.call("vscode.lsp.documentSymbols", uri=running.uri("bin/more"))
        answer = await _references(running, library, line, column)
        assert answer == (whole, unaccounted("area", len(lines), NOT_READ, "bin/more"))
        write_files(root, {"bin/before": text})
        whole = {(library, line)} | {("bin/before", each) for each in lines}
        said = unaccounted("area", 2 * len(lines), NOT_READ, "bin/deploy, bin/more")
        assert await _references(running, library, line, column) == (whole, said)


@pytest.mark.parametrize("server", ["ty", "bash"])
async def test_one_that_cannot_be_shown_for_a_while(tmp_path: Path, server: str) -> None:
    files, library, (line, column), _, lines, _ = CASES[server]
    root = write_files(tmp_path / "ws", files)
    whole = {(library, line)} | {("bin/deploy", each) for each in lines}
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        assert await _references(running, library, line, column) == (whole, "")
        for data in (b"# \xff", b"#" * (17 << 20)):
            (root / "bin/deploy").write_bytes(files["bin/deploy"].encode() + data)
            found, _ = await _references(running, library, line, column)
            assert found == {(library, line)}
            write_files(root, {"bin/deploy": files["bin/deploy"]})
            assert await _references(running, library, line, column) == (whole, "")


async def test_scripts_that_git_ignores(tmp_path: Path) -> None:
    """ty leaves out what Git ignores, also where it has it open; uses there are found."""
    files = _PYTHON | {".git/HEAD": "ref: refs/heads/main\n", ".gitignore": "/bin/made\n"}
    root = write_files(tmp_path / "ws", files | {"bin/made": files["bin/deploy"]})
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        found, said = await _references(running, "lib.py", 0, 4)
    scripts = {(f"bin/{name}", line) for name in ("deploy", "made") for line in (1, 5)}
    assert (found, said) == ({("lib.py", 0)} | scripts, "")


async def test_what_a_shell_reads_when_it_starts(tmp_path: Path) -> None:
    """A hidden file with a first line is a script like any other; one without is counted."""
    files = _SHELL | {".aliases": "#!/usr/bin/env bash\nother\n", ".bashrc": "other\n"}
    files |= {"more.zsh": "other\n", ".gitignore": "other\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("bash")) as running:
        found, said = await _references(running, "lib.sh", 3, 0)
    assert found == {("lib.sh", 3), (".aliases", 1)}
    assert said == unaccounted("other", 2, NOT_READ, ".bashrc, more.zsh")


async def test_a_script_that_requires(tmp_path: Path) -> None:
    """No server reports what a destructured ``require`` gives."""
    files = _NODE | {
        "bin/deploy": '#!/usr/bin/node\nconst { area } = require("../lib.js");\narea();\n'
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("tsgo")) as running:
        found, said = await _references(running, "lib.js", 0, 16)
    assert (found, said) == ({("lib.js", 0), ("bin/deploy", 1), ("bin/deploy", 2)}, "")


async def test_members_on_values_of_unknown_type(tmp_path: Path) -> None:
    files = {
        "box.py": "class Box:\n    def shut(self) -> int:\n        return 1\n",
        "bin/deploy": "#!/usr/bin/python3\ndef run(box):\n    return box.shut()\n",
    }
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        found, said = await _references(running, "box.py", 1, 8)
    assert found == {("box.py", 1)}
    assert said == unaccounted("shut", 1, "where the type is unknown", "bin/deploy")


async def test_another_symbol_of_the_name_in_a_script(tmp_path: Path) -> None:
    files = _PYTHON | {"bin/deploy": "#!/usr/bin/python3\ndef area(): ...\narea()\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        assert await _references(running, "lib.py", 0, 4) == ({("lib.py", 0)}, "")


async def test_what_is_no_script_costs_nothing(tmp_path: Path) -> None:
    """Pipes, links out of the root, folders, and files that are huge, closed or not text."""
    root = write_files(tmp_path / "ws", _PYTHON)
    write_files(tmp_path, {"outside": "#!/usr/bin/python3\nfrom lib import area\narea()\n"})
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to("loop")
    (root / "huge").write_bytes(b"#!/usr/bin/python3\n" + b"#" * (20 << 20))
    (root / "bytes").write_bytes(b"#!/usr/bin/python3\n# \xff\nfrom lib import area\n")
    (root / "line").write_bytes(b"#!" + b"/a" * (1 << 20))
    async with engine(root, cache=tmp_path, registry=only("ty")) as running:
        found, said = await _references(running, "lib.py", 0, 4)
        assert found == {("lib.py", 0), ("bin/deploy", 1), ("bin/deploy", 5)}
        assert said == unaccounted("area", 1, NOT_READ, "bytes")
        with pytest.raises(Unavailable, match="no language server is known"):
            await running.call("vscode.lsp.documentSymbols", uri=running.uri("line"))
