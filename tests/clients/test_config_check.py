"""``sightline config --check``: it uses exactly what is in the file, and says what is wrong."""

import json
import shlex
import socketserver
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sightline.cli.clients import jsonc
from sightline.cli.clients.client import Client
from sightline.cli.clients.table import CLIENTS
from tests.clients.test_config import WITH_FILES, config, file_of
from tests.support.http import HttpServer, free_port
from tests.support.program import command, run

pytestmark = pytest.mark.slow

Serve = Callable[..., HttpServer]
WITH_HTTP = [client for client in WITH_FILES if client.http is not None]


def change(client: Client, home: Path, **members: Any) -> None:
    """Edits the entry, as its user or the client would."""
    file = file_of(client, home)
    text = file.read_text(encoding="utf-8")
    old = jsonc.value(text)[client.path[0]]["sightline"]
    file.write_text(jsonc.put(text, [*client.path, "sightline"], old | members), encoding="utf-8")


@pytest.mark.parametrize("client", WITH_FILES, ids=lambda client: client.key)
def test_over_stdio_it_makes_the_first_steps_of_every_client(
    client: Client, home: Path, sample: Path
) -> None:
    done = config(home, sample, client.key, "--write", "--check")
    assert "has sightline, over stdio" in done.stdout
    style = "vscode_lsp_" if "tool_names" in client.settings else "vscode.lsp."
    assert f"tools: {style}definition" in done.stdout
    assert f"{style}documentSymbols of shapes.py: Returned 1 document symbol." in done.stdout
    assert f"ready: {client.next_step}" in done.stdout


def test_a_server_that_lists_tools_by_name_alone_is_asked_one_of_them(
    home: Path, sample: Path
) -> None:
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('profile = "agent"\n', encoding="utf-8")
    done = config(home, sample, "claude-code", "--write", "--check")
    assert "read: folder .  2 source files" in done.stdout


@pytest.mark.parametrize("client", WITH_HTTP, ids=lambda client: client.key)
def test_over_http_it_reaches_the_running_server(
    client: Client, home: Path, sample: Path, serve: Serve
) -> None:
    port = str(serve(sample).port)
    done = config(home, sample, client.key, "--http", "--port", port, "--write", "--check")
    assert "has sightline, over HTTP" in done.stdout
    assert "documentSymbols of shapes.py: Returned 1 document symbol." in done.stdout


def test_a_project_that_is_not_served_is_told_and_healed_by_the_command_it_names(
    home: Path, sample: Path, tmp_path: Path, serve: Serve
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "own.py").write_text("def own() -> None:\n    print(1, 2, 3, 4, 5, 6)\n")
    words = ["codex", "--http", "--port", str(serve(sample).port)]
    told = f"  but       {other} is not served; to change that: sightline roots add {other}\n"
    assert told in config(home, other, *words, "--write", "--check").stdout
    assert run(home, "roots", "add", other).returncode == 0
    done = config(home, other, *words, "--check")
    assert told not in done.stdout and "documentSymbols of own.py" in done.stdout


def test_a_stale_token_is_told_and_healed_by_the_command_it_names(
    home: Path, sample: Path, serve: Serve
) -> None:
    port = str(serve(sample).port)
    words = ["opencode", "--http", "--port", port]
    config(home, sample, *words, "--write", "--check")
    rotated = run(home, "token", "rotate")
    assert "sightline config opencode --http --write" in rotated.stderr
    stale = config(home, sample, *words, "--check", code=3)
    assert "does not accept the token" in stale.stderr
    assert "--http --write" in stale.stderr
    config(home, sample, *words, "--write", "--check")


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": None},
        {"command": {"a": 1}, "args": 5, "env": ["x"]},
        {"url": 7, "headers": ["Authorization"]},
        {"url": "http://127.0.0.1:port/", "headers": {"Authorization": 5}},
        "nothing",
    ],
)
def test_whatever_other_entries_say_the_token_is_rotated(home: Path, entry: object) -> None:
    before = run(home, "token", "show").stdout
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").write_text(json.dumps({"mcpServers": {"mine": entry}}))
    done = run(home, "token", "rotate")
    assert done.returncode == 0, done.stderr
    assert run(home, "token", "show").stdout not in ("", before)


def test_a_token_that_is_asked_for_is_never_stale(home: Path, sample: Path, serve: Serve) -> None:
    port = str(serve(sample).port)
    words = ["claude-code", "--http", "--port", port]
    config(home, sample, *words, "--write", "--check")
    assert "sightline config" not in run(home, "token", "rotate").stderr
    config(home, sample, *words, "--check")


