"""Go and Rust by what real servers said: their sessions are played again by the scripted server.

``tests/languages/recording.py`` tells how they were recorded. The same questions are put to the
real servers where they are on PATH.
"""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.contract.failures import TimedOut
from sightline.contract.settings import Settings
from sightline.lsp.registry import Registry, builtin
from tests.languages.questions import all_questions, arguments
from tests.languages.recording import FOLDER, MACHINE, recorded
from tests.languages.samples import ON_PATH
from tests.support import fake_server
from tests.support.engine import Engine, engine, received

STATUS = "experimental/serverStatus"


@asynccontextmanager
async def played(
    server: str, folder: Path, settings: Settings | None = None, **changed: Any
) -> AsyncIterator[Engine]:
    """An engine whose only server plays a recording; ``changed`` replaces parts of the script."""
    root, cache = ON_PATH[server].write(folder / "ws"), folder / "cache"
    cache.mkdir()
    script = recorded(server, root, cache).script | changed
    (folder / "script.json").write_text(json.dumps(script))
    command = (sys.executable, fake_server.__file__, str(folder / "script.json"))
    known = builtin()
    player = msgspec.structs.replace(known.servers[server], command=command)
    registry = Registry(known.languages, {server: player}, known.packages)
    async with engine(
        root, cache=cache, registry=registry, settings=settings, trusted=lambda root: True
    ) as running:
        yield running


@pytest.mark.parametrize("server", ON_PATH)
async def test_all_questions(server: str, tmp_path: Path) -> None:
    async with played(server, tmp_path) as running:
        await all_questions(running, server, ON_PATH[server])
        (status,) = running.program.pool.status()
        assert status.version in ("v0.24.0", "1.97.1")


async def test_nothing_is_asked_while_rust_analyzer_loads(tmp_path: Path) -> None:
    root, cache = tmp_path / "ws", tmp_path / "cache"
    (said,) = recorded("rust-analyzer", root, cache).script["initialized"]
    quiet = [m == STATUS and params["quiescent"] for m, params, *_ in said["notify"]].index(True)
    loading = {"initialized": [{"notify": said["notify"][:quiet]}]}
    patient = Settings(request_timeout_ms=250)
    async with played("rust-analyzer", tmp_path, patient, **loading) as running:
        place = ON_PATH["rust-analyzer"].place("def")
        waited: list[object] = []
        while "rust-analyzer to load the project" not in waited:
            with pytest.raises(TimedOut) as caught:
                await running.once("vscode.lsp.references", **arguments(running, place))
            waited.append((caught.value.details or {})["waitingFor"])
    asked = [message.get("method") for message in received(tmp_path)]
    assert "textDocument/references" not in asked


def test_what_a_client_is_told_that_does_not_wait(tmp_path: Path) -> None:
    """Why one server has a signal to wait for, and the other none."""
    for server, sample in ON_PATH.items():
        told = recorded(server, tmp_path, tmp_path).while_loading
        assert told[-1] == len(sample.places)
        blocks = builtin().servers[server].readiness == "answers-block"
        assert (told[:-1] == []) is blocks, server


def test_recordings_speak_of_no_machine() -> None:
    for file in FOLDER.glob("*.json"):
        assert not MACHINE.search(file.read_text(encoding="utf-8")), file.name
