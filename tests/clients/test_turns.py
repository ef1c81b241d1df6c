"""Whole turns of real clients, offline: from ``sightline config`` to what the model sees.

Each client is configured by the command its user would type, started as its user would start it,
and asked. Its model is a stand-in that calls every tool that only reads, once, and one that is
refused. What reaches the model is compared with what a bare client gets from the server.
"""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.model import asks_for_a_retry
from tests.clients.questions import REFUSED, families, questions
from tests.clients.room import Room
from tests.clients.turns import CLIENTS, RealClient, Turn, model
from tests.oracles.sample import FILES, write_files
from tests.support.http import HttpServer, free_port
from tests.support.program import command, run
from tests.support.stdio import StdioServer

pytestmark = [pytest.mark.client, pytest.mark.slow]

TRANSPORTS = [
    pytest.param(client, transport, id=f"{key}-{transport}")
    for key, client in CLIENTS.items()
    for transport in ("stdio", "http")
    if transport == "stdio" or client.http
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A definition, three uses in two files, and one mistake."""
    mistake = {"wrong.py": 'from shapes import area\n\nprint(area("2", 3))\n'}
    return write_files(tmp_path / "ws", FILES | mistake)


@pytest.fixture
def room() -> Iterator[Room]:
    with Room() as made:
        yield made


@pytest.mark.parametrize(("client", "transport"), TRANSPORTS)
def test_the_model_sees_what_the_server_answered(
    client: RealClient, transport: str, room: Room, home: Path, project: Path, tmp_path: Path
) -> None:
    plan = [*questions(project), REFUSED]
    assert run(home, "index", "build", cwd=project).returncode == 0
    turn = Turn(client, room, home, project, tmp_path / "lab")
    with model(room, tmp_path / "model", plan) as stand_in:
        turn.prepare(stand_in.url)
        if transport == "http":
            port = str(free_port())
            configure(turn, "--http", "--port", port)
            serving = tuple(room.inside(command()))
            with HttpServer.start([str(project), "--port", port], home, program=serving):
                done = turn.take(stand_in.url)
        else:
            configure(turn)
            done = turn.take(stand_in.url)
        heard = stand_in.heard()
    assert done.returncode == 0, done.stdout + done.stderr
    assert heard, "the model was never asked\n" + done.stdout + done.stderr
    check_names(client, heard)
    check_instructions(client, heard)
    check_answers(client, heard[-1]["heard"]["results"], plan, expected(plan, home, project))


def configure(turn: Turn, *flags: str) -> None:
    """What a user types, inside the room."""
    argv = turn.room.inside([*command("config", turn.client.key, "--write"), *flags])
    done = subprocess.run(
        argv,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=turn.env(),
        cwd=turn.project,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def expected(plan: list[dict[str, Any]], home: Path, project: Path) -> list[str | dict[str, Any]]:
    """Every answer as a bare client gets it: the payload, or the words of the error."""
    server = StdioServer.start([str(project)], home)
    try:
        server.initialize()
        return [ask(server.call, step) for step in plan]
    finally:
        server.stop()


def ask(call: Callable[..., Any], step: dict[str, Any]) -> str | dict[str, Any]:
    for _ in range(60):
        answer = call(step["tool"], step["arguments"])
        if "error" in answer:
            return str(answer["error"]["message"])
        result = answer["result"]
        if not result["isError"]:
            payload: str | dict[str, Any] = (
                result.get("structuredContent") or result["content"][0]["text"]
            )
            return payload
        text = str(result["content"][0]["text"])
        if not asks_for_a_retry(text):
            return text
    return text


def check_names(client: RealClient, heard: list[dict[str, Any]]) -> None:
    """Every tool is offered, under a name that the APIs of models take."""
    offered = {
        f"{tool['namespace']}/{tool['name']}" if tool["namespace"] else tool["name"]
        for tool in heard[0]["heard"]["tools"]
    }
    for step in questions(Path("/ws")):
        assert client.shown(step["tool"]) in offered
    assert all(re.fullmatch(r"[\w./-]{1,64}", name) for name in offered if "lsp" in name)


def check_instructions(client: RealClient, heard: list[dict[str, Any]]) -> None:
    assert heard[0]["instructed"] is client.instructed


def check_answers(
    client: RealClient,
    results: list[str],
    plan: list[dict[str, Any]],
    answers: list[str | dict[str, Any]],
) -> None:
    """The last answer to every step is the server's; what came before it asked for a retry."""
    final = [result for result in results if not asks_for_a_retry(result)]
    assert len(final) == len(plan)
    before, after = client.around
    for step, seen, answer in zip(plan, final, answers, strict=True):
        if isinstance(answer, str):
            assert squeezed(answer) in squeezed(seen), step
        else:
            inner = re.fullmatch(f"{before}(.*){re.escape(after)}", seen, re.DOTALL)
            assert inner, seen
            assert json.loads(inner[1]) == answer, step
    assert "[MCP_LSP_GATEWAY/WORKSPACE_DENIED]" in final[-1]


def squeezed(text: str) -> str:
    """An error's words; one client writes their JSON anew, without its blanks."""
    return re.sub(r"\s+", "", text)


def test_every_family_is_asked() -> None:
    asked = {step["tool"] for step in questions(Path("/ws"))}
    assert len(asked) >= len(families()) > 0
