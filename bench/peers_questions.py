"""What bridges are asked for: functions of django whose uses can be counted without a server.

A function is asked about if its name is told apart by the text alone: it is defined once, it is
never an attribute of something, never assigned to and no parameter's name. Its uses are then its
NAME tokens.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.language_cases import by_tokenizer

__all__ = ["Question", "questions"]

_FILES = range(3, 41)


@dataclass(frozen=True)
class Question:
    """A function, where it is defined (0-based line), and the other files that use it."""

    file: str
    name: str
    line: int
    files: frozenset[str]


def questions(root: Path, first: tuple[str, str], more: int) -> list[Question]:
    """The given one, then so many others, the same ones every time."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    known = dict(_functions(root))
    words = Counter(
        match for text in texts.values() for match in re.findall(r"(?:\.|def )\w+|\w+ *=", text)
    )
    found = [_question(root, *first, known[first])]
    for (file, name), line in known.items():
        told_apart = words[f"def {name}"] == 1 and not (
            words[f".{name}"] or words[f"{name}="] or words[f"{name} ="]
        )
        if told_apart and (file, name) != first and len(found) <= more:
            question = _question(root, file, name, line)
            if len(question.files) in _FILES and not _is_parameter(root, question):
                found.append(question)
    return found


def _functions(root: Path) -> Iterator[tuple[tuple[str, str], int]]:
    for path in sorted((root / "django/utils").glob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.decorator_list:
                yield (path.relative_to(root).as_posix(), node.name), node.lineno - 1


def _is_parameter(root: Path, question: Question) -> bool:
    """Whether a parameter somewhere has the same name."""
    return any(
        isinstance(node, ast.arg) and node.arg == question.name
        for file in (question.file, *question.files)
        for node in ast.walk(ast.parse((root / file).read_text(encoding="utf-8")))
    )


def _question(root: Path, file: str, name: str, line: int) -> Question:
    places = by_tokenizer(root, file, name)
    # A definition is no use, and bridges differ in whether they tell it.
    files = {uri.removeprefix(root.as_uri() + "/") for uri, _, _ in places} - {file}
    return Question(file, name, line, frozenset(files))
