"""A file of a project that never ends, or never begins, keeps nobody waiting.

Pipes stand where projects have configuration, and a link to the terminal where a clone can have it.
"""

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.lsp.python.environments import interpreter_stand_in, is_environment
from tests.support.stdio import StdioServer

#: Language servers read some of these themselves, and hang then. That must not hang us.
CONFIGURATION = [
    ".venv/pyvenv.cfg",
    ".venv/lib/python3.13/site-packages/a.pth",
    "pyproject.toml",
    "ty.toml",
    "pyrightconfig.json",
    "requirements.txt",
    "Pipfile",
    ".gitignore",
]
QUESTION = ("vscode.lsp.workspaceSymbols", {"query": "area"})


def pipe(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(file)


def test_a_pipe_for_an_environment(sample: Path, stdio: Callable[..., StdioServer]) -> None:
    pipe(sample / ".venv/pyvenv.cfg")
    server = stdio(sample)
    server.initialize()
    error = server.call(*QUESTION)["error"]
    assert error["data"] == {"code": "MCP_LSP_GATEWAY/PROVIDER_UNAVAILABLE"}
    waits = ".venv/pyvenv.cfg is a named pipe, which ty would wait for without end"
    assert f"{waits}; remove it: rm {sample}/.venv/pyvenv.cfg [" in error["message"]
    (sample / ".venv/pyvenv.cfg").unlink()
    answer = server.call(*QUESTION)
    assert [item["name"] for item in answer["result"]["structuredContent"]["items"]] == ["area"]


def test_pipes_everywhere(sample: Path, stdio: Callable[..., StdioServer]) -> None:
    for name in CONFIGURATION:
        pipe(sample / name)
    servers = [stdio(sample) for _ in range(3)]
    for server in servers:
        server.initialize()
        name, arguments = QUESTION
        server.request("tools/call", {"name": name, "arguments": arguments})
    _, terminated, interrupted = servers
    terminated.process.send_signal(signal.SIGTERM)
    interrupted.process.send_signal(signal.SIGINT)
    for server in servers:
        server.stop()
        assert server.process.returncode == 0


def test_a_terminal_for_configuration(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    try:
        (tmp_path / "pyvenv.cfg").symlink_to(os.ttyname(theirs))
        assert not is_environment(str(tmp_path))
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("version", ["3.²", "²", "3.١٢", "9" * 5_000, "3.11.2.final.0", ""])
def test_versions_that_are_no_numbers(tmp_path: Path, version: str) -> None:
    (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\nversion = {version}\n")
    program = Path(interpreter_stand_in(str(tmp_path), tmp_path)).read_text(encoding="utf-8")
    assert program.isascii() and '"final", 0]' in program


@pytest.mark.parametrize("name", ["/dev/stdin", "/dev/stdout", "/proc/self/fd/2", "/dev/zero"])
def test_an_include_of_what_a_server_has_open(
    installed: Path, workspace: Callable[..., Path], stdio: Callable[..., StdioServer], name: str
) -> None:
    """By a macro, so that no text names it. What it has open are sockets, which have no name."""
    macro = "#define QUOTED(x) #x\n#define NAME(x) QUOTED(x)\n"
    text = f"{macro}#include NAME({name})\nint one;\n"
    root = workspace({"a.c": text, "b.c": "int two;\n"})
    server = stdio(root)
    server.initialize()
    for file, symbol in (("b.c", "two"), ("a.c", "one")):
        arguments = {"uri": (root / file).as_uri()}
        answer = server.call("vscode.lsp.documentSymbols", arguments)
        while "error" in answer and answer["error"]["data"]["details"]["retryable"]:
            answer = server.call("vscode.lsp.documentSymbols", arguments)
        names = [item["name"] for item in answer["result"]["structuredContent"]["symbols"]]
        assert symbol in names
