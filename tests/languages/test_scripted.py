"""Servers that a user brings, by their registry entries and a scripted stand-in.

The stand-in says what gopls, rust-analyzer and intelephense were seen to say. What is proven is
that their rules are followed: when they are asked, what is held open, what makes them see an edit,
which answers are refused. Where a real one is on PATH, it is asked too.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.contract.failures import Failure, TimedOut, TooMany, Unavailable
from sightline.contract.settings import Settings
from sightline.lsp.registry import Registry, builtin
from tests.languages.questions import all_questions
from tests.languages.samples import ON_PATH, needs, only
from tests.languages.test_untouched import snapshot
from tests.support import fake_server
from tests.support.engine import Engine, engine, received

GO = {
    "go.work": "go 1.24\n\nuse (\n\t./app\n\t./lib\n)\n",
    "app/go.mod": "module example.invalid/app\n\ngo 1.24\n",
    "app/main.go": "package main\n\nfunc main() {}\n",
    "app/main_test.go": "package main\n",
    "lib/go.mod": "module example.invalid/lib\n\ngo 1.24\n",
    "lib/lib.go": "package lib\n\nfunc Area() int { return 1 }\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/main.rs": "mod plane;\n\nfn main() {\n    plane::area();\n}\n",
    "src/plane.rs": "pub fn area() -> i32 {\n    1\n}\n",
}
PHP = {"composer.json": "{}\n", "a.php": "<?php\nfunction area() { return 1; }\narea();\n"}
STATUS = "experimental/serverStatus"
CAPABLE = {
    "capabilities": {"workspaceSymbolProvider": True},
    "serverInfo": {"name": "stand-in", "version": "9"},
}
FAST = Settings(request_timeout_ms=250)


@asynccontextmanager
async def standing_in(
    server: str,
    files: dict[str, str],
    folder: Path,
    script: dict[str, Any],
    settings: Settings | None = None,
    environment: dict[str, str] | None = None,
) -> AsyncIterator[Engine]:
    """An engine whose only server is a stand-in for ``server``, in a trusted root."""
    root = _written(files, folder)
    (folder / "script.json").write_text(json.dumps(script))
    command = (sys.executable, fake_server.__file__, str(folder / "script.json"))
    known = builtin()
    stand_in = msgspec.structs.replace(known.servers[server], command=command, found="path")
    registry = Registry(known.languages, {server: stand_in}, known.packages)
    cache = folder / "cache"
    cache.mkdir()
    async with engine(
        root,
        cache=cache,
        registry=registry,
        settings=settings,
        environment=environment,
        trusted=lambda root: True,
    ) as running:
        yield running


def _written(files: dict[str, str], folder: Path) -> Path:
    root = folder / "ws"
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def methods(folder: Path) -> list[str]:
    return [message["method"] for message in received(folder) if "method" in message]


def symbols(count: int, uri: str) -> list[dict[str, Any]]:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    location = {"uri": uri, "range": place}
    return [{"name": f"area{n}", "kind": 12, "location": location} for n in range(count)]


LOOSE = {
    "scripts/a.go": "package main\n",
    "scripts/b.go": "package main\n",
    "scripts/sub/c.go": "package sub\n",
    "scripts/sub/c_test.go": "package sub\n",
}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (GO, {"app/main.go", "lib/lib.go"}),
        (LOOSE, {"scripts/a.go", "scripts/sub/c.go"}),
        (GO | LOOSE, {"app/main.go", "lib/lib.go", "scripts/a.go", "scripts/sub/c.go"}),
    ],
    ids=["modules", "loose", "both"],
)
async def test_gopls_has_one_file_of_each_module_open(
    tmp_path: Path, files: dict[str, str], expected: set[str]
) -> None:
    script: dict[str, Any] = {"textDocument/documentSymbol": [{"result": []}]}
    async with standing_in("gopls", files, tmp_path, script) as running:
        await running.call("vscode.lsp.documentSymbols", uri=running.uri(min(expected)))
        opened = {
            message["params"]["textDocument"]["uri"]
            for message in received(tmp_path)
            if message.get("method") == "textDocument/didOpen"
        }
        assert opened == {running.uri(name) for name in expected}


async def test_tsgo_is_shown_loose_files_by_one_document(tmp_path: Path) -> None:
    """Each one that is opened by itself makes it load everything once more."""
    loose = {f"scripts/part{n}.js": "export const x = 1\n" for n in range(300)}
    files = loose | {"it's.js": "export const y = 1\n", "app/tsconfig.json": "{}\n"}
    files["app/main.ts"] = "export const z = 1\n"
    script: dict[str, Any] = {
        "textDocument/documentSymbol": [{"result": []}],
        "textDocument/references": [{"result": None}],
    }
    async with standing_in("tsgo", files, tmp_path, script) as running:
        uri = running.uri("app/main.ts")
        await running.call("vscode.lsp.documentSymbols", uri=uri)

        def shown(method: str) -> dict[str, str]:
            documents = [m["params"] for m in received(tmp_path) if m.get("method") == method]
            return {d["textDocument"]["uri"].rpartition("/")[2]: json.dumps(d) for d in documents}

        opened = shown("textDocument/didOpen")
        assert opened.keys() == {"main.ts", "it%27s.js", ".sightline-names-these.js"}
        names = opened[".sightline-names-these.js"]
        assert all(f'path=\\"{name}\\"' in names for name in loose)
        (running.root / "scripts/part0.js").unlink()
        await running.call("vscode.lsp.documentSymbols", uri=uri)
        changed = shown("textDocument/didChange")[".sightline-names-these.js"]
        assert "part1.js" in changed and "part0.js" not in changed
    assert not (tmp_path / "ws/.sightline-names-these.js").exists()


@pytest.mark.parametrize(("count", "refused"), [(99, False), (100, True)])
async def test_a_list_that_gopls_may_have_cut(tmp_path: Path, count: int, refused: bool) -> None:
    uri = (tmp_path / "ws/lib/lib.go").as_uri()
    script = {"workspace/symbol": [{"result": symbols(count, uri)}]}
    async with standing_in("gopls", GO, tmp_path, script) as running:
        asked = running.call("vscode.lsp.workspaceSymbols", query="area")
        if refused:
            with pytest.raises(TooMany, match="at most 100 results; ask more narrowly"):
                await asked
        else:
            assert (await asked)["summary"].startswith("Returned 99")


async def test_rust_analyzer_is_asked_when_it_is_quiet(tmp_path: Path) -> None:
    script = {
        "initialize": [{"notify": [[STATUS, {"quiescent": False}]], "result": CAPABLE}],
        "textDocument/documentSymbol": [{"result": []}],
    }
    async with standing_in("rust-analyzer", RUST, tmp_path, script, FAST) as running:
        await running.program.workspace.begin()
        uri = running.uri("src/plane.rs")
        waited: list[object] = []
        while "rust-analyzer to load the project" not in waited:
            with pytest.raises(TimedOut) as caught:
                await running.once("vscode.lsp.documentSymbols", uri=uri)
            assert caught.value.retryable
            waited.append((caught.value.details or {})["waitingFor"])
        assert set(waited) <= {"rust-analyzer to start", "rust-analyzer to load the project"}
        assert "textDocument/documentSymbol" not in methods(tmp_path)


async def test_rust_analyzer_loads_again_when_a_file_comes(tmp_path: Path) -> None:
    quiet = [STATUS, {"quiescent": True}]
    script = {
        "initialize": [{"notify": [quiet], "result": CAPABLE}],
        "textDocument/documentSymbol": [{"result": []}],
        "rust-analyzer/reloadWorkspace": [{"notify": [quiet], "result": None}],
    }
    async with standing_in("rust-analyzer", RUST, tmp_path, script) as running:
        uri = running.uri("src/plane.rs")
        await running.call("vscode.lsp.documentSymbols", uri=uri)
        assert "rust-analyzer/reloadWorkspace" not in methods(tmp_path)
        (running.root / "src/solid.rs").write_text("pub fn volume() -> i32 {\n    1\n}\n")
        await running.call("vscode.lsp.documentSymbols", uri=uri)
        seen = methods(tmp_path)
        asked = len(seen) - 1 - seen[::-1].index("textDocument/documentSymbol")
        assert "rust-analyzer/reloadWorkspace" in seen[:asked], "asked before it had loaded"


@pytest.mark.parametrize(
    "reload", [{"error": {"code": -32603, "message": "cargo failed"}}, {"result": None}]
)
async def test_rust_analyzer_starts_over_when_it_does_not_load_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reload: dict[str, Any]
) -> None:
    """It refuses, or it never says that it is quiet; either way it lacks the new file."""
    monkeypatch.setattr("sightline.lsp.server.run._SETTLE_S", 0.5)
    script = {
        "initialize": [{"notify": [[STATUS, {"quiescent": True}]], "result": CAPABLE}],
        "textDocument/documentSymbol": [{"result": []}],
        "rust-analyzer/reloadWorkspace": [reload],
    }
    async with standing_in("rust-analyzer", RUST, tmp_path, script) as running:
        uri = running.uri("src/plane.rs")
        await running.call("vscode.lsp.documentSymbols", uri=uri)
        (running.root / "src/solid.rs").write_text("pub fn volume() -> i32 {\n    1\n}\n")
        await running.call("vscode.lsp.documentSymbols", uri=uri)
        seen = [name for name in methods(tmp_path) if name in script]
        assert seen == [
            "initialize",
            "textDocument/documentSymbol",
            "rust-analyzer/reloadWorkspace",
            "initialize",
            "textDocument/documentSymbol",
        ]


async def test_intelephense_is_asked_after_it_has_indexed(tmp_path: Path) -> None:
    log = ["window/logMessage", {"type": 3, "message": "Indexer: Indexing finished in 12 ms"}]
    script = {
        "initialize": [{"notify": [log], "result": CAPABLE}],
        "textDocument/documentSymbol": [{"result": []}],
    }
    async with standing_in("intelephense", PHP, tmp_path, script) as running:
        await running.call("vscode.lsp.documentSymbols", uri=running.uri("a.php"))
        (first,) = running.program.pool.status()
        (running.root / "a.php").write_text("<?php\n")
        await running.call("vscode.lsp.documentSymbols", uri=running.uri("a.php"))
        (second,) = running.program.pool.status()
        assert first.pid != second.pid, "it notices no edit, so it starts over"
        with pytest.raises(Failure, match="cannot answer this completely"):
            await running.call("vscode.lsp.diagnostics.document", uri=running.uri("a.php"))


@asynccontextmanager
async def real(server: str, root: Path, folder: Path) -> AsyncIterator[Engine]:
    """An engine whose only server is the user's own, in a trusted root."""
    needs(server)
    cache = folder / "cache"
    cache.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    async with (
        asyncio.timeout(240),
        engine(
            root,
            cache=cache,
            registry=only(server),
            environment=environment,
            trusted=lambda root: True,
        ) as running,
    ):
        yield running


