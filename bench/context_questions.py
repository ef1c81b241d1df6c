"""Questions about code with known answers, made from a project's own documentation and tests.

``docs``: a paragraph of the documentation that refers to functions, methods or classes. The
references are taken out of the text; what they refer to is needed.

``tests``: the name and docstring of a test. The definitions that the test calls are needed.

Truth is found with Python's own parser and by names that one definition alone has. What is under
test here has no part in it.
"""

import ast
import hashlib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

__all__ = ["Definition", "Project", "Question", "questions"]

_TESTS = re.compile(
    r"(^|/)(tests?|testing|conftest\.py|examples?|docs?|benchmarks?)(/|$)|test_[^/]*$"
)
_ROLE = re.compile(r":(?:py:)?(func|meth|class):`([^`]+)`")
_ANY_ROLE = re.compile(r":[a-z:]+:`([^`<]*)(?:<[^`]*>)?`")
_LEAST_WORDS, _MOST_WORDS = 12, 120
_MOST_NEEDED = 6
_COMMON = 0.03
_LEAST_NAME = 5


class Definition(NamedTuple):
    """A function, method or class: where it is, what it is called, and its own text."""

    path: str
    name: str
    start: int
    end: int
    text: str
    #: The line that begins it, ``def area(r):``.
    head: str


class Question(NamedTuple):
    kind: str
    text: str
    needed: frozenset[tuple[str, str]]


@dataclass
class Project:
    """The Python files of a source release."""

    root: Path

    @cached_property
    def files(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for path in sorted(self.root.rglob("*.py")):
            found[path.relative_to(self.root).as_posix()] = path.read_text("utf-8", "replace")
        return found

    @cached_property
    def sources(self) -> dict[str, str]:
        """Without tests, examples and documentation."""
        return {path: text for path, text in self.files.items() if not _TESTS.search(path)}

    @cached_property
    def definitions(self) -> list[Definition]:
        return [found for path, text in self.sources.items() for found in _definitions(path, text)]

    @cached_property
    def by_last_name(self) -> dict[str, list[Definition]]:
        found: dict[str, list[Definition]] = {}
        for definition in self.definitions:
            found.setdefault(definition.name.rpartition(".")[2], []).append(definition)
        return found

    def named(self, reference: str) -> Definition | None:
        """The one definition that a reference names."""
        parts = reference.strip("~!. ()").split(".")
        fitting = [
            definition
            for definition in self.by_last_name.get(parts[-1], [])
            if _fits(definition, parts[:-1])
        ]
        return fitting[0] if len(fitting) == 1 else None


def questions(project: Project, most: int = 150) -> list[Question]:
    """The questions about a project, at most so many of each kind, in a fixed order.

    What many tests call, such as the class that all begin with, says nothing about any of them and
    is not counted as needed.
    """
    tests = list(_from_tests(project))
    uses = Counter(needed for question in tests for needed in question.needed)
    common = {needed for needed, count in uses.items() if count > max(5, len(tests) * _COMMON)}
    kept = [q._replace(needed=q.needed - common) for q in tests]
    return [
        *_sample(list(_from_docs(project)), most),
        *_sample([question for question in kept if question.needed], most),
    ]


def _sample(found: list[Question], most: int) -> list[Question]:
    """Spread over the whole by a digest of the text, so that the sample stays when others go."""
    return sorted(found, key=lambda q: hashlib.sha256(q.text.encode()).digest())[:most]


def _fits(definition: Definition, outer: list[str]) -> bool:
    """Whether the names around a definition end as the reference says."""
    place = definition.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
    around = f"{place}.{definition.name}".split(".")[:-1]
    if not outer:
        return True
    last = outer[-1]
    return around[-1] == last or (last[:1].islower() and last in around)


def _definitions(path: str, text: str) -> Iterator[Definition]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return
    lines = text.split("\n")
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

    def walk(node: ast.AST, outer: str) -> Iterator[Definition]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, kinds):
                name = f"{outer}{child.name}"
                first = min([child.lineno, *(d.lineno for d in child.decorator_list)]) - 1
                last = child.end_lineno or child.lineno
                own = lines[first:last]
                if isinstance(child, ast.ClassDef):
                    own = _without_methods(child, lines, first, last)
                head = lines[child.lineno - 1].strip()
                yield Definition(path, name, first, last, "\n".join(own), head)
                if isinstance(child, ast.ClassDef):
                    yield from walk(child, f"{name}.")
            elif isinstance(child, (ast.If, ast.Try)):
                yield from walk(child, outer)

    yield from walk(tree, "")


def _without_methods(node: ast.ClassDef, lines: list[str], first: int, last: int) -> list[str]:
    inner: set[int] = set()
    for child in node.body:
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            begin = min([child.lineno, *(d.lineno for d in child.decorator_list)]) - 1
            inner.update(range(begin, child.end_lineno or child.lineno))
    return [lines[number] for number in range(first, last) if number not in inner]


def _from_docs(project: Project) -> Iterator[Question]:
    seen: set[str] = set()
    for path in sorted([*project.root.rglob("*.rst"), *project.root.rglob("*.txt")]):
        text = path.read_text("utf-8", "replace")
        for block in re.split(r"\n\s*\n", text):
            if block.startswith((" ", "\t", "..", "*", "-", ":")) or "::" in block:
                continue
            needed = {
                (found.path, found.name)
                for _, reference in _ROLE.findall(block)
                if (found := project.named(reference.rpartition("<")[2].rstrip(">"))) is not None
            }
            asked = " ".join(_ANY_ROLE.sub(" ", block).replace("``", " ").split())
            words = len(asked.split())
            fits = 1 <= len(needed) <= _MOST_NEEDED and _LEAST_WORDS <= words <= _MOST_WORDS
            if fits and asked not in seen:
                seen.add(asked)
                yield Question("docs", asked, frozenset(needed))


def _from_tests(project: Project) -> Iterator[Question]:
    for path, text in project.files.items():
        if not re.search(r"(^|/)test_[^/]*\.py$|_test\.py$|(^|/)tests\.py$", path):
            continue
        try:
            tree = ast.parse(text)
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            found = _test_question(project, node)
            if found is not None and node.name.startswith("test_"):
                yield found


def _test_question(
    project: Project, node: ast.FunctionDef | ast.AsyncFunctionDef
) -> Question | None:
    needed: set[tuple[str, str]] = set()
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            name = call.func.attr if isinstance(call.func, ast.Attribute) else None
            name = call.func.id if isinstance(call.func, ast.Name) else name
            declared = project.by_last_name.get(name or "", [])
            if len(declared) == 1 and len(name or "") >= _LEAST_NAME:
                needed.add((declared[0].path, declared[0].name))
    said = (ast.get_docstring(node) or "").split("\n\n")[0]
    asked = " ".join(f"{node.name.removeprefix('test_').replace('_', ' ')} {said}".split())
    if not 1 <= len(needed) <= _MOST_NEEDED or len(asked.split()) < 3:
        return None
    return Question("tests", asked, frozenset(needed))
