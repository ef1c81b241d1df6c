"""Complete or refused: an empty answer counts only from somebody who has shown that they answer."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.editor.canaries import find
from tests.support.editor import ScriptedEditor

Start = Callable[..., ScriptedEditor]

PLACE = {"line": 2, "character": 7}


def unproven(language: str = "python", **more: Any) -> dict[str, Any]:
    return {"language": language, "loaded": False} | more


def span(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def area(sample: Path) -> dict[str, Any]:
    """The one declaration of the sample, as the window's symbol search names it."""
    return {
        "name": "area",
        "kind": 12,
        "range": span(0, 4, 8),
        "uri": (sample / "shapes.py").as_uri(),
    }


def definition(window: ScriptedEditor, sample: Path) -> Any:
    return window.once("definition", uri=(sample / "main.py").as_uri(), position=PLACE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def one():\n", ("one", 0, 4)),
        ("# é\nasync def fetch(x): ...\n", ("fetch", 1, 10)),
        ("\r\nclass Shape:\r\n", ("Shape", 1, 6)),
        ("export default class Widget {}\n", ("Widget", 0, 21)),
        ("pub(crate) fn run_all() {}\n", ("run_all", 0, 14)),
        ("func (s *Server) Listen() {}\n", ("Listen", 0, 17)),
        ("    def inner(): ...\n", None),
        ("x = 1\n", None),
        ("", None),
    ],
)
def test_declarations_are_found_in_plain_text(
    text: str, expected: tuple[str, int, int] | None
) -> None:
    assert find(text) == expected


def test_a_language_that_names_nothing_yet_is_still_loading(editor: Start, sample: Path) -> None:
    window = editor(
        {
            "definition": lambda _: unproven(locations=[]),
            "workspaceSymbols": lambda _: {"symbols": []},
            "prepare": lambda _: unproven(extension="active"),
        }
    )
    error = definition(window, sample)
    assert error["data"]["details"] == {
        "retryable": True,
        "waitingFor": "the editor's extension for Python to load the workspace",
    }
    assert [question["query"] for question in window.said("workspaceSymbols")] == ["area"]


def test_a_wrong_early_answer_never_leaves(editor: Start, sample: Path) -> None:
    """A loading extension that names the import line is asked again once it has loaded."""
    right = {"uri": (sample / "shapes.py").as_uri(), "range": span(0, 4, 8)}
    wrong = {"uri": (sample / "main.py").as_uri(), "range": span(0, 19, 23)}
    loaded: list[bool] = []

    def name(_: Any) -> Any:
        loaded.append(True)
        return {"symbols": [area(sample)]}

    window = editor(
        {
            "definition": lambda _: unproven(locations=[right if loaded else wrong]),
            "workspaceSymbols": name,
        }
    )
    assert definition(window, sample)["locations"] == [right]
    assert definition(window, sample)["locations"] == [right]
    assert len(window.said("workspaceSymbols")) == 1, "it is shown once"


def test_an_extension_that_is_off_is_told_apart(editor: Start, sample: Path) -> None:
    window = editor(
        {
            "definition": lambda _: unproven(locations=[]),
            "workspaceSymbols": lambda _: {"symbols": []},
            "prepare": lambda _: unproven(extension="none"),
        }
    )
    error = definition(window, sample)
    assert error["data"]["code"].endswith("PROVIDER_UNAVAILABLE")
    assert "no extension for Python is installed and enabled" in error["message"]


def test_nothing_found_is_believed_after_a_question_that_has_an_answer(
    editor: Start, sample: Path
) -> None:
    declared = (sample / "shapes.py").as_uri()

    def define(question: Any) -> Any:
        here = {"uri": declared, "range": span(0, 4, 8)}
        return unproven(locations=[here] if question["uri"] == declared else [])

    window = editor(
        {"definition": define, "workspaceSymbols": lambda _: {"symbols": [area(sample)]}}
    )
    assert definition(window, sample)["locations"] == []
    control = window.said("definition")[-1]
    assert (control["uri"], control["position"]) == (declared, {"line": 0, "character": 4})


