"""Files that a server cannot read, or cannot be told of, harm nobody else and are said."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from sightline.workspace.roots import BadRoot, open_root
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.files import write_files
from tests.support.program import command, environment, run

#: Per server: the ending of its files, what defines a name and where, and what uses it. A letter
#: that is no ASCII stands before a use.
_PYTHON = (
    ".py",
    "def helper() -> int:\n    return 1\n",
    4,
    "# coding: latin-1\nfrom lib import helper\nprint('é', helper())\n",
)
_TYPESCRIPT = (
    ".ts",
    "export function helper() { return 1 }\n",
    16,
    "import { helper } from './lib'\nconsole.log('é', helper())\n",
)
CASES = {
    "ty": _PYTHON,
    "pyright": _PYTHON,
    "tsgo": _TYPESCRIPT,
    "vtsls": _TYPESCRIPT,
    "clangd": (
        ".c",
        "int helper(void) { return 1; }\n",
        4,
        '#include "lib.h"\nint main(void) { return *"é" + helper(); }\n',
    ),
    "bash": (".sh", "helper() {\n  echo\n}\n", 0, ". ./lib.sh\necho 'é'; helper\n"),
}


def project(root: Path, server: str) -> Path:
    ending, lib, _, use = CASES[server]
    files = {f"lib{ending}": lib, f"use{ending}": use}
    return write_files(root, files | ({"lib.h": "int helper(void);\n"} if ending == ".c" else {}))


def odd(root: Path, name: bytes) -> bytes:
    """The path of a file whose name may be any bytes."""
    return os.fsencode(root) + b"/" + name


async def references(running: Engine, server: str) -> tuple[set[str], str]:
    """The files that the name is found in, and the summary."""
    ending, _, column, _ = CASES[server]
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri(f"lib{ending}"),
        position={"line": 0, "character": column},
    )
    names = {item["uri"].rpartition("/")[2].removesuffix(ending) for item in answer["items"]}
    return names - {"lib", "lib.h"}, answer["summary"]


@pytest.mark.parametrize("server", CASES)
async def test_a_file_that_is_not_utf8_is_named(tmp_path: Path, server: str) -> None:
    root = project(tmp_path / "ws", server)
    ending, _, _, use = CASES[server]
    # The first of all, which some servers must be shown before they read anything.
    first = root / f"a{ending}"
    first.write_bytes(use.encode("latin-1"))
    said = f"1 file is not UTF-8 (a{ending}); places in it may be wrong or missing."
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        found, summary = await references(running, server)
        assert "use" in found and said in summary
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="helper")
        assert said in symbols["summary"]
        first.write_text(use)
        found, summary = await references(running, server)
        assert {"a", "use"} <= found and "UTF-8" not in summary
        first.write_bytes(use.encode("latin-1"))
        assert said in (await references(running, server))[1]


@pytest.mark.parametrize("server", CASES)
async def test_a_name_that_is_not_utf8_harms_nobody(tmp_path: Path, server: str) -> None:
    root = project(tmp_path / "ws", server)
    ending, _, _, use = CASES[server]
    there = odd(root, b"a\xff" + ending.encode())
    Path(os.fsdecode(there)).write_text(use)
    said = f"1 file could not be read (a\\xff{ending}); what it holds may be missing."
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        found, summary = await references(running, server)
        assert "use" in found and said in summary
        uri = f"{root.as_uri()}/a%FF{ending}"
        with pytest.raises(Unavailable, match="is not UTF-8; rename it"):
            await running.call("vscode.lsp.documentSymbols", uri=uri)
        before = [row.pid for row in running.program.pool.status()]
        Path(os.fsdecode(odd(root, b"b\xfe" + ending.encode()))).write_text(use)
        found, summary = await references(running, server)
        assert "use" in found and f"2 files could not be read (a\\xff{ending}, b\\xfe" in summary
        assert [row.pid for row in running.program.pool.status()] == before, "nobody had to end"
        os.rename(there, root / f"a{ending}")
        assert {"a", "use"} <= (await references(running, server))[0]


async def test_a_folder_with_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    root = project(tmp_path / "ws", "ty")
    folder = odd(root, b"sub\xff")
    os.mkdir(folder)
    Path(os.fsdecode(folder), "use.py").write_text(CASES["ty"][3])
    async with engine(root, cache=tmp_path) as running:
        _, summary = await references(running, "ty")
        assert "1 file could not be read (sub\\xff/use.py)" in summary


async def test_a_question_asked_ahead_about_such_a_name(tmp_path: Path) -> None:
    root = project(tmp_path / "ws", "ty")
    Path(os.fsdecode(odd(root, b"a\xff.py"))).write_text(CASES["ty"][3])
    async with engine(root, cache=tmp_path) as running:
        running.program.pool.go_ahead()
        uri, position = f"{root.as_uri()}/a%FF.py", {"line": 1, "character": 17}
        with pytest.raises(Unavailable, match="is not UTF-8"):
            await running.call("vscode.lsp.references", uri=uri, position=position)
        assert "use" in (await references(running, "ty"))[0]


def test_a_root_with_such_a_name_is_refused(home: Path, tmp_path: Path) -> None:
    root = os.fsdecode(odd(tmp_path, b"ws\xff"))
    os.mkdir(root)
    with pytest.raises(BadRoot, match=r"ws\\xff cannot be a root: its path is not UTF-8"):
        open_root(root, home=None)
    link = os.fsdecode(odd(tmp_path, b"link\xff"))
    os.symlink(home, link)
    with pytest.raises(BadRoot, match=r"link\\xff cannot be a root: its path is not UTF-8"):
        open_root(link, home=None)
    done = run(home, "doctor", root)
    assert "its path is not UTF-8; rename the folder" in done.stdout
    assert "Traceback" not in done.stderr


def without_override(*arguments: str | Path) -> list[str]:
    """A command that permissions hold for, though root may run it."""
    limited = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search"]
    return [*(limited if os.getuid() == 0 else []), *command(*arguments)]


def asked(home: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        without_override(*arguments),
        env=environment(home),
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
    )


def test_search_names_the_folder_that_permissions_close(home: Path, tmp_path: Path) -> None:
    files = {"a.py": "def here(): pass\n", "locked/in/b.py": "def here(): pass\n"}
    root = write_files(tmp_path / "ws", files | {"node_modules/x/c.js": "", "closed.py": ""})
    (root / "closed.py").chmod(0)
    for folder in ("locked", "node_modules/x"):
        (root / folder).chmod(0)
    try:
        built = asked(home, "index", "build", "--json", root)
        status = asked(home, "index", "status", "--json", "--root", root)
        literal = asked(home, "index", "search", "--json", "--mode=literal", "--root", root, "here")
        uri = (root / "locked/in/b.py").as_uri()
        outline = asked(
            home, "call", "--root", root, "vscode.lsp.documentSymbols", json.dumps({"uri": uri})
        )
    finally:
        for folder in ("locked", "node_modules/x"):
            (root / folder).chmod(0o700)
    unreadable = {"reason": "unreadable", "count": 2, "examples": ["closed.py", "locked"]}
    for done in (built, status):
        assert unreadable in json.loads(done.stdout)["roots"][0]["skipped"]
    answer = json.loads(literal.stdout)
    assert [item["path"] for item in answer["items"]] == ["a.py"]
    said = "1 file and 1 closed folder not indexed; index_status says why."
    assert answer["summary"].endswith(said)
    assert outline.returncode == 4 and "check the permissions of the folders" in outline.stderr


def test_a_root_that_permissions_close_is_refused(home: Path, tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"in/a.py": "x = 1\n"})
    root.chmod(0)
    try:
        shut = asked(home, "index", "build", root)
        below = asked(home, "serve", root / "in")
    finally:
        root.chmod(0o700)
    assert (shut.returncode, shut.stdout) == (3, "")
    assert f"{root} cannot be looked into; run chmod u+rx on it" in shut.stderr
    assert (below.returncode, below.stdout) == (3, "")
    assert f"{root}/in cannot be reached (Permission denied)" in below.stderr


def test_what_permissions_close_is_named(home: Path, tmp_path: Path) -> None:
    root = project(tmp_path / "ws", "ty")
    use = CASES["ty"][3]
    write_files(root, {"closed.py": use, "locked/use.py": use, "open/use.py": use})
    (root / "closed.py").chmod(0)
    (root / "locked").chmod(0)
    try:
        place = {"uri": (root / "lib.py").as_uri(), "position": {"line": 0, "character": 4}}
        asked = without_override("call", "--root", root, "vscode.lsp.references", json.dumps(place))
        told = without_override("doctor", root)
        done, doctor = (
            subprocess.run(
                each, env=environment(home), capture_output=True, text=True, check=False, cwd=home
            )
            for each in (asked, told)
        )
    finally:
        (root / "locked").chmod(0o700)
    answer = json.loads(done.stdout)
    files = {item["uri"].removeprefix(root.as_uri()) for item in answer["items"]}
    assert files == {"/use.py", "/open/use.py"}
    for said in (
        "1 file could not be read (closed.py); what it holds may be missing.",
        "1 folder could not be looked into (locked); what it holds may be missing.",
    ):
        assert said in answer["summary"] and said in doctor.stdout


async def test_only_files_of_the_server_s_languages_count(tmp_path: Path) -> None:
    root = project(tmp_path / "ws", "ty")
    (root / "other.js").write_bytes("// é\n".encode("latin-1"))
    (root / "notes.txt").write_bytes("é\n".encode("latin-1"))
    (root / ".#lock.py").symlink_to("nobody@nowhere")
    async with engine(root, cache=tmp_path, registry=only("ty", "tsgo")) as running:
        assert (await references(running, "ty"))[1] == "Returned 2 references."
        symbols = await running.call("vscode.lsp.workspaceSymbols", query="helper")
        assert "1 file is not UTF-8 (other.js)" in symbols["summary"]
