"""Reading the requirements and the claims, from the files alone."""

import ast
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Requirement", "claims", "postponed", "requirements"]

_HERE = Path(__file__).parent
_TESTS = _HERE.parent


@dataclass(frozen=True)
class Requirement:
    id: str
    source: str
    text: str
    #: The capability that is still missing, for a requirement that nothing here can satisfy yet.
    later: str = ""


def requirements() -> dict[str, Requirement]:
    """Every requirement by its id."""
    found: dict[str, Requirement] = {}
    for file in sorted(_HERE.glob("*.toml")):
        for row in tomllib.loads(file.read_text(encoding="utf-8"))["requirement"]:
            requirement = Requirement(**row)
            assert requirement.id not in found, f"{requirement.id} is listed twice"
            found[requirement.id] = requirement
    return found


def postponed() -> dict[str, list[str]]:
    """For each capability that is still missing, the ids that wait for it."""
    waiting: defaultdict[str, list[str]] = defaultdict(list)
    for requirement in requirements().values():
        if requirement.later:
            waiting[requirement.later].append(requirement.id)
    return dict(waiting)


def claims() -> dict[str, list[str]]:
    """For each claimed id, the tests that claim it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for file in sorted(_TESTS.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                for id_ in _claimed(node.decorator_list):
                    found[id_].append(f"{file.relative_to(_TESTS)}::{node.name}")
    return dict(found)


def _claimed(decorators: list[ast.expr]) -> Iterator[str]:
    for decorator in decorators:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith("requirement"):
            for argument in decorator.args:
                yield ast.literal_eval(argument)
