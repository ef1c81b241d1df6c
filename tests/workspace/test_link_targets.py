"""Links lead where the system says they lead, and nowhere outside the roots."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.failures import UriInvalid, WorkspaceDenied
from sightline.contract.uris import is_under
from sightline.workspace.gate import Gate
from sightline.workspace.roots import RootSet, open_root
from tests.support.engine import engine
from tests.support.files import write_files

NAMES = ["a", "b", "c", "f.py"]
FOLDERS = ["", "a", "b", "a/b", "a/b/c"]
#: Of links: a way inside, a way up and somewhere, the root by its path, and a place outside.
steps = st.lists(st.sampled_from([*NAMES, "..", ".", "x", "y"]), min_size=1, max_size=5)
targets = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "", "", "../", "../../", "../ws/", "../outside/", "{ws}/", "{top}/../"]),
    steps,
    st.sampled_from(["", "", "", "/", "/.", "/.."]),
)
links = st.dictionaries(
    st.tuples(st.sampled_from(FOLDERS), st.sampled_from(["x", "y", "z"])), targets, max_size=6
)


def gate_of(root: str) -> Gate:
    return Gate(RootSet.of([open_root(root, home=None)]))


def walked(path: str) -> Iterator[str]:
    """Every place that the system passes on the way to a path, until there is none."""
    current, rest, followed = "", path.split("/"), 0
    while rest:
        name = rest.pop(0)
        if name in ("", "."):
            continue
        step = os.path.dirname(current).rstrip("/") if name == ".." else f"{current}/{name}"
        if name != ".." and os.path.islink(step) and followed < 40:
            target = os.readlink(step)
            rest = target.split("/") + rest
            current, followed = ("" if target.startswith("/") else current), followed + 1
            continue
        current = step
        yield current or "/"


def stays(path: str, root: str) -> bool:
    """Whether nothing on the way is outside, but for the folders above the root."""
    places = list(walked(path))
    return all(is_under(place, root) or is_under(root, place) for place in places) and (
        is_under(places[-1], root)
    )


@given(links, st.lists(steps, min_size=1, max_size=6))
def test_links_lead_where_the_system_says(
    forest: dict[tuple[str, str], str], asked: list[list[str]]
) -> None:
    with tempfile.TemporaryDirectory() as place:
        top = os.path.realpath(place)
        root = f"{top}/ws"
        for folder in FOLDERS:
            write_files(Path(root) / folder, {"f.py": "", "g.py": ""})
        write_files(Path(top) / "outside", {"f.py": "", "a/f.py": ""})
        for (folder, name), target in forest.items():
            os.symlink(target.format(ws=root, top=top), os.path.join(root, folder, name))
        gate = gate_of(root)
        for parts in asked:
            path = os.path.normpath("/".join([root, *parts]))
            if not is_under(path, root):
                continue
            try:
                found = gate.admit_path(path).path
            except UriInvalid:
                assert not os.path.exists(path)
            except WorkspaceDenied:
                assert not (os.path.exists(path) and stays(path, root))
            else:
                assert found == os.path.realpath(path, strict=True)
                assert is_under(found, root)
                assert stays(path, root)


@pytest.mark.parametrize(
    ("target", "leads_to"),
    [
        ("pk/../x.py", "a/x.py"),
        ("{ws}/pk/../x.py", "a/x.py"),
        ("pk/../../x.py", "x.py"),
        ("../ws/x.py", "x.py"),
        ("./a/./x.py", "a/x.py"),
        ("../other/y.py", None),
        ("{ws}/../other/../other/y.py", None),
    ],
)
def test_steps_up_are_taken_from_where_a_link_led(
    tmp_path: Path, target: str, leads_to: str | None
) -> None:
    root = write_files(tmp_path / "ws", {"a/deep/z.py": "", "a/x.py": "", "x.py": ""})
    write_files(tmp_path / "other", {"y.py": ""})
    (root / "pk").symlink_to("a/deep")
    (root / "L.py").symlink_to(target.format(ws=root))
    gate = gate_of(str(root))
    if leads_to is None:
        with pytest.raises(WorkspaceDenied):
            gate.admit_path(f"{root}/L.py")
        assert gate.shown_uri((root / "L.py").as_uri()) is None
    else:
        assert gate.admit_path(f"{root}/L.py").path == f"{root}/{leads_to}"
        assert gate.shown_uri((root / "L.py").as_uri()) == (root / leads_to).as_uri()


def test_from_one_root_into_another(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_files(tmp_path / name, {"x.py": ""})
    (tmp_path / "one" / "L.py").symlink_to("../two/x.py")
    roots = [open_root(str(tmp_path / name), home=None) for name in ("one", "two")]
    gate = Gate(RootSet.of(roots))
    assert gate.admit_path(f"{tmp_path}/one/L.py").path == f"{tmp_path}/two/x.py"


async def test_the_file_that_is_opened_is_the_one_described(tmp_path: Path) -> None:
    files = {"a/deep/z.py": "", "a/x.py": "right = 1\n", "x.py": "wrong = 1\n"}
    root = write_files(tmp_path / "ws", files)
    (root / "pk").symlink_to("a/deep")
    (root / "L.py").symlink_to("pk/../x.py")
    async with engine(root, cache=tmp_path / "cache") as running:
        answer = await running.call("vscode.lsp.documentSymbols", uri=running.uri("L.py"))
    assert [symbol["name"] for symbol in answer["symbols"]] == ["right"]
