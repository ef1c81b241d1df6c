"""The reference is what the code says, and says something about everything."""

import json

import pytest

from sightline.calls.families import CODES, CONTEXT_MESSAGES, failed
from sightline.cli.exits import Exit
from sightline.cli.main import COMMANDS
from sightline.contract import failures as f
from sightline.contract.settings import Family, Settings
from sightline.protocol.jsonrpc import Error
from tools.plots import FOLDER as IMAGES
from tools.plots import PLOTS
from tools.plots import render as picture
from tools.reference import FOLDER, PAGES, render
from tools.reference_commands import EXITS
from tools.reference_errors import CURES
from tools.reference_settings import ABOUT

FAMILIES: tuple[Family, ...] = ("lsp", "index", "context")


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_current(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == render(name), "run make docs"


@pytest.mark.parametrize("name", PLOTS)
def test_a_picture_is_that_of_the_figures(name: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text(encoding="utf-8") == picture(name), "run make docs"


def test_everything_is_told() -> None:
    assert set(ABOUT) == set(Settings.__struct_fields__)
    assert set(EXITS) == set(Exit)
    assert set(CURES) == set(CODES)
    commands = (FOLDER / "commands.md").read_text(encoding="utf-8")
    assert all(f"## sightline {name}\n" in commands for name in COMMANDS)
    errors = (FOLDER / "errors.md").read_text(encoding="utf-8")
    for (_, lsp), index, context in CODES.values():
        assert all(f"`{code}`" in errors for code in (lsp, index, context) if code)


def made(kind: type[f.Failure]) -> f.Failure:
    if kind is f.NotReady:
        return f.NotReady(waiting_for="the language server")
    return f.TimedOut(timeout_ms=2000) if kind is f.TimedOut else kind()


@pytest.mark.parametrize("kind", CODES, ids=lambda kind: kind.__name__)
def test_a_person_and_a_program_can_act_on_every_error(kind: type[f.Failure]) -> None:
    """A person reads the message, a program the code; both are there in every family."""
    (number, lsp), index, context = CODES[kind]
    for family in FAMILIES:
        told = failed(family, made(kind))
        if isinstance(told, Error):
            assert told.code == number
            assert told.data is not None and told.data["code"] == f"MCP_LSP_GATEWAY/{lsp}"
            advice = made(kind).advice
            assert told.message.endswith(f"{advice} [MCP_LSP_GATEWAY/{lsp}]")
            assert len(advice.split()) >= 3
            assert (told.data.get("details", {}).get("retryable") is True) is kind.retryable
        elif family == "index":
            error = json.loads(json.loads(bytes(told))["content"][0]["text"])
            assert error["code"] == (index or "INTERNAL")
            assert len(error["message"].split()) >= 3 and error["hint"]
        else:
            assert context is not None
            assert CONTEXT_MESSAGES[context] in bytes(told).decode()
    why, cure = CURES[kind]
    assert why and cure
