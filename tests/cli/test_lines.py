"""``sightline call --lines``: places as grep shows them, for people."""

from pathlib import Path

from sightline.cli.places import lines_of
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
