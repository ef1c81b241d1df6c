"""Questions to many servers: in turns if there are too many, and without those that cannot."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import Unavailable
from sightline.contract.settings import Settings
from sightline.lsp.registry import Registry
from tests.languages.samples import only
from tests.support.engine import engine, fake_registry
from tests.support.fake_server import DEFAULTS
from tests.support.files import write_files

#: Long enough for many servers one after the other, on a busy machine too.
PATIENT = 60_000
SYMBOL = {
    "name": "target",
    "kind": 12,
    "location": {
        "uri": "file:///elsewhere",
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}},
    },
}
TWO_LANGUAGES = {"a.py": "x = 1\n", "b.ts": "export function target() {}\nlet n: string = 1\n"}


def packages(root: Path, count: int) -> Path:
    """Packages with an environment of their own, each of which uses the first."""
    for number in range(count):
        here = f"packages/p{number}"
        files = {
            f"{here}/pyproject.toml": f'[project]\nname = "p{number}"\nversion = "1"\n',
            f"{here}/.venv/pyvenv.cfg": "home = /usr/bin\nversion = 3.13.0\n",
            f"{here}/.venv/lib/python3.13/site-packages/shared.pth": f"{root}/packages/p0\n",
            f"{here}/use{number}.py": "from shared import target\n\ntarget()\nwrong: int = ''\n",
        }
        write_files(root, files)
    return write_files(root, {"packages/p0/shared.py": "def target() -> int:\n    return 1\n"})


async def test_more_packages_than_servers_may_run(tmp_path: Path) -> None:
    root = packages(tmp_path / "ws", 5)
    settings = Settings(max_servers=2, request_timeout_ms=PATIENT)
    async with engine(root, cache=tmp_path, registry=only("ty"), settings=settings) as running:
        for _ in range(2):
            answer = await running.once(
                "vscode.lsp.references",
                uri=running.uri("packages/p0/shared.py"),
                position={"line": 0, "character": 4},
            )
            assert {item["uri"].rpartition("/")[2] for item in answer["items"]} == {
                f"use{number}.py" for number in range(5)
            }
            (root / "new.py").write_text("")  # nothing is remembered
        answer = await running.once("vscode.lsp.diagnostics.workspace")
        assert len(answer["items"]) == 5
        running_now = [row for row in running.program.pool.status() if row.pid is not None]
        assert len(running_now) <= 2


async def test_more_roots_than_servers_may_run_and_several_questions(tmp_path: Path) -> None:
    roots = [
        write_files(tmp_path / name, {f"{name}.py": f"def target_{name}() -> int: ...\n"})
        for name in ("one", "two", "three", "four")
    ]
    settings = Settings(max_servers=1, request_timeout_ms=PATIENT)
    async with engine(*roots, cache=tmp_path, registry=only("ty"), settings=settings) as running:
        running.program.pool.warm()
        answers = await asyncio.gather(
            *(
                running.once("vscode.lsp.workspaceSymbols", query=query)
                for query in ("target", "target_", "target_t")
            )
        )
        assert [len(answer["items"]) for answer in answers] == [4, 4, 2]


def dying(folder: Path, *then: dict[str, Any], **overrides: Any) -> Registry:
    """Python's server ends at each of its first five starts; TypeScript's is a real one."""
    script = {
        "initialize": [*[{"crash": 1}] * 5, *DEFAULTS["initialize"]],
        "workspace/symbol": [*then, {"result": []}],
    }
    return fake_registry(folder, script, "tsgo", **overrides)


async def test_a_dead_server_is_named_and_the_others_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0)
    root = write_files(tmp_path / "ws", TWO_LANGUAGES)
    registry = dying(tmp_path / "fake")
    said = "Not answered for Python: fake ended 5 times in a row; run sightline doctor."
    async with engine(root, cache=tmp_path, registry=registry, environment=_path()) as running:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert [item["name"] for item in answer["items"]] == ["target"]
        assert said in answer["summary"]
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert len(answer["items"]) == 1 and said in answer["summary"]
        with pytest.raises(Unavailable, match="ended 5 times"):
            await running.call("vscode.lsp.documentSymbols", uri=running.uri("a.py"))


async def test_a_server_that_works_again_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0)
    monkeypatch.setattr("sightline.lsp.pool._TRY_AGAIN_S", 0)
    root = write_files(tmp_path / "ws", TWO_LANGUAGES)
    here = SYMBOL | {"location": {**SYMBOL["location"], "uri": (root / "a.py").as_uri()}}  # type: ignore[dict-item]
    registry = dying(tmp_path / "fake", {"result": [here]})
    async with engine(root, cache=tmp_path, registry=registry, environment=_path()) as running:
        first = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert len(first["items"]) == 1 and "Not answered for Python" in first["summary"]
        epochs = (await running.program.workspace.begin()).epochs
        async with asyncio.timeout(60):
            while (await running.program.workspace.begin()).epochs == epochs:
                await asyncio.sleep(0)
        monkeypatch.setattr("sightline.lsp.server.lifecycle._GIVE_UP_S", 0)
        second = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert len(second["items"]) == 2 and "Not answered" not in second["summary"]


async def test_nobody_who_can_answer_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0)
    root = write_files(tmp_path / "ws", {"a.py": "x = 1\n"})
    async with engine(root, cache=tmp_path, registry=dying(tmp_path / "fake")) as running:
        with pytest.raises(Unavailable, match="ended 5 times"):
            await running.call("vscode.lsp.workspaceSymbols", query="target")


async def test_one_of_several_projects_is_named_by_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0)
    roots = [
        write_files(tmp_path / "one", {"a.py": "x = 1\n"}),
        write_files(tmp_path / "two", {"b.ts": "export function target() {}\n"}),
    ]
    registry = dying(tmp_path / "fake")
    async with engine(*roots, cache=tmp_path, registry=registry, environment=_path()) as running:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert "Not answered for Python in one: fake ended 5 times" in answer["summary"]


async def test_many_projects_that_one_reason_concerns_are_counted(tmp_path: Path) -> None:
    roots = [write_files(tmp_path / f"r{number}", {"a.py": "x = 1\n"}) for number in range(7)]
    roots.append(write_files(tmp_path / "typed", {"b.ts": "export function target() {}\n"}))
    script: dict[str, Any] = {"initialize": [{"result": {"capabilities": {}}}]}
    registry = fake_registry(tmp_path / "fake", script, "tsgo")
    async with engine(*roots, cache=tmp_path, registry=registry, environment=_path()) as running:
        summary = (await running.call("vscode.lsp.workspaceSymbols", query="target"))["summary"]
        named = ", ".join(f"Python in r{number}" for number in range(4))
        assert f"Not answered for {named}, 3 more: this fake does not answer that." in summary
        assert summary.count("Not answered") == 1


async def test_a_server_without_a_question_is_not_asked(tmp_path: Path) -> None:
    """What it says that it cannot do, in its entry or in what it says of itself."""
    root = write_files(tmp_path / "ws", TWO_LANGUAGES)
    none = {"diagnostics": "none", "workspace_diagnostics": "none"}
    silent = {
        "initialize": [{"result": {"capabilities": {}}}],
        "workspace/symbol": [{"result": []}],
    }
    registry = fake_registry(tmp_path / "fake", silent, "tsgo", **none)
    async with engine(root, cache=tmp_path, registry=registry, environment=_path()) as running:
        answer = await running.call("vscode.lsp.diagnostics.workspace")
        assert len(answer["items"]) == 1 and "Not checked: Python." in answer["summary"]
        with pytest.raises(Unavailable, match="cannot answer this"):
            await running.call("vscode.lsp.diagnostics.document", uri=running.uri("a.py"))
        answer = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert "Not answered for Python: this fake does not answer that" in answer["summary"]


async def test_one_that_is_not_ready_yet_is_not_left_out(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", TWO_LANGUAGES)
    late = {"error": {"code": -32802, "message": "later"}}
    registry = fake_registry(
        tmp_path / "fake", {"workspace/symbol": [late, {"result": []}]}, "tsgo"
    )
    async with engine(root, cache=tmp_path, registry=registry, environment=_path()) as running:
        answer = await running.call("vscode.lsp.workspaceSymbols", query="target")
        assert "Not answered" not in answer["summary"] and len(answer["items"]) == 1


def _path() -> dict[str, str]:
    return {"PATH": os.environ["PATH"]}
