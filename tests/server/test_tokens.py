"""The token file: what it must be, and how a token is compared."""

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from sightline.server.tokens import BadTokenFile, TokenFile, Tokens, bearer
from tests.vectors import load

VECTORS = load("gateway")


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "data/tokens.json")


def write(file: TokenFile, content: bytes, mode: int = 0o600) -> None:
    file.path.parent.mkdir(mode=0o700, exist_ok=True)
    file.path.write_bytes(content)
    file.path.chmod(mode)


@pytest.mark.requirement("GT-token-file", "GA-token-needed")
def test_a_first_token_is_made(file: TokenFile) -> None:
    old = os.umask(0)
    try:
        (token,) = file.provision()
    finally:
        os.umask(old)
    assert len(token) == 43
    status = file.path.stat()
    assert stat.S_IMODE(status.st_mode) == 0o600
    assert stat.S_IMODE(file.path.parent.stat().st_mode) == 0o700
    assert file.provision() == [token], "it is made once"
    assert os.listdir(file.path.parent) == ["tokens.json"]


def test_many_at_once_agree_on_one_token(file: TokenFile) -> None:
    made: list[list[str]] = []
    start = threading.Barrier(8)

    def provision() -> None:
        start.wait()
        made.append(TokenFile(file.path).provision())

    threads = [threading.Thread(target=provision) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8 and made == [made[0]] * 8
    assert os.listdir(file.path.parent) == ["tokens.json"]


def test_rotation_replaces_the_file(file: TokenFile) -> None:
    (old,) = file.provision()
    inode = file.path.stat().st_ino
    with file.path.open("rb") as held:
        new = file.rotate()
        assert json.loads(held.read()) == [old], "a reader sees one or the other, never a mixture"
    assert file.read() == [new] != [old]
    assert file.path.stat().st_ino != inode
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


def test_rotation_mends_a_bad_file(file: TokenFile) -> None:
    write(file, b"nonsense", 0o644)
    token = file.rotate()
    assert file.read() == [token]


@pytest.mark.requirement("GT-token-file", "GA-token-needed")
@pytest.mark.parametrize(
    "content",
    [b"", b"x", b"{}", b"null", b"[]", b"[1]", b'["a",1]', b'[""]', b'["a"," "]', b'"a"',
     b'["a"', b'["\xff"]', b"[" + b",".join([b'"a"'] * 33) + b"]", b'["' + b"a" * 70_000 + b'"]'],
)  # fmt: skip
def test_a_malformed_file_closes_the_door(file: TokenFile, content: bytes) -> None:
    write(file, content)
    with pytest.raises(BadTokenFile, match="rotate"):
        file.provision()
    assert len(file.current()) == 0


def test_tokens_are_trimmed_and_several_are_valid(file: TokenFile) -> None:
    write(file, b'[" one ", "two"]')
    assert file.read() == ["one", "two"]
    tokens = file.current()
    assert tokens.accepts("one") and tokens.accepts("two") and not tokens.accepts(" one ")


@pytest.mark.requirement("GT-token-file")
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o660, 0o666, 0o601, 0o610])
def test_a_file_open_to_others_closes_the_door(file: TokenFile, mode: int) -> None:
    write(file, b'["a"]', mode)
    with pytest.raises(BadTokenFile, match="open to others"):
        file.provision()
    assert not file.current().accepts("a")


@pytest.mark.requirement("GT-token-file")
def test_a_link_closes_the_door(file: TokenFile, tmp_path: Path) -> None:
    real = tmp_path / "real.json"
    real.write_bytes(b'["a"]')
    real.chmod(0o600)
    file.path.parent.mkdir()
    file.path.symlink_to(real)
    with pytest.raises(BadTokenFile, match="the token file is a link; remove it, then run"):
        file.provision()
    assert not file.current().accepts("a")
    assert file.rotate() and not file.path.is_symlink()
    assert real.read_bytes() == b'["a"]', "what the link pointed to is not touched"


def test_a_dangling_link_is_not_followed(file: TokenFile, tmp_path: Path) -> None:
    file.path.parent.mkdir()
    file.path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(BadTokenFile):
        file.provision()
    assert not (tmp_path / "elsewhere.json").exists()


@pytest.mark.requirement("GT-token-file")
def test_a_pipe_closes_the_door_at_once(file: TokenFile) -> None:
    file.path.parent.mkdir()
    os.mkfifo(file.path, 0o600)
    with pytest.raises(BadTokenFile, match="regular"):
        file.provision()
    assert len(file.current()) == 0


def test_a_folder_closes_the_door(file: TokenFile) -> None:
    file.path.mkdir(parents=True)
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        with pytest.raises(BadTokenFile, match="regular"):
            file.provision()
        assert len(file.current()) == 0
    assert len(os.listdir("/proc/self/fd")) == before, "and leaves nothing open"


@pytest.mark.requirement("GT-token-file")
@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
def test_a_file_of_another_user_closes_the_door(file: TokenFile) -> None:
    write(file, b'["a"]')
    os.chown(file.path, 65_534, -1)
    with pytest.raises(BadTokenFile, match="another user"):
        file.provision()
    assert not file.current().accepts("a")


@pytest.mark.requirement("GT-rotation")
def test_every_change_is_seen(file: TokenFile) -> None:
    (first,) = file.provision()
    assert file.current().accepts(first)
    second = TokenFile(file.path).rotate()
    assert file.current().accepts(second) and not file.current().accepts(first)
    file.path.chmod(0o644)
    assert not file.current().accepts(second)
    file.path.chmod(0o600)
    assert file.current().accepts(second)
    file.path.unlink()
    assert not file.current().accepts(second)
    write(file, json.dumps([first]).encode())
    assert file.current().accepts(first)


def test_texts_name_no_path_and_no_token(file: TokenFile) -> None:
    write(file, b'["the-secret-token"')
    with pytest.raises(BadTokenFile) as bad:
        file.read()
    assert "the-secret" not in str(bad.value) and str(file.path.parent) not in str(bad.value)


@pytest.mark.parametrize("row", VECTORS["bearer_extract"])
def test_known_headers(row: dict[str, str]) -> None:
    assert bearer(row["in"]) == row["out"]


@pytest.mark.parametrize(
    ("header", "token"),
    [("", None), ("Bearer", None), ("Bearer ", None), ("Basic x", None), ("Bearerx", None),
     ("Bearer\tx", "x"), ("bearer \t x y ", "x y"), ("Bearer\u00a0x", None)],
)  # fmt: skip
def test_headers(header: str, token: str | None) -> None:
    assert bearer(header) == token


def test_comparison() -> None:
    tokens = Tokens(["one", "two", "one"])
    assert len(tokens) == 2
    assert tokens.accepts("two")
    assert not any(map(tokens.accepts, [None, "", "on", "onee", "ONE", "\udcff"]))
    assert not Tokens([]).accepts("") and not Tokens([]).accepts(None)
    assert len(Tokens([str(number) for number in range(50)])) == 32
