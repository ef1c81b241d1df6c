"""Reference archives: a little workspace, marked names, and every use as people read it.

    Modules are symbols: every import and every chain names them.

    -- pkg/mod.py --
    X = 1
    -- b.py --
    from ⟨asked⟩pkg.mod import X
    -- references asked --
    b.py:1: from pkg.mod import X
    Returned 1 reference.

``⟨name⟩`` marks the place right behind it and is taken out of the file. A section named
``references MARK`` is a question with its answer: the lines with uses, 1-based, then the summary;
an error shows its message. ``declaration`` behind the mark includes the declaration. A first line
``server: NAME`` asks that server and no other of its language.

``pytest tests/uses --update-markers`` writes what came out; the diff is what changed.
"""

import re
from pathlib import Path

import pytest

from sightline.contract.failures import Failure
from tests.languages.samples import only
from tests.markers.archive import MARKER, SECTION
from tests.support.engine import Engine, engine

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*/*.txt"))
_SERVER = re.compile(r"^server: (\S+)$", re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
async def test_uses(file: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    comment, *sections = SECTION.split(file.read_text(encoding="utf-8"))
    root = tmp_path / "ws"
    marks: dict[str, tuple[str, int, int]] = {}
    questions: dict[str, str] = {}
    written = [comment]
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        if name.startswith("references "):
            questions[name.removeprefix("references ")] = body.strip("\n")
        else:
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(unmarked(name, body.removeprefix("\n"), marks), encoding="utf-8")
    server = _SERVER.search(comment)
    registry = only(server[1]) if server is not None else None
    answers: dict[str, str] = {}
    async with engine(root, cache=tmp_path / "cache", registry=registry) as running:
        for question in questions:
            mark, _, rest = question.partition(" ")
            answers[question] = await uses(running, marks[mark], declaration=bool(rest))
    if request.config.getoption("--update-markers"):
        for name, body in zip(sections[::2], sections[1::2], strict=True):
            answer = answers.get(name.removeprefix("references "))
            is_question = name.startswith("references ") and answer is not None
            written.append(f"-- {name} --\n{answer}\n" if is_question else f"-- {name} --{body}")
        file.write_text("".join(written), encoding="utf-8")
        return
    assert answers == questions


def unmarked(name: str, body: str, marks: dict[str, tuple[str, int, int]]) -> str:
    lines = body.split("\n")
    for number in range(len(lines)):
        while match := MARKER.search(lines[number]):
            before = lines[number][: match.start()]
            marks[match[1]] = (name, number, len(before.encode("utf-16-le")) // 2)
            lines[number] = before + lines[number][match.end() :]
    return "\n".join(lines)


async def uses(running: Engine, mark: tuple[str, int, int], *, declaration: bool) -> str:
    """The lines with uses and the summary, or what went wrong."""
    name, line, character = mark
    try:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri(name),
            position={"line": line, "character": character},
            includeDeclaration=declaration,
        )
    except Failure as failure:
        return f"{type(failure).__name__}: {failure}"
    shown: list[str] = []
    for item in answer["items"]:
        path = item["uri"].removeprefix(running.root.resolve().as_uri() + "/")
        start = item["range"]["start"]["line"]
        text = (running.root / path).read_text(encoding="utf-8").split("\n")[start]
        shown.append(f"{path}:{start + 1}: {text.strip()}")
    return "\n".join([*shown, answer["summary"]])
