"""Rotating and removing the token of a running server takes effect on the next request."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.http import Answer, HttpServer
from tests.support.leaks import OUTSIDE, ledger
from tests.support.program import run

RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}


def knock(server: HttpServer, token: str) -> Answer:
    return server.request(RESPONSE, headers={"authorization": f"Bearer {token}"})


@pytest.mark.requirement("GT-rotation")
def test_rotation_and_removal(server: HttpServer) -> None:
    first = server.token
    assert knock(server, first).status == 202
    done = run(server.home, "token", "rotate")
    second = ledger.secret(done.stdout.strip())
    assert done.returncode == 0 and second == server.token != first
    assert knock(server, first).status == 401
    assert knock(server, second).status == 202
    kept = server.token_file.read_bytes()
    server.token_file.chmod(0o640)
    assert knock_without_file(server, second) == 401
    server.token_file.chmod(0o600)
    assert knock(server, second).status == 202
    server.token_file.write_bytes(b"garbage")
    assert knock_without_file(server, second) == 401
    server.token_file.write_bytes(kept)
    assert knock(server, second).status == 202
    server.token_file.unlink()
    assert knock_without_file(server, second) == 401
    server.token_file.symlink_to(server.home / "other.json")
    assert knock_without_file(server, second) == 401
    server.token_file.unlink()
    third = ledger.secret(run(server.home, "token", "rotate").stdout.strip())
    assert knock(server, third).status == 202


def knock_without_file(server: HttpServer, token: str) -> int:
    """The same while the file cannot be read, which the support class would do."""
    body = b'{"jsonrpc":"2.0","id":1,"result":{}}'
    head = (
        f"POST /mcp HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n"
        "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    with server.connect() as wire:
        wire.send(head.encode() + body)
        return wire.answer().status


@pytest.mark.requirement("GA-token-needed")
@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda file: file.write_text("x"), "malformed"),
        (lambda file: file.chmod(0o644), "open to others"),
        (lambda file: (file.unlink(), file.mkdir()), "not a regular file"),
        (lambda file: (file.unlink(), file.symlink_to("/dev/null")), "is a link; remove it"),
    ],
)
def test_a_server_does_not_start_with_a_bad_file(
    home: Path, sample: Path, spoil: Callable[[Path], object], reason: str
) -> None:
    run(home, "token", "show")
    file = home / ".local/share/sightline/tokens.json"
    spoil(file)
    done = run(home, "serve", sample)
    assert done.returncode == 3
    assert reason in done.stderr and "Traceback" not in done.stderr
    assert OUTSIDE not in done.stderr


def test_a_token_file_of_ones_own(home: Path, sample: Path, tmp_path: Path) -> None:
    file = tmp_path / "keys/mine.json"
    shown = run(home, "token", "show", "--token-file", file)
    assert shown.returncode == 0
    server = HttpServer.start([str(sample), "--token-file", str(file)], home_with(home, file))
    try:
        assert knock(server, ledger.secret(shown.stdout.strip())).status == 202
    finally:
        server.stop()


def home_with(home: Path, file: Path) -> Path:
    """The support class reads the token in its usual place."""
    usual = home / ".local/share/sightline"
    usual.mkdir(parents=True)
    (usual / "tokens.json").write_bytes(file.read_bytes())
    return home


def test_a_token_file_inside_a_root_is_refused(home: Path, sample: Path) -> None:
    """A token does not belong into a repository."""
    done = run(home, "serve", sample, "--token-file", sample / "tokens.json")
    assert done.returncode == 3 and "inside a root" in done.stderr
    assert not (sample / "tokens.json").exists()
