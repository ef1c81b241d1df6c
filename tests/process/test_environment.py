"""What a child sees: an allow-list, and a search path without workspace folders."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.process.environment import child_environment, find_program, lies_in, safe_path
from tests.support.http import HttpServer
from tests.support.leaks import ENVIRONMENT
from tests.support.processes import children_of

SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "x",
    "GITHUB_TOKEN": "x",
    "SSH_AUTH_SOCK": "x",
    "SIGHTLINE_PORT": "4000",
    "LD_PRELOAD": "/x.so",
    "LD_LIBRARY_PATH": "/x",
    "PYTHONPATH": "/x",
    "PYTHONSTARTUP": "/x",
    "NODE_OPTIONS": "--require /x",
    "BASH_ENV": "/x",
    "GIT_SSH_COMMAND": "/x",
    "RUSTC_WRAPPER": "/x",
    "http_proxy": "x",
    "VIRTUAL_ENV": "/x",
}


def test_only_listed_variables_pass() -> None:
    own = SECRETS | {"HOME": "/h", "LANG": "C", "LC_ALL": "C", "TMPDIR": "/t", "PATH": "/bin"}
    assert child_environment(own, []) == {
        "HOME": "/h",
        "LANG": "C",
        "LC_ALL": "C",
        "TMPDIR": "/t",
        "PATH": "/bin",
    }


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_no_other_name_passes(own: dict[str, str]) -> None:
    seen = child_environment(own, [])
    assert not {name for name in seen if "TOKEN" in name.upper() or "KEY" in name.upper()}
    assert "PATH" in seen


def test_what_a_server_needs_is_added() -> None:
    assert child_environment({"GOFLAGS": "-mod=mod"}, [], {"GOFLAGS": "x"})["GOFLAGS"] == "x"


def test_the_search_path(tmp_path: Path) -> None:
    inside = tmp_path / "ws/node_modules/.bin"
    inside.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(inside)
    outside = tmp_path / "bin"
    outside.mkdir()
    path = os.pathsep.join(["", ".", "relative", str(inside), str(link), str(outside), "/bin"])
    assert safe_path(path, [str(tmp_path / "ws")]) == [str(outside), "/bin"]


def test_finding_a_program(tmp_path: Path) -> None:
    def program(path: Path, mode: int = 0o755) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n", encoding="utf-8")
        path.chmod(mode)
        return path

    root = tmp_path / "ws"
    evil = program(root / "tool")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/tool").symlink_to(evil)
    program(tmp_path / "b/tool", 0o644)
    (tmp_path / "c/tool").mkdir(parents=True)
    good = program(tmp_path / "d/tool")
    folders = [str(tmp_path / name) for name in "abcd"]
    assert find_program("tool", folders, [str(root)]) == str(good)
    assert find_program("tool", folders, []) == str(tmp_path / "a/tool")
    assert find_program("other", folders, []) is None


@pytest.mark.requirement("GA-nothing-logged")
def test_a_running_language_server_sees_no_secret(
    serve: Callable[..., HttpServer], sample: Path
) -> None:
    """Of the environment as the kernel shows it, for every process below a server."""
    server = serve(sample)
    server.call("vscode.lsp.documentSymbols", {"uri": (sample / "main.py").as_uri()})
    below = children_of(server.process.pid)
    assert len(below) >= 2, "a keeper and a language server"
    for pid in below:
        seen = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        names = {entry.partition(b"=")[0].decode() for entry in seen if entry}
        assert ENVIRONMENT.encode() not in b"\0".join(seen)
        guard = {"NODE_OPTIONS", "SIGHTLINE_GUARD_ROOTS", "SIGHTLINE_GUARD_PROGRAMS", "GOMEMLIMIT"}
        plain = {"HOME", "LANG", "PATH", "TMPDIR", "SIGHTLINE_TREE", "LC_CTYPE"}
        folders = {"XDG_CACHE_HOME", "XDG_CONFIG_HOME"}  # the latter of ty, with nothing in it
        assert names <= plain | folders | guard
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        assert server.token.encode() not in command + b"\0".join(seen)
    own = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    assert server.token.encode() not in own


def test_whether_a_variable_names_something_in_a_root(tmp_path: Path) -> None:
    root, link = tmp_path / "ws", tmp_path / "link"
    root.mkdir()
    link.symlink_to(root)
    assert lies_in(f"/usr{os.pathsep}{root}/go", [str(root)])
    assert lies_in(f"{link}/go", [str(root)])
    assert not lies_in(f"{tmp_path}/go", [str(root)])
    assert not lies_in("auto", [str(root)])


def test_a_root_with_the_sign_that_separates_paths(tmp_path: Path) -> None:
    root, link = tmp_path / f"w{os.pathsep}s", tmp_path / f"li{os.pathsep}nk"
    root.mkdir()
    link.symlink_to(root)
    assert lies_in(f"{root}/go", [str(root)])
    assert lies_in(f"{link}/go", [str(root)])
    assert not lies_in(f"{tmp_path}/w", [str(root)])
