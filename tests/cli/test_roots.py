"""``sightline roots``: folders come and go while a server runs, and its sessions go on."""

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import HttpServer
from tests.support.program import run

Make = Callable[..., Path]


@pytest.fixture
def one(workspace: Make) -> Path:
    return workspace({"one.py": "def first(): ...\n"}, "one")


@pytest.fixture
def two(workspace: Make) -> Path:
    return workspace({"two.py": "def second(): ...\n"}, "two")


@pytest.fixture
def server(home: Path, one: Path) -> Iterator[HttpServer]:
    with HttpServer.start([str(one)], home) as running:
        running.initialize()
        yield running


def outline(server: HttpServer, file: Path) -> Any:
    """Names in a file, or the code of the refusal."""
    answer = server.call("vscode.lsp.documentSymbols", {"uri": file.as_uri()})
    if "error" in answer:
        return answer["error"]["data"]["code"].rpartition("/")[2]
    return [symbol["name"] for symbol in answer["result"]["structuredContent"]["symbols"]]


def found(server: HttpServer, query: str) -> list[str]:
    server.call("index_build", {})
    answer = server.call("search", {"query": query, "mode": "literal"})
    return [item["path"] for item in answer["result"]["structuredContent"]["items"]]


def test_a_root_comes_and_goes(server: HttpServer, home: Path, one: Path, two: Path) -> None:
    assert run(home, "roots").stdout == f"{one}\n"
    assert outline(server, one / "one.py") == ["first"]
    assert outline(server, two / "two.py") == "WORKSPACE_DENIED"
    assert found(server, "def") == ["one.py"]
    assert run(home, "roots", "add", two).stdout == f"{one}\n{two}\n"
    assert outline(server, two / "two.py") == ["second"]
    assert sorted(found(server, "def")) == ["one.py", "two.py"]
    assert run(home, "roots", "remove", one).stdout == f"{two}\n"
    assert outline(server, one / "one.py") == "WORKSPACE_DENIED"
    assert found(server, "def") == ["two.py"]
    (one / "more.py").write_text("def third(): ...\n")
    assert run(home, "roots", "add", one).stdout == f"{one}\n{two}\n"
    assert sorted(found(server, "def")) == ["more.py", "one.py", "two.py"]
    status = json.loads(run(home, "status", "--json").stdout)
    assert [row["path"] for row in status[0]["roots"]] == [str(one), str(two)]


def test_a_root_is_removed_by_the_name_it_is_listed_by(
    server: HttpServer, home: Path, one: Path, two: Path
) -> None:
    """Also when it has moved, and a link in its place leads to another root."""
    moved = one.rename(one.with_name("moved"))
    one.symlink_to(moved)
    assert run(home, "roots", "add", moved, two).stdout == f"{moved}\n{one}\n{two}\n"
    assert run(home, "roots", "remove", one).stdout == f"{moved}\n{two}\n"
    assert outline(server, moved / "one.py") == ["first"]
    assert run(home, "roots", "remove", one).stdout == f"{two}\n", "by what a link leads to"


def test_what_is_refused_changes_nothing(
    server: HttpServer, home: Path, one: Path, two: Path
) -> None:
    refused: dict[tuple[str | Path, ...], str] = {
        ("remove", one): "the last root stays",
        ("remove", two): "is not a root",
        ("add", two / "two.py"): "is not a folder",
        ("add", two / "absent"): "does not exist",
        ("add", home): "is the home folder",
        ("add", "/"): "cannot be a root",
        ("add", server.token_file.parent): "the token file lies inside a root",
        ("add", two, two / "absent"): "does not exist",
    }
    for arguments, why in refused.items():
        done = run(home, "roots", *arguments)
        assert done.returncode == 3 and why in done.stderr, done.stderr
        assert run(home, "roots", "list").stdout == f"{one}\n"
    for words in (("add",), ("remove",), ("list", str(one))):
        assert run(home, "roots", *words).returncode == 2


def test_which_server_is_meant(server: HttpServer, home: Path, one: Path, two: Path) -> None:
    with HttpServer.start([str(two)], home) as other:
        done = run(home, "roots")
        assert done.returncode == 2 and "--pid" in done.stderr
        assert run(home, "roots", "--pid", str(other.process.pid)).stdout == f"{two}\n"
    assert run(home, "roots").stdout == f"{one}\n"


def test_nobody_to_ask(home: Path, two: Path) -> None:
    done = run(home, "roots", "add", two)
    assert done.returncode == 4 and "no sightline serve is running" in done.stderr


def test_only_the_user_may_ask(server: HttpServer, home: Path) -> None:
    (socket,) = (home / ".local/share/sightline/run").glob("*.roots")
    assert stat.S_IMODE(socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    server.stop()
    assert not socket.exists()