def test_a_client_that_does_not_repeat_the_revision_needs_a_server_that_knows(
    home: Path, sample: Path, serve: Serve
) -> None:
    words = ["vscode", "--http", "--port", str(serve(sample).port)]
    config(home, sample, *words, "--write", "--check")
    settings = home / ".config/sightline/sightline.toml"
    assert 'protocol_header = "session"' in settings.read_text(encoding="utf-8")
    settings.write_text("", encoding="utf-8")
    done = config(home, sample, *words, "--check", code=3)
    assert "wants to hear the revision" in done.stderr and "settings file" in done.stderr


def test_a_server_that_does_not_run_is_told_with_the_command_that_starts_it(
    home: Path, sample: Path
) -> None:
    port = str(free_port())
    config(home, sample, "codex", "--http", "--port", port, "--write")
    done = config(home, sample, "codex", "--check", code=4)
    assert f"nothing listens at http://127.0.0.1:{port}/mcp" in done.stderr
    assert "sightline serve" in done.stderr


class _Greeter(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(1)
        assert isinstance(self.server, _Stranger)
        self.request.sendall(self.server.greeting)


class _Stranger(socketserver.TCPServer):
    greeting: bytes


@pytest.fixture(
    params=[
        b"220 mail.example ready\r\n",
        b"HTTP/1.1 " + b"2" * 5_000 + b" x\r\n\r\n",
        b"HTTP/1.1 2 x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n<p>",
        b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n" + b"9" * 5_000,
        b"HTTP/1.1 200 OK\r\nx: y\r\n\r\n" + b"[" * 100_000,
    ],
    ids=["mail", "a long status", "a short status", "no JSON", "a long number", "depth"],
)
def stranger(request: pytest.FixtureRequest) -> Iterator[int]:
    """Another program that listens on the port."""
    with _Stranger(("127.0.0.1", 0), _Greeter) as server:
        server.greeting = request.param
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_another_program_on_the_port_is_recognised(home: Path, sample: Path, stranger: int) -> None:
    config(home, sample, "codex", "--http", "--port", str(stranger), "--write")
    done = config(home, sample, "codex", "--check", code=3)
    assert "is not sightline serve" in done.stderr or "is not an MCP server" in done.stderr


def test_nothing_is_sent_to_another_machine(home: Path, sample: Path) -> None:
    config(home, sample, "cursor", "--http", "--write")
    change(CLIENTS["cursor"], home, url="http://192.0.2.1:3939/mcp")
    done = config(home, sample, "cursor", "--check", code=3)
    assert "is not on this machine" in done.stderr


def test_a_client_that_was_not_configured_is_told_how(home: Path, sample: Path) -> None:
    done = config(home, sample, "gemini", "--check", code=4)
    assert "has no server sightline; run sightline config gemini --write" in done.stderr


def test_an_entry_that_is_switched_off_is_told(home: Path, sample: Path) -> None:
    config(home, sample, "opencode", "--write")
    change(CLIENTS["opencode"], home, enabled=False)
    done = config(home, sample, "opencode", "--check", code=3)
    assert "switched off" in done.stderr


def test_a_command_that_is_gone_is_told(home: Path, sample: Path) -> None:
    config(home, sample, "claude-code", "--write")
    change(CLIENTS["claude-code"], home, command="/nowhere/sightline")
    done = config(home, sample, "claude-code", "--check", code=6)
    assert "/nowhere/sightline cannot be started" in done.stderr
    assert "--write" in done.stderr


#: What an entry says, and what is said of that.
ODD_ENTRIES: dict[str, tuple[dict[str, Any], str]] = {
    "a header that is a number": ({"headers": {"Authorization": 5}}, "Authorization of the entry"),
    "a header over two lines": ({"headers": {"X-Own": "a\nb"}}, "the header X-Own has"),
    "a header in other letters": ({"headers": {"X-Own": "\u20ac"}}, "the header X-Own has"),
    "no port": ({"url": "http://127.0.0.1:99999/mcp"}, "99999/mcp is not one; write it anew: "),
    "half a bracket": ({"url": "http://[::1/mcp"}, "http://[::1/mcp is not one"),
    "other letters": ({"url": "http://127.0.0.1:3939/\u00e4"}, "is not one"),
    "a variable that is a number": ({"command": "cat", "args": [], "env": {"A": 1}}, "A of the "),
    "a variable that is two": ({"command": "cat", "args": [], "env": {"A=B": ""}}, "what answers"),
    "a command with a zero": ({"command": "cat\0", "args": []}, "cannot be started"),
}
#: What a server says to ``initialize``, and to ``tools/list``.
ODD_REPLIES = {
    "itself": ("cat", ""),
    "a number": ("5", ""),
    "no result": ('{"id": 0}', ""),
    "a result that is a list": ('{"id": 0, "result": []}', ""),
    "a result without a revision": ('{"id": 0, "result": {}}', ""),
    "an error that is a word": ('{"id": 0, "error": "no"}', ""),
    "tools that are none": (
        '{"id": 0, "result": {"protocolVersion": "1", "serverInfo": {"version": "1"}}}',
        '{"id": 1, "result": {"tools": {"name": "a"}}}',
    ),
}


@pytest.mark.parametrize(("members", "said"), ODD_ENTRIES.values(), ids=ODD_ENTRIES)
def test_an_entry_that_cannot_be_used_is_told(
    members: dict[str, Any], said: str, home: Path, sample: Path
) -> None:
    over_http = () if "command" in members else ("--http",)
    config(home, sample, "cursor", *over_http, "--write")
    change(CLIENTS["cursor"], home, **members)
    done = run(home, "config", "cursor", "--check", cwd=sample)
    assert done.returncode in (3, 6), done.stderr
    assert said in done.stderr and "bug" not in done.stderr


@pytest.mark.parametrize("replies", ODD_REPLIES.values(), ids=ODD_REPLIES)
def test_a_command_that_is_no_server_is_told(
    replies: tuple[str, str], home: Path, sample: Path
) -> None:
    config(home, sample, "cursor", "--write")
    lines = [f"read line; echo {shlex.quote(reply)}" for reply in replies]
    script = "cat" if replies[0] == "cat" else f"{lines[0]}; read line; {lines[1]}; cat"
    change(CLIENTS["cursor"], home, command="sh", args=["-c", script])
    done = config(home, sample, "cursor", "--check", code=3)
    assert "what answers is not an MCP server" in done.stderr


def test_a_server_that_refuses_to_start_is_quoted(home: Path, sample: Path) -> None:
    config(home, sample, "claude-code", "--write")
    change(CLIENTS["claude-code"], home, args=["stdio", "--set", "port=1"])
    done = config(home, sample, "claude-code", "--check", code=3)
    assert "the server ended at once: port must be from 1024 to 65535" in done.stderr


def test_an_answer_the_model_would_not_see_is_a_failure(home: Path, sample: Path) -> None:
    config(home, sample, "gemini", "--write")
    change(CLIENTS["gemini"], home, args=["stdio"])
    done = config(home, sample, "gemini", "--check", code=3)
    assert "shows its model nothing else" in done.stderr
    assert "--write" in done.stderr


def test_a_broken_command_for_the_token_is_told(home: Path, sample: Path) -> None:
    config(home, sample, "claude-code", "--http", "--write")
    change(CLIENTS["claude-code"], home, headersHelper="echo hello")
    done = config(home, sample, "claude-code", "--check", code=6)
    assert "(echo hello) does not print headers" in done.stderr


def test_a_file_that_cannot_be_read_is_told(home: Path, sample: Path) -> None:
    (home / ".claude.json").write_text("{")
    done = config(home, sample, "claude-code", "--check", code=3)
    assert "cannot be read" in done.stderr
    assert "repair it first" in done.stderr


# The client's own check, played by a script


OWN = {
    "content": ("echo 'Status: ✔ Connected'", 0, "ready: start claude"),
    "in a list": ("echo '✓ sightline: x (stdio) - Connected' >&2", 0, "ready: start claude"),
    "not content": (
        "echo 'Status: ✘ Failed to connect'",
        3,
        "Claude Code does not connect yet: run claude mcp get sightline to see more",
    ),
    "not trusting": (
        "echo 'servers are disabled because this folder is untrusted' >&2",
        3,
        "start claude here and trust the folder",
    ),
    "silent": ("exit 0", 3, "it does not name sightline"),
}


@pytest.mark.parametrize(("script", "code", "said"), OWN.values(), ids=OWN)
def test_the_clients_own_check_has_the_last_word(
    script: str,
    code: int,
    said: str,
    home: Path,
    sample: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    done = config(home, sample, "claude-code", "--write", "--check", code=code)
    assert said in done.stdout + done.stderr


def test_a_client_that_lies_in_the_project_is_not_run(
    home: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = sample / "claude"
    program.write_text("#!/bin/sh\ntouch ran\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{sample}:/usr/bin:/bin")
    done = config(home, sample, "claude-code", "--write", "--check")
    assert "claude is not on the search path" in done.stdout
    assert not (sample / "ran").exists()


def test_the_first_answer_can_be_asked_for_by_its_json(home: Path, sample: Path) -> None:
    """What ``config json`` shows is what a program can start."""
    shown = json.loads(config(home, sample, "json").stdout)["mcpServers"]["sightline"]
    assert [shown["command"], *shown["args"]] == [*command(), "stdio"]
