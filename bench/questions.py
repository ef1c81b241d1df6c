"""Questions with known answers, made from public packages when the bench runs.

A documentation sentence is the question, the function it stood at is the answer; every such text is
blanked in the copy that is searched, so that nothing can be found by finding the sentence itself. A
sentence that has the function's name in it is no question.
"""

import ast
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = ["Question", "python_questions", "script_questions"]

_TESTS = re.compile(r"(^|/)(tests?|testing|__tests__|spec|examples?)(/|_)|(^|/)test_|\.test\.")
_WORDS = (4, 30)

_COMMENT = re.compile(r"/\*\*.*?\*/", re.DOTALL)
_DECLARES = re.compile(
    r"\s*(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?"
    r"(?:function\*?|class|const|interface)\s+(\w+)"
    r"|[ \t]*\n?[ \t]+(?:static\s+|async\s+|protected\s+|public\s+|private\s+)*(\w+)\("
)
_SENTENCE = re.compile(r"^(.+?[a-z)`'\"])\.(?:\s|$)", re.DOTALL)


class Question(NamedTuple):
    text: str
    path: str
    name: str
    #: The 1-based line of the name.
    line: int


def python_questions(source: Path, target: Path, count: int, seed: int = 1) -> list[Question]:
    """Copies Python files without their docstrings and returns questions about them."""
    found: list[Question] = []
    for file in sorted(source.rglob("*")):
        path = str(file.relative_to(source))
        copy = target / path
        if file.is_file() and not file.is_symlink():
            copy.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".py" and (tree := _parsed(file)) is not None:
                text = file.read_text(encoding="utf-8")
                found += _asked(tree, path)
                copy.write_text(_blanked(text, tree), encoding="utf-8")
            else:
                shutil.copyfile(file, copy)
    return _chosen(found, count, seed)


def script_questions(source: Path, target: Path, count: int, seed: int = 1) -> list[Question]:
    """The same for TypeScript and JavaScript and their documentation comments."""
    found: list[Question] = []
    for file in sorted(source.rglob("*")):
        path = str(file.relative_to(source))
        copy = target / path
        if file.is_file() and file.suffix in (".ts", ".js", ".md", ".json"):
            copy.parent.mkdir(parents=True, exist_ok=True)
            text = file.read_text(encoding="utf-8", errors="replace")
            if file.suffix in (".ts", ".js"):
                found += _documented(text, path)
                text = _COMMENT.sub(lambda match: "\n" * match[0].count("\n"), text)
            copy.write_text(text, encoding="utf-8")
    return _chosen(found, count, seed)


def _chosen(found: list[Question], count: int, seed: int) -> list[Question]:
    unique = {question.text: question for question in found if not _TESTS.search(question.path)}
    ordered = sorted(unique.values(), key=lambda question: (question.path, question.line))
    return random.Random(seed).sample(ordered, min(count, len(ordered)))


def _good(sentence: str, name: str) -> bool:
    size = len(sentence.split())
    return _WORDS[0] <= size <= _WORDS[1] and name.lower().strip("_") not in sentence.lower()


# Python


def _parsed(file: Path) -> ast.Module | None:
    try:
        return ast.parse(file.read_text(encoding="utf-8"))
    except (SyntaxError, ValueError):
        return None


def _docstring(node: ast.AST) -> ast.Constant | None:
    body = getattr(node, "body", None)
    if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
        value = body[0].value
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            return value
    return None


def _asked(tree: ast.Module, path: str) -> Iterator[Question]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = _docstring(node)
            match = _SENTENCE.match(" ".join(str(docstring.value).split())) if docstring else None
            if match and _good(match[1], node.name):
                yield Question(match[1], path, node.name, node.lineno)


def _blanked(text: str, tree: ast.Module) -> str:
    lines = text.split("\n")
    for node in ast.walk(tree):
        docstring = _docstring(node)
        if docstring is None or docstring.end_lineno is None:
            continue
        first, last = docstring.lineno - 1, docstring.end_lineno - 1
        indent = lines[first][: len(lines[first]) - len(lines[first].lstrip())]
        if lines[first].strip().startswith(('"', "'", "r", "R", "u", "U")):
            lines[first : last + 1] = [f'{indent}""'] + [""] * (last - first)
    return "\n".join(lines)


# TypeScript and JavaScript


def _documented(text: str, path: str) -> Iterator[Question]:
    for comment in _COMMENT.finditer(text):
        declared = _DECLARES.match(text, comment.end())
        if declared is None:
            continue
        name = declared[1] or declared[2]
        body = [line.strip().lstrip("*").strip() for line in comment[0][3:-2].split("\n")]
        prose = " ".join(line for line in _before_tags(body))
        match = _SENTENCE.match(" ".join(prose.split()))
        if match and "{@" not in match[1] and _good(match[1], name):
            place = declared.end(1) if declared[1] else declared.end(2)
            yield Question(match[1], path, name, text.count("\n", 0, place) + 1)


def _before_tags(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("@"):
            return
        yield line
