"""Folders that came or went, told from files that did."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.server.folder_changes import folder_changes
from sightline.workspace.changes import Change, Kind

TOP = "/ws"


def tree_of(files: set[str]) -> dict[str, dict[str, object]]:
    """The files with every folder above them."""
    tree: dict[str, dict[str, object]] = {TOP: {}}
    for path in files:
        folder, _, name = path.rpartition("/")
        tree.setdefault(folder, {})[name] = None
        while len(folder) > len(TOP):
            folder = folder.rpartition("/")[0]
            tree.setdefault(folder, {})
    return tree


def folders(before: set[str], after: set[str]) -> tuple[set[str], set[str]]:
    changes = [Change(path, Kind.CREATED) for path in sorted(after - before)]
    changes += [Change(path, Kind.DELETED) for path in sorted(before - after)]
    found = folder_changes(changes, changes, [(TOP, tree_of(after))])
    came = {change.path for change in found if change.kind == Kind.CREATED}
    return came, {change.path for change in found if change.kind == Kind.DELETED}


def test_a_file_in_a_folder_that_was_there() -> None:
    assert folders({"/ws/a/x"}, {"/ws/a/x", "/ws/a/y"}) == (set(), set())
    assert folders({"/ws/a/x", "/ws/a/y"}, {"/ws/a/x"}) == (set(), set())


def test_folders_inside_each_other() -> None:
    inside = {"/ws/a/b/c/x"}
    assert folders(set(), inside) == ({"/ws/a", "/ws/a/b", "/ws/a/b/c"}, set())
    assert folders(inside, set()) == (set(), {"/ws/a", "/ws/a/b", "/ws/a/b/c"})
    assert folders({"/ws/a/old/x"}, {"/ws/a/old/x", *inside}) == ({"/ws/a/b", "/ws/a/b/c"}, set())


def test_only_folders_of_what_is_told() -> None:
    changes = [Change("/ws/a/x", Kind.CREATED), Change("/ws/b/y", Kind.CREATED)]
    found = folder_changes(changes, changes[:1], [(TOP, tree_of({"/ws/a/x", "/ws/b/y"}))])
    assert found == [Change("/ws/a", Kind.CREATED)]


def test_nothing_is_said_of_what_lies_elsewhere() -> None:
    gone = Change("/other/a/x", Kind.DELETED)
    assert folder_changes([gone], [gone], [(TOP, tree_of({"/ws/a/x"}))]) == []


def test_a_root_is_known_to_its_own_tree_and_not_to_the_one_around_it() -> None:
    gone = Change("/ws/app/x", Kind.DELETED)
    app: dict[str, dict[str, object]] = {"/ws/app": {}}
    assert folder_changes([gone], [gone], [("/ws/app", app), (TOP, tree_of({"/ws/y"}))]) == []


paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map(
    lambda parts: "/".join([TOP, *parts[:-1], f"{parts[-1]}.py"])
)


@given(st.sets(paths, max_size=8), st.sets(paths, max_size=8))
def test_exactly_the_folders_that_differ(before: set[str], after: set[str]) -> None:
    old, new = set(tree_of(before)), set(tree_of(after))
    assert folders(before, after) == (new - old, old - new)


def test_a_checkout_of_many_folders_is_told_at_once() -> None:
    """If each were compared with all the others this would not end within minutes."""
    files = {f"/ws/{number % 100}/{number}/x" for number in range(100_000)}
    came, went = folders(set(), files)
    assert (len(came), went) == (100_100, set())
    assert folders(files, set()) == (set(), came)
