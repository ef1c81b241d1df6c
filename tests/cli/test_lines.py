"""``sightline call --lines``: places as grep shows them, for people."""

from pathlib import Path

import pytest

from sightline.calls.validate import load_schema
from sightline.cli.places import PLACES, lines_of
from sightline.tools.catalogue import CATALOGUE
from tests.support.program import run


def test_places_are_shown_with_their_text(home: Path, sample: Path) -> None:
    asked = '{"query":"area"}'
    done = run(home, "call", "--lines", "vscode.lsp.workspaceSymbols", asked, cwd=sample)
    assert done.returncode == 0, done.stderr
    (place, summary) = done.stdout.splitlines()
    assert place.startswith("shapes.py:1: def area(")
    assert summary == "Returned 1 workspace symbol."


def test_an_answer_of_another_kind_is_told(home: Path, sample: Path) -> None:
    asked = f'{{"uri":"{(sample / "shapes.py").as_uri()}"}}'
    done = run(home, "call", "--lines", "vscode.lsp.documentSymbols", asked, cwd=sample)
    assert done.returncode == 3 and done.stdout == ""
    assert "is not a list of places; leave --lines out" in done.stderr


def test_it_is_told_before_anything_is_done(home: Path, sample: Path) -> None:
    done = run(home, "call", "--lines", "index_build", cwd=sample)
    assert done.returncode == 3 and "leave --lines out" in done.stderr
    assert not (home / ".cache").exists()


@pytest.mark.parametrize(
    "tool", [tool.info.name for tool in CATALOGUE if tool.info.family != "code"]
)
def test_the_tools_that_are_said_to_answer_places_do(tool: str) -> None:
    """Those whose items have a place each, by their schemas."""
    payload = load_schema(tool, output=True)["properties"]
    items = payload.get("locations", payload.get("items", {})).get("items", {})
    members = items.get("properties", {})
    members = members.get("location", {}).get("properties", members)
    assert (tool in PLACES) is ({"uri", "range"} <= members.keys())


def test_a_file_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_bytes(b"def f(): '\x1b]0;owned\x07'\n")
    start = {"line": 0, "character": 4}
    place = {"uri": (tmp_path / "x.py").as_uri(), "range": {"start": start, "end": start}}
    gone = place | {"uri": (tmp_path / "gone.py").as_uri()}
    assert lines_of({"items": [place, gone], "summary": "."}, str(tmp_path)) == [
        "x.py:1: def f(): '?]0;owned?'",
        "gone.py:1:",
        ".",
    ]
    assert lines_of({"items": [{"name": "f"}]}, str(tmp_path)) is None
