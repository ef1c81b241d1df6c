"""Help: every command explains itself with an example that begins with a real command."""

import re

import pytest

from sightline import __version__
from sightline.cli.main import COMMANDS
from tests.cli.conftest import Command


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(sightline: Command, name: str) -> None:
    done = sightline(name, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"usage: sightline {name}")
    example = done.out.partition("example:\n")[2].strip()
    assert f"sightline {name}" in example
    about = done.out.partition("\n\n")[2].partition("\n\n")[0]
    assert len(about.split()) >= 5, "a sentence about what it does"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal(
    sightline: Command, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "90")
    text = sightline(name, "--help").out.partition("\nexample:\n")[0]
    assert max(map(len, text.splitlines())) <= 90


@pytest.mark.parametrize("action", ["build", "status", "search"])
def test_the_actions_of_the_index_have_an_example(sightline: Command, action: str) -> None:
    done = sightline("index", action, "--help")
    example = done.out.partition("example:\n")[2].strip()
    assert done.code == 0 and example.startswith(f"sightline index {action}")


@pytest.mark.parametrize("flag", ["--help", "-h", "help"])
def test_the_overview(sightline: Command, flag: str) -> None:
    done = sightline(flag)
    assert done.code == 0
    assert all(re.search(rf"^  {name}  ", done.out, re.MULTILINE) for name in COMMANDS)
    for line in done.out.partition("examples:\n")[2].partition("\n\n")[0].splitlines():
        assert line.split()[0] == "sightline" and line.split()[1] in COMMANDS


def test_no_command(sightline: Command) -> None:
    done = sightline()
    assert done.code == 2 and done.out.startswith("usage: sightline")


@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_version(sightline: Command, flag: str) -> None:
    assert sightline(flag) == (0, f"sightline {__version__}\n", "")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("serv", "did you mean serve?"), ("docter", "did you mean doctor?"), ("x", "--help"),
     ("", "--help"), ("Serve", "did you mean serve?"), ("../serve", "serve"),
     ("search", "did you mean index search?"), ("mcp", "did you mean stdio?")],
)  # fmt: skip
def test_an_unknown_command(sightline: Command, name: str, hint: str) -> None:
    done = sightline(name)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err and done.err.count("\n") == 1


def test_a_choice_that_is_nearly_one(sightline: Command) -> None:
    assert sightline("config", "claude").err.endswith("; did you mean claude-code?\n")
    assert sightline("index", "biuld").err.endswith("; did you mean build?\n")
    assert "did you mean" not in sightline("config", "zzzz").err


@pytest.mark.parametrize("words", [("call", "x"), ("config", "codex")])
def test_how_long_to_wait(sightline: Command, words: tuple[str, ...]) -> None:
    for given in ("abc", "nan", "-1"):
        assert "--wait: takes seconds, from 0 to 86400" in sightline(*words, "--wait", given).err


@pytest.mark.parametrize(
    "arguments",
    [("serve", "--nope"), ("serve", "--port", "x"), ("token",), ("token", "steal"), ("trust",),
     ("call",), ("stdio", "--port", "1"), ("call", "x", "{}", "--wait", "nan"),
     ("call", "x", "{}", "--wait", "-1"), ("call", "x", "{}", "--wait", "soon")],
)  # fmt: skip
def test_bad_usage(sightline: Command, arguments: tuple[str, ...]) -> None:
    done = sightline(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "usage: sightline" in done.err
