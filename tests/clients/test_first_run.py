"""What a new user meets on the first day: each has a message that names the next step.

Every situation is made for real: a port that is taken, a home that cannot be written, a disk that
is full, a room without a network.
"""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clients.room import Room
from tests.support.http import HttpServer, free_port, initialize
from tests.support.program import command, environment, run

ROOT = Path(__file__).parent.parent.parent
FIRST_AID = (ROOT / "docs/first-aid.md").read_text(encoding="utf-8")


def test_a_port_that_is_taken(home: Path, sample: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run(home, "serve", sample, "--port", str(port))
    assert done.returncode == 3
    assert done.stderr.replace(str(port), "3939").strip() in FIRST_AID


def test_a_second_instance(home: Path, sample: Path, serve: Callable[..., HttpServer]) -> None:
    first = serve(sample)
    done = run(home, "serve", sample, "--port", str(first.port))
    assert done.returncode == 3
    said = f"port {first.port} is taken by your own sightline serve (pid {first.process.pid})"
    assert f"{said}, which serves {sample}; " in done.stderr and "another --port" in done.stderr
    assert f"sightline config CLIENT --http --port {first.port} --write --check. " in done.stderr
    other = sample.parent / "other folder"
    other.mkdir()
    done = run(home, "serve", sample, other, "--port", str(first.port))
    assert f"several clients: sightline roots add '{other}'. " in done.stderr
    listed = json.loads(run(home, "status", "--json").stdout)
    assert [program["pid"] for program in listed] == [first.process.pid]


def test_the_banner_says_how_to_connect(home: Path, sample: Path) -> None:
    with subprocess.Popen(
        command("serve", sample, "--port", str(free_port())),
        stderr=subprocess.PIPE,
        text=True,
        env=environment(home),
    ) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "connect a client" in line)
            words = line.partition("sightline config CLIENT ")[2].split()
            done = run(home, "config", "opencode", *words, cwd=sample)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    assert "ready: " in done.stdout


def test_the_banner_of_a_program_that_is_not_on_the_path(home: Path, sample: Path) -> None:
    """``make serve`` runs the one in the clone, which no shell finds by its name."""
    program, *words = command("serve", sample, "--port", str(free_port()))
    with subprocess.Popen(
        [program, *words],
        stderr=subprocess.PIPE,
        text=True,
        env=environment(home, {"PATH": "/usr/bin:/bin"}),
    ) as server:
        try:
            assert server.stderr is not None
            line = next(line for line in server.stderr if "connect a client" in line)
        finally:
            server.terminate()
    assert f"connect a client: {program} config CLIENT --http" in line


def test_a_server_that_was_started_before_its_settings_for_a_client(
    home: Path, sample: Path, serve: Callable[..., HttpServer]
) -> None:
    """It reads them when they come. A file that cannot be read changes nothing."""
    server = serve(sample)
    flags = ("--http", "--port", str(server.port))
    done = run(home, "config", "cursor", *flags, "--write", "--check", cwd=sample)
    assert done.returncode == 0, done.stderr
    settings = home / ".config/sightline/sightline.toml"
    with settings.open("a", encoding="utf-8") as file:
        file.write("[broken\n")
    options = (server.request(initialize(name)) for name in ("cursor-vscode", "other"))
    names = ["".join(opened.json["result"]["_meta"]["tools"]) for opened in options]
    assert "vscode_lsp_hover" in names[0] and "vscode.lsp.hover" in names[1]
    settings.unlink()
    opened = server.request(initialize("cursor-vscode"))
    assert "vscode.lsp.hover" in opened.json["result"]["_meta"]["tools"]


def test_a_client_with_a_token_that_was_rotated(
    home: Path, sample: Path, serve: Callable[..., HttpServer]
) -> None:
    server = serve(sample)
    flags = ("--http", "--port", str(server.port))
    assert run(home, "config", "opencode", *flags, "--write", cwd=sample).returncode == 0
    rotated = run(home, "token", "rotate")
    advice = f"sightline config opencode --http --write --port {server.port}\n"
    assert advice in rotated.stderr
    run(home, "token", "rotate")  # the one before last is not accepted any more
    stale = run(home, "config", "opencode", *flags, "--check", cwd=sample)
    assert stale.returncode == 3
    assert "does not accept the token" in stale.stderr and advice in stale.stderr
    healed = run(home, "config", "opencode", *flags, "--write", "--check", cwd=sample)
    assert healed.returncode == 0 and "ready: " in healed.stdout