@pytest.mark.parametrize("server", ON_PATH)
async def test_the_real_one_where_it_is(server: str, tmp_path: Path) -> None:
    root = ON_PATH[server].write(tmp_path / "ws")
    before = snapshot(root)
    async with real(server, root, tmp_path) as running:
        await all_questions(running, server, ON_PATH[server])
    assert snapshot(root) == before, "it wrote into the workspace"


async def test_the_real_intelephense_where_it_is(tmp_path: Path) -> None:
    root = _written(PHP, tmp_path)
    async with real("intelephense", root, tmp_path) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("a.php"),
            position={"line": 1, "character": 9},
            includeDeclaration=True,
        )
        assert len(answer["items"]) == 2


async def test_a_version_that_would_write_is_ended_before_it_reads_a_project(
    tmp_path: Path,
) -> None:
    old = {"capabilities": {}, "serverInfo": {"name": "rust-analyzer", "version": "1.85.1 (x)"}}
    script = {"initialize": [{"result": old}]}
    async with standing_in("rust-analyzer", RUST, tmp_path, script) as running:
        for _ in range(2):
            with pytest.raises(
                Unavailable, match=r"1.85.1 \(x\) is not used: older ones let cargo"
            ):
                await running.call("vscode.lsp.documentSymbols", uri=running.uri("src/plane.rs"))
        assert methods(tmp_path) == ["initialize"]
        assert [row.pid for row in running.program.pool.status()] == [None]


async def test_a_project_that_rust_analyzer_could_not_load(tmp_path: Path) -> None:
    """It is quiet then, and answers from a part; the next status may be better."""
    bad, good = ([STATUS, {"health": h, "quiescent": True}] for h in ("error", "ok"))
    script = {
        "initialize": [{"result": CAPABLE}],
        "initialized": [{"notify": [bad]}],
        "textDocument/documentSymbol": [{"result": []}],
        "rust-analyzer/reloadWorkspace": [{"notify": [good], "result": None}],
    }
    async with standing_in("rust-analyzer", RUST, tmp_path, script) as running:
        uri = running.uri("src/plane.rs")
        with pytest.raises(Unavailable, match="could not load the project"):
            await running.call("vscode.lsp.documentSymbols", uri=uri)
        assert "textDocument/documentSymbol" not in methods(tmp_path)
        (running.root / "Cargo.toml").write_text(RUST["Cargo.toml"] + "\n")
        assert (await running.call("vscode.lsp.documentSymbols", uri=uri))["symbols"] == []
