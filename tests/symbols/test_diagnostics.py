"""Diagnostics that survive edits: their identity, and baselines."""

import os
import stat
from pathlib import Path

import pytest
from msgspec.structs import replace

from sightline.contract.failures import NotFound
from sightline.symbols.baselines import KEPT, Baselines
from sightline.symbols.diagnostics import Baseline, Diagnosed, compare, name_of

MISSING = Diagnosed("shop/main.py", 5, 1, "missing-argument", "item", "main")
UNUSED = Diagnosed("shop/cart.py", 2, 2, "unused", "import os", "")


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({"line": 40}, id="line"),
        pytest.param({"severity": 2}, id="severity"),
    ],
)
def test_a_diagnostic_is_the_same_one_wherever_it_is(changed: dict[str, int]) -> None:
    moved = replace(MISSING, **changed)
    assert compare([MISSING, UNUSED], [moved, UNUSED]) == ([], [])
    assert name_of(Baseline((MISSING,))) == name_of(Baseline((moved,)))


@pytest.mark.parametrize("member", ["path", "code", "message", "enclosing"])
def test_a_diagnostic_is_another_one_where_anything_else_differs(member: str) -> None:
    other = replace(MISSING, **{member: "other"})
    assert compare([MISSING], [other]) == ([other], [MISSING])
    assert name_of(Baseline((MISSING,))) != name_of(Baseline((other,)))


def test_equal_diagnostics_are_counted() -> None:
    three = [replace(MISSING, line=line) for line in (5, 6, 7)]
    assert compare(three[:2], three) == ([three[2]], [])
    assert compare(three, three[:1]) == ([], three[1:])


def test_a_name_depends_on_what_was_looked_at_and_not_on_the_order() -> None:
    names = {
        name_of(baseline)
        for baseline in (
            Baseline((MISSING, UNUSED)),
            Baseline((UNUSED, MISSING)),
            Baseline((MISSING, UNUSED), globs=("src/**",)),
            Baseline((MISSING, UNUSED), unchecked=("Go",)),
        )
    }
    assert len(names) == 3
    assert name_of(Baseline(())) == "hvh2bq"


def test_the_last_twenty_are_kept(tmp_path: Path) -> None:
    kept = Baselines(tmp_path, ["/a"])
    made = [Baseline((replace(MISSING, message=str(number)),)) for number in range(KEPT + 2)]
    for baseline in made[: KEPT + 1]:
        assert kept.keep(baseline) == ""
    assert kept.keep(made[1]) == ""  # is the newest again
    assert kept.keep(made[KEPT + 1]) == ""
    names = [name_of(baseline) for baseline in made]
    assert kept.find(names[1]) == made[1]
    for gone in (names[0], names[2]):
        with pytest.raises(NotFound, match=rf"kept are {names[KEPT + 1]}, {names[1]}, "):
            kept.find(gone)
    assert all(kept.find(name) for name in names[3:])


def test_baselines_are_private_and_of_one_project(tmp_path: Path) -> None:
    Baselines(tmp_path, ["/a", "/b"]).keep(Baseline((MISSING,)))
    name = name_of(Baseline((MISSING,)))
    assert Baselines(tmp_path, ["/b", "/a"]).find(name).items == (MISSING,)
    with pytest.raises(NotFound, match="none is kept"):
        Baselines(tmp_path, ["/a"]).find(name)
    made = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o600]
    assert stat.S_IMODE(made[0].parent.stat().st_mode) == 0o700


def _linked(path: Path) -> None:
    elsewhere = path.rename(path.with_suffix(""))
    os.symlink(elsewhere, path)


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(lambda path: path.write_bytes(b"\xc1"), id="garbage"),
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[:-1]), id="cut"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b"item", b"tame")), id="changed"
        ),
        pytest.param(lambda path: path.chmod(0o644), id="open to others"),
        pytest.param(_linked, id="a link"),
    ],
)
def test_a_baseline_that_was_touched_is_none(tmp_path: Path, harm: object) -> None:
    kept = Baselines(tmp_path, ["/a"])
    kept.keep(Baseline((MISSING,)))
    name = name_of(Baseline((MISSING,)))
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert callable(harm)
    harm(path)
    with pytest.raises(NotFound, match="check without since"):
        kept.find(name)


@pytest.mark.parametrize(
    "name", ["../../x", "", "a/b", "x" * 5000, "\N{LATIN SMALL LETTER LONG S}"]
)
def test_a_name_that_is_none_finds_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound) as raised:
        Baselines(tmp_path, ["/a"]).find(name)
    assert len(str(raised.value)) < 200


def test_a_cache_that_takes_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "baselines").write_text("in the way")
    assert Baselines(tmp_path, ["/a"]).keep(Baseline(())) == "Not a directory"
