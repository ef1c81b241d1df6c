"""What a user excludes is not there: not in the trees, not through the gate, for nobody."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from sightline.contract.failures import WorkspaceDenied
from sightline.contract.settings import BadSetting, RootSettings, Settings
from sightline.workspace.exclusions import chosen, covers, reaches
from sightline.workspace.gate import Hidden
from sightline.workspace.roots import Root, open_root
from sightline.workspace.workspace import Workspace
from tests.conftest import Workspace as Made

FILES = {
    "a.py": "x = 1\n",
    "a.gen.py": "x = 2\n",
    "vendor/lib/b.py": "x = 3\n",
    "src/vendor/c.py": "x = 4\n",
    "src/d.py": "x = 5\n",
}
SETTINGS = Settings(exclude=("*.gen.py", "/vendor"))


def tracked(workspace: Workspace) -> set[str]:
    return {
        f"{folder}/{name}"[len(root.real) + 1 :]
        for root, tree in workspace.trees()
        for folder, files in tree.items()
        for name in files
    }


def opened(root: Path, settings: Settings, *, notify: bool) -> Workspace:
    roots = [open_root(str(root), home=None)]
    return Workspace(roots, notify=notify, choose=partial(chosen, settings=settings))


@pytest.mark.parametrize("notify", [True, False])
async def test_nothing_in_it_is_seen_or_moves_anything(
    workspace: Callable[..., Path], *, notify: bool
) -> None:
    root = workspace(FILES)
    seen = opened(root, SETTINGS, notify=notify)
    heard: list[str] = []
    seen.listen(lambda changes: heard.extend(change.path for change in changes))
    try:
        first = await seen.begin()
        assert tracked(seen) == {"a.py", "src/vendor/c.py", "src/d.py"}
        (root / "vendor/lib/b.py").write_text("x = 30\n")
        (root / "vendor/new").mkdir()
        (root / "vendor/new/e.py").write_text("x = 6\n")
        (root / "a.gen.py").write_text("x = 20\n")
        (root / "src/e.gen.py").write_text("x = 7\n")
        (root / "src/made").mkdir()
        (root / "src/made/f.gen.py").write_text("x = 8\n")
        await seen.audit()
        view = await seen.begin()
        assert (view.epochs, heard) == (first.epochs, [])
        (root / "src/made/g.py").write_text("x = 9\n")
        view = await seen.begin()
        assert heard == [str(root / "src/made/g.py")] and view.epochs != first.epochs
        (root / "vendor").rename(root / "src/moved")
        await seen.begin()
        assert "src/moved/lib/b.py" in tracked(seen), "it is somewhere else now"
    finally:
        seen.close()


async def test_nothing_in_it_passes_the_gate(workspace: Made) -> None:
    root = workspace(FILES)
    (root / "link.py").symlink_to("vendor/lib/b.py")
    (root / "way").symlink_to("vendor")
    seen = opened(root, SETTINGS, notify=True)
    try:
        view = await seen.begin()
        for path in ("vendor/lib/b.py", "a.gen.py", "vendor", "link.py", "way/lib/b.py"):
            uri = (root / path).as_uri()
            with pytest.raises(WorkspaceDenied, match="the setting exclude"):
                view.gate.admit(uri)
            if not (root / path).is_dir():
                assert view.gate.look_at(uri) is Hidden.EXCLUDED
        assert view.document((root / "src/vendor/c.py").as_uri()).text == "x = 4\n"
        assert view.redact(f"see {root}/vendor/lib/b.py, {root}/a.py") == f"see b.py, {root}/a.py"
    finally:
        seen.close()


def test_of_one_root(tmp_path: Path) -> None:
    own = RootSettings(("dist/",), ("dist/api/**",))
    (tmp_path / "link").symlink_to(tmp_path)
    for spelled in (str(tmp_path), f"{tmp_path}/", f"{tmp_path}/link"):
        settings = Settings(exclude=("a",), roots={spelled: own, "/other": RootSettings(("b",))})
        root = chosen(Root(str(tmp_path), str(tmp_path)), settings)
        assert (root.exclude, root.include_ignored) == (("a", "dist/"), ("dist/api/**",))
    assert chosen(Root("/x", "/x"), Settings(roots={"/y": own})) == Root("/x", "/x")


@pytest.mark.parametrize(
    ("globs", "path", "expected"),
    [
        (("build/",), "build", False),
        (("build/",), "build/a.py", True),
        (("build",), "src/build/x/a.py", True),
        (("/build",), "src/build/a.py", False),
        (("src/*/gen",), "src/a/gen/x.py", True),
        (("src/*/gen",), "src/a/b/gen/x.py", False),
        (("**/gen/**",), "a/b/gen/x.py", True),
        (("*.py",), "a/b.py", True),
        ((), "a", False),
    ],
)
def test_globs_are_those_of_git(globs: tuple[str, ...], path: str, *, expected: bool) -> None:
    assert covers(globs, path) is expected


@pytest.mark.parametrize(
    ("glob", "folder", "expected"),
    [
        ("a/b/*.py", "a", True),
        ("a/b/*.py", "a/b", True),
        ("a/b/*.py", "a/b/c", False),
        ("a/b/*.py", "b", False),
        ("a/*/c", "a/x", True),
        ("**/c/d", "x/y", True),
        ("name", "x/y", True),
        ("/name", "x", False),
    ],
)
def test_where_globs_reach(glob: str, folder: str, *, expected: bool) -> None:
    assert reaches((glob,), folder) is expected


@pytest.mark.parametrize(
    "values",
    [
        {"exclude": ["!a"]},
        {"exclude": [""]},
        {"exclude": ["a\nb"]},
        {"exclude": ["# a"]},
        {"include_ignored": [3]},
        {"roots": {"relative": {"exclude": ["a"]}}},
        {"roots": {"/x": {"excludes": ["a"]}}},
        {"roots": {"/x": {"exclude": ["!a"]}}},
        {"roots": "x"},
    ],
)
def test_settings_that_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(BadSetting, match=r"exclude|include_ignored|roots"):
        Settings.parse(values)


async def test_an_audit_finds_nothing_of_it(workspace: Made) -> None:
    seen = opened(workspace(FILES), Settings(exclude=("*.gen.py",)), notify=True)
    try:
        first = await seen.begin()
        await seen.audit()
        assert (await seen.begin()).epochs == first.epochs
        assert "a.gen.py" not in tracked(seen)
    finally:
        seen.close()
