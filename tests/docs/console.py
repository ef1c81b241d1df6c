"""Pages as scripts: what stands behind ``$`` in a ``console`` block is run, what follows compared.

A page is run from top to bottom in one home of its own, ``/home/you`` on the page, in a copy of a
pinned package that the environment of the tests has anyway. A line ``...`` stands for any number
of lines. Times and process numbers are not compared. ``pytest tests/docs --update-docs`` writes
the outputs anew; read the diff.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from tests.support.program import command, environment

__all__ = ["Block", "Step", "blocks", "commands", "same", "sandbox", "take", "updated"]

_FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_HOME = "/home/you"
_PROJECT = "src/click"
_LIMIT_S = 120
#: What differs from run to run.
_VARYING = (
    (re.compile(r"\b\d+\.\d+ s\b"), "0.00 s"),
    (re.compile(r"\bpid \d+"), "pid 1"),
    (re.compile(r" +\d+ s +\d+\.\d+ ms"), " 0 s 0.0 ms"),
)


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Step:
    command: str
    output: str


def blocks(page: str) -> Iterator[Block]:
    for found in _FENCE.finditer(page):
        text = re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE)
        yield Block(found[2], text, found.start(3), found.end(3))


def commands(text: str) -> list[Step]:
    """The steps of a console block."""
    steps: list[Step] = []
    typed: list[str] = []
    said: list[str] = []
    for line in [*text.splitlines(), "$ "]:
        if line.startswith("$ "):
            if typed:
                steps.append(Step("\n".join(typed), "".join(f"{each}\n" for each in said)))
            typed, said = [line[2:]], []
        elif line.startswith("> ") and not said:
            typed.append(line[2:])
        else:
            said.append(line)
    return steps


def sandbox(folder: Path) -> Path:
    """A home with a project in it."""
    home = folder / "home"
    project = home / _PROJECT
    spec = find_spec("click")
    assert spec is not None and spec.origin is not None
    shutil.copytree(
        Path(spec.origin).parent, project / "click", ignore=shutil.ignore_patterns("__pycache__")
    )
    return home


def take(step: str, home: Path) -> str:
    """What a person would see who types it."""
    done = subprocess.run(
        ["bash", "-c", step.replace(_HOME, str(home))],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=_LIMIT_S,
        check=False,
        env=environment(home) | {"PATH": f"{Path(command()[0]).parent}:/usr/bin:/bin"},
        cwd=home / _PROJECT,
    )
    tools = str(Path(command()[0]).parent)
    return done.stdout.replace(str(home), _HOME).replace(tools, f"{_HOME}/.local/bin")


def same(expected: str, seen: str) -> bool:
    """Whether a page tells the truth."""
    shown = re.split(r"^ *\.\.\.\n", expected, flags=re.MULTILINE)
    parts = [re.escape(_steady(part)) for part in shown]
    return re.fullmatch("(?:.*\n)*".join(parts), _steady(seen)) is not None


def _steady(text: str) -> str:
    for pattern, instead in _VARYING:
        text = pattern.sub(instead, text)
    return text


def updated(expected: str, seen: str) -> str:
    """The output as it is now; one that is cut on the page stays cut as far as that is possible."""
    if same(expected, seen):
        return expected
    before, cut, after = expected.partition("...\n")
    if not cut:
        return seen
    lines = seen.splitlines(keepends=True)
    head, tail = len(before.splitlines()), len(after.splitlines())
    return "".join([*lines[:head], "...\n", *lines[len(lines) - tail :]])
