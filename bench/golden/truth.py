"""What independent indexers say, kept in one file per code base.

They are asked once: the questions and their places are committed, so that a run asks Sightline
alone. ``python -m bench.golden --truth NAME`` asks them again.
"""

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from bench.golden.bases import Base
from bench.golden.pins import CACHE
from bench.golden.sample import Question, chosen
from bench.golden.scip import ScipIndex
from bench.golden.servers import node, pyright, tsserver
from tools.node import QUIET

__all__ = ["Truth", "is_known", "make", "read"]

Place = tuple[str, int, int]
_FOLDER = Path(__file__).with_name("truth")
_SCIP = ("@sourcegraph/scip-python@0.6.6", "@sourcegraph/scip-typescript@0.4.0")


class Truth(NamedTuple):
    question: Question
    #: By place, the letters of the witnesses that name it.
    places: dict[Place, str]


def is_known(base: Base) -> bool:
    """Whether the independent indexers were asked."""
    return (_FOLDER / f"{base.name}.txt").exists()


def read(base: Base) -> list[Truth]:
    text = (_FOLDER / f"{base.name}.txt").read_text(encoding="utf-8")
    return [_parsed(line) for line in text.splitlines()]


def make(base: Base) -> None:
    root, questions = base.folder(), chosen(base)
    told: dict[str, Sequence[set[Place]]] = {}
    if base.language == "python":
        told["p"] = pyright(root, questions)
    elif base.language == "c":
        from bench.golden.clang import libclang

        told["c"] = libclang(root, questions)
    else:
        told["t"] = tsserver(root, questions)
    if base.scip and base.language != "c":
        index = _scip(root, base)
        told["s"] = [index.references((q.path, q.line, q.column)) for q in questions]
    lines = []
    for number, question in enumerate(questions):
        places: dict[Place, str] = {}
        for letter, found in told.items():
            for place in found[number]:
                places[place] = places.get(place, "") + letter
        lines.append(_line(Truth(question, places)))
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / f"{base.name}.txt").write_text("".join(lines), encoding="utf-8")


def _scip(root: Path, base: Base) -> ScipIndex:
    tools = CACHE / "scip"
    if not tools.is_dir():
        tools.mkdir(parents=True)
        command = ["npm", "install", *QUIET, "--prefix", str(tools), *_SCIP]
        subprocess.run(command, check=True, cwd=tools)
    programs = tools / "node_modules/@sourcegraph"
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder, "index.scip")
        if base.language == "python":
            environment = Path(folder, "environment.json")
            environment.write_text("[]", encoding="utf-8")
            command = [str(programs / "scip-python/index.js"), "index", "--quiet"]
            command += ["--project-name", base.name, "--project-version", "1"]
            command += ["--environment", str(environment)]
        else:
            command = [str(programs / "scip-typescript/dist/src/main.js"), "index"]
            command += ["--infer-tsconfig"] if base.language == "javascript" else []
            command += ["--cwd", str(root)]
        bounds = os.environ | {"NODE_OPTIONS": "--max-old-space-size=4096"}
        subprocess.run(
            [node(), *command, "--output", str(output)],
            check=True,
            cwd=root,
            env=bounds,
            stdout=subprocess.DEVNULL,
        )
        index = ScipIndex(output)
    for made in ("tsconfig.json",) if base.language == "javascript" else ():
        if (root / made).is_file() and (root / made).read_text().strip().startswith("{"):
            _remove_if_inferred(root / made)
    return index


def _remove_if_inferred(file: Path) -> None:
    """``--infer-tsconfig`` writes a configuration into the code base."""
    if "allowJs" in file.read_text(encoding="utf-8"):
        file.unlink()


def _line(truth: Truth) -> str:
    question = truth.question
    files: dict[str, list[str]] = {}
    for (path, line, column), letters in sorted(truth.places.items()):
        files.setdefault(path, []).append(f"{line}:{column}{letters}")
    where = "; ".join(f"{path} {' '.join(places)}" for path, places in files.items())
    asked = f"{question.path}:{question.line}:{question.column}"
    return f"{asked}\t{question.name}\t{question.kind}\t{question.in_code}\t{where}\n"


def _parsed(line: str) -> Truth:
    asked, name, kind, in_code, where = line.rstrip("\n").split("\t")
    path, number, column = asked.rsplit(":", 2)
    question = Question(path, int(number), int(column), name, kind, int(in_code))
    places: dict[Place, str] = {}
    for part in filter(None, where.split("; ")):
        file, *there = part.split(" ")
        for each in there:
            row, _, rest = each.partition(":")
            letters = rest.lstrip("0123456789")
            places[file, int(row), int(rest[: len(rest) - len(letters)])] = letters
    return Truth(question, places)
