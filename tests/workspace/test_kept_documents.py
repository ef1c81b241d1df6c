"""A document that is asked about again is compared with the disk, byte by byte and in its place."""

import mmap
import os
from pathlib import Path

import pytest

from sightline.contract.failures import UriInvalid, WorkspaceDenied
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet
from sightline.workspace.view import Epochs, View, ViewOutdated

TEXT = "x = 1\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub/a.py").write_text(TEXT)
    return folder


@pytest.fixture
def view(root: Path) -> View:
    view = View(Gate(RootSet.of([Root(str(root), str(root))])), Epochs(1, 1, 1, 1), "roots")
    first = view.document((root / "sub/a.py").as_uri())
    assert view.document((root / "sub/a.py").as_uri()) is first, "only the bytes were compared"
    return view


@pytest.mark.parametrize("text", ["x = 2\n", "x = 1\n\n", "x = 1", ""])
def test_other_bytes_are_seen(view: View, root: Path, text: str) -> None:
    (root / "sub/a.py").write_text(text)
    with pytest.raises(ViewOutdated):
        view.document((root / "sub/a.py").as_uri())


def test_a_store_through_a_mapping_is_seen(view: View, root: Path) -> None:
    with (root / "sub/a.py").open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapping:
        mapping[4:5] = b"7"
        with pytest.raises(ViewOutdated):
            view.document((root / "sub/a.py").as_uri())


def test_a_link_in_its_place_is_not_followed_out(view: View, root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.py").write_text(TEXT)
    uri = (root / "sub/a.py").as_uri()
    (root / "sub/a.py").unlink()
    (root / "sub/a.py").symlink_to(outside / "a.py")
    with pytest.raises(WorkspaceDenied):
        view.document(uri)
    (root / "sub/a.py").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    with pytest.raises(WorkspaceDenied):
        view.document(uri)


def test_a_pipe_in_its_place_neither_hangs_nor_is_read(view: View, root: Path) -> None:
    (root / "sub/a.py").unlink()
    os.mkfifo(root / "sub/a.py")
    with pytest.raises(Exception, match="regular file"):
        view.document((root / "sub/a.py").as_uri())


def test_a_document_that_is_gone(view: View, root: Path) -> None:
    (root / "sub/a.py").unlink()
    with pytest.raises(UriInvalid):
        view.document((root / "sub/a.py").as_uri())
