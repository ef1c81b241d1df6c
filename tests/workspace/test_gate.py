"""Nothing outside the roots is read or named, whatever spelling or link leads there."""

import os
import socket
from pathlib import Path

import pytest

from sightline.contract.failures import Failure, NotFound, UriInvalid, WorkspaceDenied
from sightline.workspace.gate import Gate, Hidden
from sightline.workspace.roots import BadRoot, RootSet, default_root, open_root


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    root = tmp_path / "ws"
    (root / "pkg").mkdir(parents=True)
    (root / "pkg" / "a.py").write_text("a = 1\n")
    (root / "spaced name ü.py").write_text("b = 2\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("secret = 1\n")
    return root


@pytest.fixture
def gate(ws: Path) -> Gate:
    return gate_of(ws)


def gate_of(*roots: Path) -> Gate:
    return Gate(RootSet.of(open_root(str(root), home=None) for root in roots))


def refused(gate: Gate, uri: str) -> type[Failure]:
    with pytest.raises(Failure) as caught:
        gate.read(gate.admit(uri))
    return caught.type


def test_a_file_inside_is_read_under_its_canonical_uri(gate: Gate, ws: Path) -> None:
    file = gate.admit((ws / "pkg" / "a.py").as_uri())
    assert file.uri == (ws / "pkg" / "a.py").as_uri()
    assert gate.read(file) == b"a = 1\n"


@pytest.mark.parametrize(
    "spelling",
    [
        "file://{ws}/pkg/a.py",
        "file:{ws}/pkg/a.py",
        "file://{ws}/pkg/./a.py",
        "file://{ws}/pkg//a.py",
        "file://{ws}/x/../pkg/a.py",
        "file://{ws}/%70kg/a.py",
        "file://{ws}/pkg%2Fa.py",
    ],
)
def test_every_spelling_leads_to_one_uri(gate: Gate, ws: Path, spelling: str) -> None:
    uri = spelling.format(ws=str(ws))
    assert gate.admit(uri).uri == (ws / "pkg" / "a.py").as_uri()


def test_spaces_and_other_scripts(gate: Gate, ws: Path) -> None:
    path = ws / "spaced name ü.py"
    assert gate.read(gate.admit(path.as_uri())) == b"b = 2\n"
    assert gate.read(gate.admit(f"file://{path}")) == b"b = 2\n"


@pytest.mark.parametrize(
    "uri",
    [
        "file://{out}/secret.py",
        "file://{out}/missing.py",
        "file://{ws}/../outside/secret.py",
        "file://{ws}/%2e%2e/outside/secret.py",
        "file://{ws}/..%2Foutside/secret.py",
        "file:///etc/passwd",
        "file:///",
        "file://{ws}x/a.py",
    ],
)
def test_outside_is_denied_whether_it_exists_or_not(
    gate: Gate, ws: Path, tmp_path: Path, uri: str
) -> None:
    assert refused(gate, uri.format(ws=ws, out=tmp_path / "outside")) is WorkspaceDenied


@pytest.mark.parametrize(
    "uri",
    [
        "http://127.0.0.1/a.py",
        "FILE://{ws}/pkg/a.py",
        " file://{ws}/pkg/a.py",
        "{ws}/pkg/a.py",
        "pkg/a.py",
        "file:pkg/a.py",
        "file:",
        "file://localhost{ws}/pkg/a.py",
        "file://host/share/a.py",
        "file:////{ws}/pkg/a.py",
        "file://{ws}/pkg/a.py?x",
        "file://{ws}/pkg/a.py#L1",
        "file://{ws}/pkg/a.py%00",
        "file://{ws}/pkg/a%zz.py",
        "file://{ws}/pkg/a\n.py",
        "file://{ws}/pkg/missing.py",
        "file://{ws}/pkg/a.py/b.py",
        "file://{ws}/pkg/a.py/",
        "",
    ],
)
def test_malformed_or_missing_inside_is_invalid(gate: Gate, ws: Path, uri: str) -> None:
    assert refused(gate, uri.format(ws=ws)) is UriInvalid


def test_link_inside_the_roots_gives_the_target(gate: Gate, ws: Path) -> None:
    (ws / "link.py").symlink_to(ws / "pkg" / "a.py")
    (ws / "folder").symlink_to("pkg")
    assert gate.admit((ws / "link.py").as_uri()).uri == (ws / "pkg" / "a.py").as_uri()
    assert gate.admit(f"file://{ws}/folder/a.py").uri == (ws / "pkg" / "a.py").as_uri()


def test_links_that_leave_are_denied(gate: Gate, ws: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (ws / "file.py").symlink_to(outside / "secret.py")
    (ws / "gone.py").symlink_to(outside / "missing.py")
    (ws / "folder").symlink_to(outside)
    (ws / "relative.py").symlink_to("../outside/secret.py")
    (ws / "chain.py").symlink_to("file.py")
    for name in ("file.py", "gone.py", "folder/secret.py", "relative.py", "chain.py"):
        assert refused(gate, f"file://{ws}/{name}") is WorkspaceDenied


def test_a_link_out_and_back_in_is_denied_at_the_first_step_outside(
    gate: Gate, ws: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside" / "back").symlink_to(ws / "pkg")
    (ws / "round").symlink_to(tmp_path / "outside" / "back")
    assert refused(gate, f"file://{ws}/round/a.py") is WorkspaceDenied


def test_link_loops_end(gate: Gate, ws: Path) -> None:
    (ws / "x").symlink_to("y")
    (ws / "y").symlink_to("x")
    assert refused(gate, f"file://{ws}/x") is UriInvalid


def test_a_root_given_through_a_link(ws: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(ws)
    gate = gate_of(tmp_path / "alias")
    real = (ws / "pkg" / "a.py").as_uri()
    assert gate.admit(f"file://{tmp_path}/alias/pkg/a.py").uri == real
    assert gate.admit(real).uri == real
    assert gate.shown_uri(f"file://{tmp_path}/alias/pkg/a.py") == real


def test_version_control_folders_are_hidden(gate: Gate, ws: Path) -> None:
    (ws / ".git").mkdir()
    (ws / ".git" / "config").write_text("[core]\n")
    (ws / "peek").symlink_to(".git")
    assert refused(gate, f"file://{ws}/.git/config") is WorkspaceDenied
    assert refused(gate, f"file://{ws}/peek/config") is WorkspaceDenied
    assert gate.shown_uri(f"file://{ws}/.git/config") is None


def test_only_regular_files_are_documents(gate: Gate, ws: Path) -> None:
    os.mkfifo(ws / "pipe.py")
    with socket.socket(socket.AF_UNIX) as unix:
        old = os.getcwd()
        os.chdir(ws)
        try:
            unix.bind("sock.py")
        finally:
            os.chdir(old)
        for name in ("pkg", "pipe.py", "sock.py"):
            assert refused(gate, f"file://{ws}/{name}") is NotFound


def test_a_document_that_is_too_large(gate: Gate, ws: Path) -> None:
    with (ws / "huge.py").open("wb") as file:
        file.truncate(1 << 30)
    assert refused(gate, f"file://{ws}/huge.py") is NotFound


def test_a_link_swapped_in_after_the_check_gains_nothing(
    gate: Gate, ws: Path, tmp_path: Path
) -> None:
    file = gate.admit(f"file://{ws}/pkg/a.py")
    (ws / "pkg" / "a.py").unlink()
    (ws / "pkg" / "a.py").symlink_to(tmp_path / "outside" / "secret.py")
    with pytest.raises(WorkspaceDenied):
        gate.read(file)


def test_a_folder_swapped_after_the_check_gains_nothing(
    gate: Gate, ws: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside" / "a.py").write_text("secret\n")
    file = gate.admit(f"file://{ws}/pkg/a.py")
    (ws / "pkg").rename(ws / "old")
    (ws / "pkg").symlink_to(tmp_path / "outside")
    with pytest.raises(WorkspaceDenied):
        gate.read(file)


def test_no_roots_deny_everything() -> None:
    assert refused(Gate(RootSet.of(())), "file:///etc/passwd") is WorkspaceDenied


def test_nested_and_neighbouring_roots(ws: Path, tmp_path: Path) -> None:
    (ws / "to_other.py").symlink_to(tmp_path / "outside" / "secret.py")
    gate = gate_of(ws, ws / "pkg", tmp_path / "outside")
    assert gate.read(gate.admit(f"file://{ws}/to_other.py")) == b"secret = 1\n"
    root = gate.roots.containing(str(ws / "pkg" / "a.py"))
    assert root is not None
    assert root.real == str(ws / "pkg")


def test_what_may_be_shown(gate: Gate, ws: Path, tmp_path: Path) -> None:
    (ws / "out.py").symlink_to(tmp_path / "outside" / "secret.py")
    assert gate.shown_uri(f"file://{ws}/pkg/a.py") == f"file://{ws}/pkg/a.py"
    (ws / "gone.py").symlink_to("missing.py")
    (ws / "out").symlink_to(tmp_path / "outside")
    (ws / ".git").mkdir()
    for uri, why in (
        (f"file://{tmp_path}/outside/secret.py", Hidden.OUTSIDE),
        (f"file://{tmp_path}/outside/", Hidden.OUTSIDE),
        (f"file://{tmp_path}/outside/missing.py", Hidden.OUTSIDE),
        (f"file://{ws}/out.py", Hidden.OUTSIDE),
        (f"file://{ws}/out/secret.py", Hidden.OUTSIDE),
        (f"file://{ws}/missing.py", Hidden.MISSING),
        (f"file://{ws}/gone.py", Hidden.MISSING),
        (f"file://{ws}/missing/a.py", Hidden.MISSING),
        (f"file://{ws}/pkg/a.py/b.py", Hidden.MISSING),
        (f"file://{ws}/.git", Hidden.PRIVATE),
        (f"file://{ws}/.git/config", Hidden.PRIVATE),
        (f"file://{ws}/pkg/", Hidden.NO_FILE),
        ("untitled:Untitled-1", Hidden.NO_FILE),
        ("http://example.com/a.py", Hidden.NO_FILE),
        ("file://host/a.py", Hidden.NO_FILE),
    ):
        assert gate.look_at(uri) is why, uri
        assert gate.shown_uri(uri) is None


def test_forbidden_roots(tmp_path: Path) -> None:
    for path in ("/", "/proc", "/proc/self", "/sys", "/dev", "/dev/shm"):
        with pytest.raises(BadRoot):
            open_root(path, home=str(tmp_path))
    with pytest.raises(BadRoot, match="home"):
        open_root(str(tmp_path), home=str(tmp_path))
    (tmp_path / "to-root").symlink_to("/")
    with pytest.raises(BadRoot):
        open_root(str(tmp_path / "to-root"), home=None)
    with pytest.raises(BadRoot, match="does not exist"):
        open_root(str(tmp_path / "missing"), home=None)
    (tmp_path / "file").touch()
    with pytest.raises(BadRoot, match="not a folder"):
        open_root(str(tmp_path / "file"), home=None)


def test_default_root_is_the_nearest_repository(tmp_path: Path) -> None:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "a" / "b").mkdir(parents=True)
    (tmp_path / "plain").mkdir()
    assert default_root(str(tmp_path / "repo" / "a" / "b")) == str(tmp_path / "repo")
    assert default_root(str(tmp_path / "plain")) == str(tmp_path / "plain")


def test_settings_kept_in_git_make_no_project_of_a_home(tmp_path: Path) -> None:
    (tmp_path / "home" / ".git").mkdir(parents=True)
    (tmp_path / "home" / "notes" / "a").mkdir(parents=True)
    (tmp_path / "home" / "app" / ".git").mkdir(parents=True)
    (tmp_path / "linked").symlink_to(tmp_path / "home")
    for home in (tmp_path / "home", tmp_path / "linked"):
        for name in ("notes/a", "app"):
            assert default_root(f"{tmp_path}/home/{name}", home=str(home)).endswith(f"/{name}")


def test_a_worktree_is_a_repository_too(tmp_path: Path) -> None:
    (tmp_path / "tree" / "a").mkdir(parents=True)
    (tmp_path / "tree" / ".git").write_text("gitdir: elsewhere\n")
    assert default_root(str(tmp_path / "tree" / "a")) == str(tmp_path / "tree")
