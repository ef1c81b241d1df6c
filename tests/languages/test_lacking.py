"""Projects that a server can only read in part: the answer says so, until it is mended.

rust-analyzer and gopls are played by the scripted server, which says what they were seen to say;
the real gopls is asked where there is one.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Unavailable
from tests.languages.samples import needs, only, unaccounted
from tests.languages.test_scripted import CAPABLE, RUST, STATUS, standing_in
from tests.support import fake_server
from tests.support.engine import Engine, engine
from tests.support.files import write_files
from tests.support.program import run

HERE = {"line": 0, "character": 7}
CRATES = "Crates that are needed are not downloaded; much may be missing."
LIBRARY = "The source of the standard library is not there; uses in its macros may be missing."
SAID = (
    "Failed to read Cargo metadata with dependencies for `/x/Cargo.toml`: error: no matching "
    "package named `anyhow` found\n\nWorkspace `/x/Cargo.toml` has sysroot errors\n"
)
FAILED = (
    "2026/11/16 10:51:29 initial workspace load failed: packages.Load error: err: exit status 1"
)
LOG = "window/logMessage"


#: Who plays a server finds no declaration, either.
NO_SYMBOL = re.compile(r" The word at this position [^.]*\.")


async def references(running: Engine, name: str, **place: int) -> str:
    """What is said besides of the place."""
    return NO_SYMBOL.sub("", await all_said(running, name, **place), count=1)


async def all_said(running: Engine, name: str, **place: int) -> str:
    answer = await running.call(
        "vscode.lsp.references", uri=running.uri(name), position=HERE | place
    )
    summary: str = answer["summary"]
    return summary


# rust-analyzer says it in its status


def status(health: str, message: str | None) -> list[Any]:
    return [STATUS, {"health": health, "quiescent": True, "message": message}]


@pytest.mark.parametrize(
    ("said", "note"),
    [
        (SAID, f" {CRATES} {LIBRARY}"),
        ("What nobody has seen yet", " rust-analyzer could not load everything; something may"),
        (None, " rust-analyzer could not load everything; something may"),
    ],
)
async def test_a_warning_is_passed_on_in_our_words(
    tmp_path: Path, said: str | None, note: str
) -> None:
    warning, fine = status("warning", said), status("ok", None)
    script = {
        "initialize": [{"result": CAPABLE}],
        "initialized": [{"notify": [warning]}],
        "textDocument/references": [{"result": []}],
        "workspace/symbol": [{"result": []}],
        "rust-analyzer/reloadWorkspace": [{"notify": [fine], "result": None}],
    }
    async with standing_in("rust-analyzer", RUST, tmp_path, script) as running:
        summary = await references(running, "src/plane.rs")
        assert summary.startswith(f"Returned 0 references.{note}")
        assert "/x/" not in summary
        found = await running.call("vscode.lsp.workspaceSymbols", query="area")
        assert found["summary"].startswith(f"Returned 0 workspace symbols.{note}")
        (running.root / "Cargo.toml").write_text(RUST["Cargo.toml"] + "\n")
        assert await references(running, "src/plane.rs") == "Returned 0 references."


async def test_a_project_that_is_not_loaded_at_all_is_refused(tmp_path: Path) -> None:
    script = {
        "initialize": [{"result": CAPABLE}],
        "initialized": [{"notify": [status("error", SAID)]}],
    }
    async with standing_in("rust-analyzer", RUST, tmp_path, script) as running:
        with pytest.raises(Unavailable, match="could not load the project; run sightline doctor"):
            await references(running, "src/plane.rs")


# gopls says it in its log

ONE = {"go.mod": "module example.com/one\n\ngo 1.21\n", "a.go": "package one\n\nfunc Area() {}\n"}


def failing(**more: list[dict[str, Any]]) -> dict[str, Any]:
    log = [[LOG, {"type": 1, "message": FAILED}]]
    refused = {"code": 0, "message": "no package metadata for file"}
    return {
        "initialize": [{"result": CAPABLE}],
        "initialized": [{"notify": log}],
        "textDocument/references": [{"error": refused}],
        "textDocument/documentSymbol": [{"result": []}],
        "workspace/symbol": [{"result": []}],
        **more,
    }


async def test_a_module_that_gopls_could_not_load(tmp_path: Path) -> None:
    async with standing_in("gopls", ONE, tmp_path, failing()) as running:
        # What it reads from the document alone is answered.
        outline = await running.call("vscode.lsp.documentSymbols", uri=running.uri("a.go"))
        assert outline["symbols"] == []
        for tool, arguments in (
            ("references", {"uri": running.uri("a.go"), "position": HERE}),
            ("workspaceSymbols", {"query": "Area"}),
        ):
            with pytest.raises(
                Unavailable, match="gopls could not load the project; run sightline doctor"
            ):
                await running.call(f"vscode.lsp.{tool}", **arguments)


async def test_one_module_of_several_that_gopls_could_not_load(tmp_path: Path) -> None:
    files = {f"{name}/{file}": text for name in ("a", "b") for file, text in ONE.items()}
    script = failing(**{"textDocument/references": [{"result": []}]})
    async with standing_in("gopls", files, tmp_path, script) as running:
        note = "gopls could not load every module; what they hold may be missing."
        assert await references(running, "a/a.go") == f"Returned 0 references. {note}"
        found = await running.call("vscode.lsp.workspaceSymbols", query="Area")
        assert found["summary"] == f"Returned 0 workspace symbols. {note}"


async def test_a_server_that_does_not_know_the_question(tmp_path: Path) -> None:
    unknown = {"code": -32601, "message": "JSON RPC method not found"}
    script = {
        "initialize": [{"result": CAPABLE}],
        "textDocument/diagnostic": [{"error": unknown}],
    }
    async with standing_in("gopls", ONE, tmp_path, script) as running:
        with pytest.raises(Unavailable, match="this gopls does not answer that; a newer one may"):
            await running.call("vscode.lsp.diagnostics.document", uri=running.uri("a.go"))


async def test_a_place_without_a_symbol(tmp_path: Path) -> None:
    nothing = {"code": 0, "message": "no identifier found"}
    script = {"initialize": [{"result": CAPABLE}], "textDocument/references": [{"error": nothing}]}
    async with standing_in("gopls", ONE, tmp_path, script) as running:
        assert await all_said(running, "a.go") == (
            "Returned 0 references. The word at this position (`package`) is not known as a "
            "symbol, perhaps a keyword or in a comment or text; near it: `one` at character 8."
        )


# Modules that are not there

NEEDY = ONE | {"go.mod": "module example.com/one\n\ngo 1.21\n\nrequire example.com/dep v1.0.0\n"}
MISSING = "Modules not downloaded: example.com/dep; what needs them may be missing."


async def test_modules_that_come_make_gopls_start_over(tmp_path: Path) -> None:
    script = {"initialize": [{"result": CAPABLE}], "textDocument/references": [{"result": []}]}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with standing_in("gopls", NEEDY, tmp_path, script, environment=environment) as running:
        pool = running.program.pool
        assert await references(running, "a.go") == f"Returned 0 references. {MISSING}"
        (before,) = pool.status()
        await pool._fleet.round()
        assert pool.status() == [before]
        (tmp_path / "go/pkg/mod/example.com/dep@v1.0.0").mkdir(parents=True)
        await pool._fleet.round()
        assert await references(running, "a.go") == "Returned 0 references."
        (after,) = pool.status()
        assert after.pid != before.pid


# What people are told


def doctor(home: Path, root: Path, server: str, script: dict[str, Any]) -> str:
    """What doctor says of the language of a server that follows a script, and the step."""
    home.mkdir(exist_ok=True)
    (home / "script.json").write_text(json.dumps(script))
    command = [sys.executable, fake_server.__file__, str(home / "script.json")]
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True)
    own = f"command = {json.dumps(command)}\nneeds_trust = false\n"
    settings.write_text(f"[servers.{server}]\n{own}")
    report = run(home, "doctor", root).stdout
    (said,) = re.findall(rf"^\S+ +(?:Go|Rust) in {root}: .*\n +fix: .*$", report, re.MULTILINE)
    return str(said)


def test_doctor_repeats_what_gopls_says(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", NEEDY)
    said = doctor(tmp_path / "home", root, "gopls", failing())
    assert said.startswith(f"MISSING Go in {root}: gopls could not load the project: 2026/11/16 ")
    assert said.endswith("fix: go mod download; go list ./... says what is wrong")


def test_doctor_repeats_what_rust_analyzer_says(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", RUST)
    long = SAID.replace("error:", f"Failed to run `{'x' * 300}`: error:")
    script = {
        "initialize": [{"result": CAPABLE}],
        "initialized": [{"notify": [status("warning", long)]}],
    }
    said = doctor(tmp_path / "home", root, "rust-analyzer", script)
    assert f"rust-analyzer 9, ready. {CRATES} {LIBRARY} It says: error: no matching package" in said
    assert said.endswith("fix: cargo fetch; rustup component add rust-src")


@pytest.mark.parametrize(
    ("server", "files", "install"),
    [
        (
            "ty",
            {
                "pyproject.toml": '[project]\nname = "app"\ndependencies = ["dep"]\n',
                "a.py": "from dep import area\n",
                ".venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.11.2\n",
            },
            ".venv/lib/python3.11/site-packages/dep-1.dist-info/RECORD",
        ),
        (
            "tsgo",
            {
                "package.json": '{"name": "app", "dependencies": {"dep": "1"}}',
                "tsconfig.json": "{}",
                "a.ts": 'import { Area } from "dep"\n',
            },
            "node_modules/dep/package.json",
        ),
    ],
)
async def test_packages_that_are_not_installed(
    tmp_path: Path, server: str, files: dict[str, str], install: str
) -> None:
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only(server)) as running:
        pool = running.program.pool
        missing = [pool.gaps.not_installed(each) for each in await pool.outlook()]
        assert ["dep"] in missing
        write_files(root, {install: "{}"})
        missing = [pool.gaps.not_installed(each) for each in await pool.outlook()]
        assert not any(missing)


def test_doctor_names_packages_that_are_not_installed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    files = {"pyproject.toml": '[project]\nname = "a"\ndependencies = ["dep"]\n', "a.py": "x = 1\n"}
    root = write_files(tmp_path / "ws", files)
    said = run(home, "doctor", root).stdout
    assert re.search(r"note    Python in .*, ready; packages not installed: dep\n.*uv sync", said)


# Real servers


TOGETHER = {
    "lib/go.mod": "module example.com/lib\n\ngo 1.21\n",
    "lib/a.go": "package lib\n\nfunc Area() {}\n\nfunc f() { Area() }\n",
    "app/go.mod": "module example.com/app\n\ngo 1.21\n\nrequire example.com/lib v0.0.0\n\n"
    "replace example.com/lib => ../lib\n",
    "app/a.go": 'package app\n\nimport "example.com/lib"\n\nfunc f() { lib.Area() }\n',
}
WORK = "go 1.21\n\nuse (\n\t./app\n\t./lib\n)\n"
NOT_READ = "in files that the server does not read"


@pytest.mark.parametrize("work", [False, True])
async def test_modules_that_use_each_other(tmp_path: Path, work: bool) -> None:
    """gopls looks into one module at a time, unless a go.work names both."""
    needs("gopls")
    root = write_files(tmp_path / "ws", TOGETHER)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with engine(
        root, cache=tmp_path, registry=only("gopls"), environment=environment
    ) as running:
        if work:
            assert "app/a.go" in await references(running, "lib/a.go", line=2)
            write_files(root, {"go.work": WORK})
        summary = await references(running, "lib/a.go", line=2)
    alone = "Returned 1 reference. " + unaccounted("Area", 1, NOT_READ, "app/a.go")
    assert summary == ("Returned 2 references." if work else alone)


async def test_uses_in_modules_that_are_not_seen_together_are_counted(tmp_path: Path) -> None:
    script = {"initialize": [{"result": CAPABLE}], "textDocument/references": [{"result": []}]}
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    files = TOGETHER | {
        "other/go.mod": "module example.com/other\n",
        "other/a.go": "package other\n\nfunc Area() {}\n",
    }
    async with standing_in("gopls", files, tmp_path, script, environment=environment) as running:
        said = unaccounted("Area", 1, NOT_READ, "app/a.go")
        assert await references(running, "lib/a.go", line=2) == f"Returned 0 references. {said}"
        assert await references(running, "other/a.go", line=2) == "Returned 0 references."
        write_files(running.root, {"go.work": WORK})
        assert await references(running, "lib/a.go", line=2) == "Returned 0 references."


async def test_a_module_that_is_downloaded_while_gopls_runs(tmp_path: Path) -> None:
    needs("gopls")
    go = shutil.which("go")
    if go is None:
        pytest.skip("go is not on the PATH, and Sightline does not install it")
    source = write_files(
        tmp_path / "src/example.com/dep@v1.0.0",
        {"go.mod": "module example.com/dep\n", "dep.go": "package dep\n\nfunc New() {}\n"},
    )
    versions = tmp_path / "proxy/example.com/dep/@v"
    versions.mkdir(parents=True)
    _zip(tmp_path / "src", versions / "v1.0.0.zip")
    shutil.copy(source / "go.mod", versions / "v1.0.0.mod")
    (versions / "v1.0.0.info").write_text('{"Version": "v1.0.0"}')
    use = 'package one\n\nimport "example.com/dep"\n\nfunc f() { dep.New() }\n'
    root = write_files(tmp_path / "ws", NEEDY | {"a.go": use})
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GOMODCACHE": f"{tmp_path}/m"}
    async with engine(
        root, cache=tmp_path, registry=only("gopls"), environment=environment
    ) as running:
        assert (await references(running, "a.go", line=4)).endswith(MISSING)
        fetching = {"GOPROXY": (tmp_path / "proxy").as_uri(), "GOSUMDB": "off"}
        flags = {"GOFLAGS": "-mod=mod -modcacherw"}
        subprocess.run(
            [go, "mod", "download", "all"], cwd=root, env=environment | fetching | flags, check=True
        )
        await running.program.pool._fleet.round()
        assert "not downloaded" not in await references(running, "a.go", line=4)
        found = await running.call(
            "vscode.lsp.definition", uri=running.uri("a.go"), position={"line": 4, "character": 16}
        )
        assert found["summary"] == "Found 0 definitions. 1 outside the workspace not shown."


def _zip(folder: Path, target: Path) -> None:
    import zipfile

    with zipfile.ZipFile(target, "w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
