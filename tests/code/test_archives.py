"""Archives of the code family: a little workspace, and questions with their answers as text.

    A subclass calls the method of its base.

    -- shop/cart.py --
    class Cart:
        def add(self, item: str) -> None: ...
    -- uses {"of": ["Cart.add"]} --
    method shop.cart.Cart.add  shop/cart.py:2  (item: str) -> None
    0 uses; unaccounted 0

The section of a question is named by its tool and arguments, and holds the text of the answer as a
client gets it over stdio from real language servers; one that failed begins with ``error: ``.
``pytest tests/code --update-markers`` writes what came out; the diff is what changed.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.http import HttpServer
from tests.support.stdio import StdioServer

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.txt"))
SECTION = re.compile(r"^-- (.+) --$", re.MULTILINE)
QUESTION = re.compile(r"(find|read|uses|check) \{")


def text_of(answer: Any) -> str:
    """The text of an answer; there is nothing else in it."""
    result = answer["result"]
    assert result.keys() == {"isError", "content"}
    (part,) = result["content"]
    assert part.keys() == {"type", "text"}
    return ("error: " if result["isError"] else "") + str(part["text"])


def read(file: Path, root: Path) -> tuple[list[tuple[str, str]], dict[str, str]]:
    """The sections of an archive, and its questions and answers. Writes its files."""
    comment, *parts = SECTION.split(file.read_text(encoding="utf-8"))
    sections = [("", comment), *zip(parts[::2], parts[1::2], strict=True)]
    questions: dict[str, str] = {}
    for name, body in sections[1:]:
        if QUESTION.match(name):
            questions[name] = body.strip("\n")
        else:
            target = root / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body.removeprefix("\n"), encoding="utf-8")
    return sections, questions


def ask(server: StdioServer | HttpServer, question: str) -> str:
    tool, _, arguments = question.partition(" ")
    return text_of(server.call(tool, json.loads(arguments)))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_archive(
    file: Path,
    tmp_path: Path,
    installed: Path,
    stdio: Callable[..., StdioServer],
    request: pytest.FixtureRequest,
) -> None:
    root = tmp_path / "ws"
    sections, questions = read(file, root)
    server = stdio(root)
    server.initialize()
    answers = {question: ask(server, question) for question in questions}
    if request.config.getoption("--update-markers"):
        written = [sections[0][1]]
        for name, body in sections[1:]:
            written.append(f"-- {name} --" + (f"\n{answers[name]}\n" if name in answers else body))
        file.write_text("".join(written), encoding="utf-8")
        return
    assert answers == questions
