"""What an editor may tell a workspace: unsaved texts, other roots, other diagnostics."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sightline.contract.failures import NotFound, WorkspaceDenied
from sightline.workspace.roots import open_root
from sightline.workspace.workspace import Workspace

Make = Callable[..., Workspace]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    made: list[Workspace] = []

    def build(*roots: Path) -> Workspace:
        workspace = Workspace([open_root(str(root), home=None) for root in roots])
        made.append(workspace)
        return workspace

    yield build
    for workspace in made:
        workspace.close()


async def test_an_unsaved_text_stands_for_the_file(make: Make, sample: Path) -> None:
    workspace = make(sample)
    main = sample / "main.py"
    before = await workspace.begin()
    workspace.hold({str(main): "unsaved\n"})
    after = await workspace.begin()
    assert after.document(main.as_uri()).text == "unsaved\n"
    assert before.document(main.as_uri()).text == main.read_text()
    assert after.epochs.text == before.epochs.text + 1
    assert (after.epochs.fs, after.epochs.roots) == (before.epochs.fs, before.epochs.roots)
    workspace.hold({str(main): "unsaved\n"})
    assert await workspace.begin() is after, "the same text again is no change"
    workspace.hold({})
    assert (await workspace.begin()).document(main.as_uri()).text == main.read_text()


async def test_a_text_that_is_too_large_to_hold_cannot_be_read(make: Make, sample: Path) -> None:
    workspace = make(sample)
    workspace.hold({str(sample / "main.py"): None})
    with pytest.raises(NotFound):
        (await workspace.begin()).document((sample / "main.py").as_uri())


async def test_the_file_behind_an_unsaved_text_is_gated(
    make: Make, sample: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("x = 1\n")
    (sample / "link.py").symlink_to(outside)
    workspace = make(sample)
    workspace.hold({str(sample / "link.py"): "unsaved", str(outside): "unsaved"})
    view = await workspace.begin()
    for file in (sample / "link.py", outside):
        with pytest.raises(WorkspaceDenied):
            view.document(file.as_uri())


async def test_unsaved_texts_are_part_of_where_epochs_start(make: Make, sample: Path) -> None:
    clean, dirty, same = make(sample), make(sample), make(sample)
    for workspace in (dirty, same):
        workspace.hold({str(sample / "main.py"): "unsaved\n"})
    starts = [(await workspace.begin()).epochs.text for workspace in (clean, dirty, same)]
    assert starts[0] != starts[1] == starts[2]


async def test_other_roots_are_followed(make: Make, sample: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.py").write_text("x = 1\n")
    workspace = make(sample)
    before = await workspace.begin()
    workspace.follow([open_root(str(other), home=None)])
    after = await workspace.begin()
    assert after.document((other / "a.py").as_uri()).text == "x = 1\n"
    with pytest.raises(WorkspaceDenied):
        after.document((sample / "main.py").as_uri())
    assert after.epochs.roots == before.epochs.roots + 1
    assert after.roots_key != before.roots_key
    (other / "a.py").write_text("x = 2\n")
    assert (await workspace.begin()).epochs.text == after.epochs.text + 1
    workspace.follow([open_root(str(other), home=None)])
    assert (await workspace.begin()).epochs.roots == after.epochs.roots


async def test_roots_may_change_before_the_first_scan_is_done(
    make: Make, sample: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    workspace = make(sample)
    workspace.start()
    for _ in range(3):
        workspace.follow([open_root(str(other), home=None)])
        workspace.follow([open_root(str(root), home=None) for root in (sample, other)])
    view = await workspace.begin()
    assert view.document((sample / "main.py").as_uri()).text
    assert [root.real for root, _ in workspace.trees()] == sorted([str(sample), str(other)])


async def test_other_diagnostics_move_their_epoch_alone(make: Make, sample: Path) -> None:
    workspace = make(sample)
    workspace.diagnostics_changed()
    before = (await workspace.begin()).epochs
    workspace.diagnostics_changed()
    after = (await workspace.begin()).epochs
    assert after.diagnostics == before.diagnostics + 1
    assert (after.roots, after.text, after.fs) == (before.roots, before.text, before.fs)