def test_nothing_at_all_is_not_nothing_found(editor: Start, sample: Path) -> None:
    window = editor(
        {
            "definition": lambda _: unproven(locations=[]),
            "workspaceSymbols": lambda _: {"symbols": [area(sample)]},
        }
    )
    error = definition(window, sample)
    assert error["data"]["code"].endswith("PROVIDER_UNAVAILABLE")
    assert "no extension of the editor answers definition for Python" in error["message"]


def test_languages_without_a_sign_are_refused_unless_accepted(editor: Start, sample: Path) -> None:
    (sample / "lib.rs").write_text("pub fn area() {}\n")
    uri = (sample / "lib.rs").as_uri()
    here = {"uri": uri, "range": span(0, 7, 11)}
    script = {
        "definition": lambda _: unproven("rust", locations=[here]),
        "workspaceSymbols": lambda _: {"symbols": [area(sample) | {"uri": uri}]},
    }
    strict = editor(script)
    place = {"line": 0, "character": 8}
    error = strict.once("definition", uri=uri, position=place)
    assert error["data"]["code"].endswith("PROVIDER_UNAVAILABLE")
    assert "gives no sign of having loaded" in error["message"]
    lenient = editor(script, acceptUnproven=True)
    assert lenient.once("definition", uri=uri, position=place)["locations"] == [here]


def test_symbols_of_the_workspace_name_the_languages_nobody_answers_for(
    editor: Start, sample: Path
) -> None:
    (sample / "tool.go").write_text("func area() {}\n")

    def prepare(question: Any) -> Any:
        is_go = question["uris"][0].endswith(".go")
        extension = "none" if is_go else "active"
        return unproven("go" if is_go else "python", extension=extension)

    window = editor({"prepare": prepare, "workspaceSymbols": lambda _: {"symbols": [area(sample)]}})
    found = window.once("workspaceSymbols", query="area")
    assert [item["name"] for item in found["items"]] == ["area"]
    assert found["summary"] == "Returned 1 workspace symbol. No language server for Go."


def test_a_window_without_any_language_has_no_symbols_to_give(editor: Start, sample: Path) -> None:
    window = editor(
        {
            "prepare": lambda _: unproven(extension="none"),
            "workspaceSymbols": lambda _: {"symbols": []},
        }
    )
    error = window.once("workspaceSymbols", query="area")
    assert error["data"]["code"].endswith("PROVIDER_UNAVAILABLE")


def test_a_new_file_must_be_known_before_references_are_complete(
    editor: Start, sample: Path
) -> None:
    known: list[str] = []
    uri = (sample / "main.py").as_uri()
    new = sample / "new.py"

    def name(question: Any) -> Any:
        symbols = [area(sample)]
        if "fresh" in known:
            symbols.append(area(sample) | {"name": "fresh", "uri": new.as_uri()})
        return {"symbols": [s for s in symbols if s["name"] == question["query"]]}

    here = {"uri": uri, "range": span(2, 6, 10)}
    window = editor({"references": lambda _: unproven(locations=[here]), "workspaceSymbols": name})

    def references() -> Any:
        return window.once("references", uri=uri, position=PLACE, includeDeclaration=True)

    assert references()["items"] == [here]
    new.write_text("from shapes import area\n\n\ndef fresh(): ...\n")
    announce(window, new, 1)
    assert references()["data"]["details"]["waitingFor"].endswith("to read a new file")
    known.append("fresh")
    assert references()["items"] == [here]


def announce(window: ScriptedEditor, file: Path, kind: int) -> None:
    """The window's watcher has told everybody of a change."""
    status = file.stat() if file.exists() else file.parent.stat()
    at = status.st_ctime_ns // 1_000_000 + 1
    change = {"uri": file.as_uri(), "kind": kind, "at": at}
    window.child.tell({"type": "files", "changes": [change]})
