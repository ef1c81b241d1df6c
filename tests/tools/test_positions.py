"""Grouping locations by file gives exactly what sorting them by the total order gives."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.contract.orders import canonical, location_key
from sightline.contract.values import Location, Position, Range
from sightline.tools.positions import canonical_locations
from sightline.workspace.gate import Gate
from sightline.workspace.roots import RootSet, open_root
from sightline.workspace.view import Epochs, View

NAMES = ["a.py", "b.py", "sub/a.py", "sub/../a.py", "link.py", "missing.py"]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ws")
    (folder / "sub").mkdir()
    for name in ("a.py", "b.py", "sub/a.py"):
        (folder / name).write_text("")
    (folder / "link.py").symlink_to("b.py")
    return folder


def view_of(root: Path) -> View:
    roots = RootSet.of([open_root(str(root), home=None)])
    return View(Gate(roots), Epochs(0, 0, 0, 0), roots.key())


position = st.builds(Position, st.integers(0, 3), st.integers(0, 3))
span = st.builds(Range, position, position)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=st.lists(st.tuples(st.sampled_from([*NAMES, "/etc/hosts"]), span), max_size=40))
def test_grouping_equals_sorting(root: Path, found: list[tuple[str, Range]]) -> None:
    view = view_of(root)
    uris = {n: f"file://{root}/{n}" if n != "/etc/hosts" else "file:///etc/hosts" for n, _ in found}
    locations = [Location(uris[name], where) for name, where in found]
    shown = [(view.gate.shown_uri(location.uri), location.range) for location in locations]
    expected = canonical((Location(uri, r) for uri, r in shown if uri), location_key)
    hidden = {place for place in locations if view.gate.shown_uri(place.uri) is None}
    why = Counter(view.gate.look_at(place.uri) for place in hidden)
    assert canonical_locations(view, locations) == (expected, why)