def test_no_git_and_no_code(home: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = run(home, "config", "claude-code", "--write", "--check", cwd=empty)
    assert done.returncode == 0, done.stderr
    assert "ready: " in done.stdout
    asked = run(home, "call", "vscode.lsp.workspaceSymbols", '{"query":"x"}', cwd=empty)
    assert asked.returncode == 6 and "sightline doctor" in asked.stderr


def test_no_language_server(home: Path, sample: Path) -> None:
    """The command of the bundled server leads nowhere, as after a broken installation."""
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('[servers.ty]\ncommand = ["no-such-program"]\n', encoding="utf-8")
    checked = run(home, "config", "codex", "--write", "--check", cwd=sample)
    assert checked.returncode == 6
    assert checked.stderr.endswith("run sightline doctor\n")
    assert "[MCP" not in checked.stderr, "codes are for programs"
    doctor = run(home, "doctor", cwd=sample)
    assert f"note    Python in {sample}: no language server for Python" in doctor.stdout
    assert "fix: " in doctor.stdout


def test_folders_that_cannot_be_made(home: Path, sample: Path, tmp_path: Path) -> None:
    """As in a read-only home, but also for root: nothing can be made below a file."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    places = dict.fromkeys(("XDG_DATA_HOME", "XDG_CACHE_HOME"), str(tmp_path / "file/folder"))
    served = run(home, "serve", sample, cwd=sample, extra=places)
    assert served.returncode == 3 and "XDG_DATA_HOME" in served.stderr
    doctor = run(home, "doctor", cwd=sample, extra=places)
    assert doctor.returncode == 6 and "or set XDG_CACHE_HOME" in doctor.stdout
    (home / ".cursor").write_text("", encoding="utf-8")
    written = run(home, "config", "cursor", "--write", cwd=sample)
    assert written.returncode == 3 and "by hand" in written.stderr


def test_no_network(home: Path, sample: Path) -> None:
    """In a room with loopback only, everything works from the first call on."""
    with Room() as room:
        if not room.closed:
            pytest.skip("this system lets no one make a network namespace")
        for words in (["doctor"], ["index", "build"], ["config", "codex", "--write", "--check"]):
            done = subprocess.run(
                room.inside(command(*words)),
                env=environment(home),
                cwd=sample,
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr


def test_a_full_disk(home: Path, sample: Path, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    steps = [
        f"mount -t tmpfs -o size=64k none {small}",
        f"mkdir {small}/data {small}/cache",
        f"head -c 70000 /dev/zero > {small}/filling 2>/dev/null",
        'shift 0; for words in "$@"; do "$0" $words 2>&1; echo "= $?"; done',
    ]
    question = '{"query":"area"}'
    asked = ["doctor", "index build", f"call vscode.lsp.workspaceSymbols {question}", "token show"]
    extra = {"XDG_DATA_HOME": f"{small}/data", "XDG_CACHE_HOME": f"{small}/cache"}
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("this system has no unshare, so that no disk can be filled")
    done = subprocess.run(
        [unshare, "-Urm", "bash", "-c", "; ".join(steps), command()[0], *asked],
        env=environment(home, extra),
        cwd=sample,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "= " not in done.stdout:
        pytest.skip("this system lets no one mount in a namespace")
    doctor, build, call, token, _ = done.stdout.split("= ")
    assert "no space is left" in doctor and "free some space" in doctor
    assert "free some space" in build
    assert '"name":"area"' in call or "free some space" in call, "an answer needs no space"
    assert "No space left" in token and "free some space" in token
    assert "INTERNAL" not in done.stdout and "bug" not in done.stdout


def test_a_wheel_without_a_clone(home: Path, sample: Path, tmp_path: Path) -> None:
    """``python -m sightline`` is the same program, for those without the script on their path."""
    done = subprocess.run(
        [sys.executable, "-m", "sightline", "--version"],
        env=environment(home),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert done.stdout == run(home, "--version").stdout


def test_the_wrong_token_is_told_apart_from_no_server(home: Path, sample: Path) -> None:
    port = str(free_port())
    run(home, "config", "cursor", "--http", "--port", port, "--write", cwd=sample)
    nobody = run(home, "config", "cursor", "--http", "--port", port, "--check", cwd=sample)
    assert nobody.returncode == 4
    assert f"start it: sightline serve --port {port}\n" in nobody.stderr
