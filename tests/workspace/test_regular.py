"""Whatever lies where a file is looked for, reading it ends and leaves no descriptor behind."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from sightline.lsp.files.reading import read_json, read_text, read_toml
from sightline.lsp.python.environments import is_environment
from sightline.workspace.ignore import read_small
from sightline.workspace.observers import Sweeper


@contextmanager
def folder(path: Path) -> Iterator[None]:
    path.mkdir()
    yield


@contextmanager
def pipe(path: Path) -> Iterator[None]:
    os.mkfifo(path)
    yield


@contextmanager
def pipe_with_a_writer(path: Path) -> Iterator[None]:
    os.mkfifo(path)
    end = os.open(path, os.O_RDWR)  # a reader would wait for what it writes
    try:
        yield
    finally:
        os.close(end)


@contextmanager
def bound_socket(path: Path) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
        yield


@contextmanager
def endless_device(path: Path) -> Iterator[None]:
    path.symlink_to("/dev/zero")
    yield


@contextmanager
def link_to_itself(path: Path) -> Iterator[None]:
    path.symlink_to(path)
    yield


@contextmanager
def nothing(path: Path) -> Iterator[None]:
    yield


Kind = Callable[[Path], AbstractContextManager[None]]
KINDS: list[Kind] = [
    folder,
    pipe,
    pipe_with_a_writer,
    bound_socket,
    endless_device,
    link_to_itself,
    nothing,
]
EMPTY: list[tuple[Callable[[str], object], object]] = [
    (read_text, None),
    (read_json, None),
    (read_toml, {}),
    (read_small, ""),
]


def descriptors() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_counts_as_absent(
    tmp_path: Path,
    kind: Kind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # the name of a socket must be short
    with kind(Path("pyvenv.cfg")):
        before = descriptors()
        for read, absent in EMPTY:
            assert read(str(tmp_path / "pyvenv.cfg")) == absent
        assert not is_environment(str(tmp_path))
        assert descriptors() == before


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_becomes_something_else_right_after_a_sweep(
    tmp_path: Path,
    kind: Kind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that was just written is compared by its content at the next sweep."""
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text("a = 1\n")
    observer = Sweeper(str(tmp_path), "")
    observer.start()
    Path("a.py").unlink()
    with kind(Path("a.py")):
        before = descriptors()
        assert [change.path for change in observer.changes()] == [str(tmp_path / "a.py")]
        assert descriptors() == before


def test_a_name_that_no_file_can_have() -> None:
    for read, absent in EMPTY:
        assert read("/tmp/\0") == absent
