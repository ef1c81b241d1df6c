"""An answer beside what independent indexers say: what is missing, what is added."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bench.golden.asking import Answer, Place
from bench.golden.caveats import Caveat, caveats
from bench.golden.truth import Truth

__all__ = ["WITHOUT_ITSELF", "Compared", "Miss", "compare", "line_of", "read_lines"]

_INDEX = "s"
#: Of an answer in which the place that was asked about is missing.
WITHOUT_ITSELF = " without-itself"
_NAME = re.compile(r"[\w$#]+")


class Miss(NamedTuple):
    place: Place
    #: ``said``: a sentence may mean its file. ``general``: only sentences without files may.
    #: ``silent``: none does. ``disputed``: only an index names it, and the other server does not.
    how: str
    #: The witnesses that name it.
    letters: str
    #: What it looks like in the text.
    guess: str


class Compared(NamedTuple):
    place: str
    name: str
    kind: str
    #: How many places, or why there are none.
    result: str
    caveats: tuple[str, ...]
    misses: tuple[Miss, ...]
    added: tuple[Place, ...]


def compare(root: Path, truth: Truth, answer: Answer) -> Compared:
    question = truth.question
    said = caveats(answer.summary)
    missing = sorted(truth.places.keys() - answer.places)
    how = dict.fromkeys(missing, "said") if answer.refused else _how(missing, said, truth.places)
    misses = tuple(
        Miss(place, how[place], truth.places[place], _guess(root, truth, place))
        for place in missing
    )
    known = bool(truth.places)
    result = f"refused {answer.refused}" if answer.refused else str(len(answer.places))
    if not answer.refused and question[:3] not in answer.places:
        result += WITHOUT_ITSELF
    return Compared(
        f"{question.path}:{question.line}:{question.column}",
        question.name,
        question.kind,
        result,
        tuple(dict.fromkeys(each.name for each in said)),
        misses,
        tuple(sorted(answer.places - truth.places.keys())) if known else (),
    )


def _how(
    missing: Iterable[Place], said: Sequence[Caveat], told: Mapping[Place, str]
) -> dict[Place, str]:
    """A sentence covers as many lines as it counts, in order."""
    has_server = any(letters != _INDEX for letters in told.values())
    general = any(each.is_general for each in said)
    covered: dict[int, set[tuple[str, int]]] = {}
    found: dict[Place, str] = {}
    for place in missing:
        if told[place] == _INDEX and has_server:
            found[place] = "disputed"
        elif any(_takes(each, place, covered.setdefault(n, set())) for n, each in enumerate(said)):
            found[place] = "said"
        else:
            found[place] = "general" if general else "silent"
    return found


def _takes(caveat: Caveat, place: Place, covered: set[tuple[str, int]]) -> bool:
    """Whether a sentence covers a place; ``covered`` are the lines that it covers so far."""
    path, line, _ = place
    if caveat.name == "unknown-symbol":
        return True
    full = caveat.most is not None and len(covered - {(path, line)}) >= caveat.most
    if full or not caveat.covers(path):
        return False
    covered.add((path, line))
    return True


@cache
def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8", errors="replace").split("\n")


def _guess(root: Path, truth: Truth, place: Place) -> str:
    """What a place looks like, so that misses can be counted by class."""
    path, line, column = place
    question = truth.question
    text = _lines(root / path)[line - 1].encode("utf-16-le")
    before, after = (text[: 2 * column].decode("utf-16-le"), text[2 * column :].decode("utf-16-le"))
    found = _NAME.match(after)
    name = found[0] if found else ""
    rest = after[len(name) :].lstrip()
    if place == (question.path, question.line, question.column):
        return "the-asked-place"
    if question.kind == "module" or re.match(r"\s*(?:from|import)\b", before):
        return "import"
    if name != question.name:
        return "other-name"
    if re.search(r"#\s*type:", before):
        return "type-comment"
    if path.endswith((".c", ".h")) and before.lstrip().startswith("#"):
        return "directive"
    if re.match(r"\s*(?:/?\*|//)", before):
        return "comment"
    if before.endswith(("'", '"')) or rest.startswith(("'", '"')):
        return "quoted"
    if before.endswith((".", "->")):
        return "member"
    if path.endswith((".py", ".pyi")) and re.match(r"=(?!=)", rest) and before.strip() != "":
        return "keyword"
    return "name"


def line_of(compared: Compared) -> str:
    """One line of a file of answers."""
    parts: dict[tuple[str, str], list[str]] = {}
    for miss in compared.misses:
        path, line, column = miss.place
        entry = f"{line}:{column}{miss.letters}/{miss.guess}"
        parts.setdefault((miss.how, path), []).append(entry)
    misses = "; ".join(f"{how} {path} {' '.join(at)}" for (how, path), at in sorted(parts.items()))
    files: dict[str, list[str]] = {}
    for path, line, column in compared.added:
        files.setdefault(path, []).append(f"{line}:{column}")
    added = "; ".join(f"{path} {' '.join(at)}" for path, at in files.items())
    said = ",".join(compared.caveats) or "clean"
    fields = (compared.place, compared.name, compared.kind, compared.result, said)
    return "\t".join((*fields, f"missing: {misses or '-'}", f"added: {added or '-'}")) + "\n"


def read_lines(text: str) -> list[Compared]:
    return [_parsed(line) for line in text.splitlines()]


def _parsed(line: str) -> Compared:
    place, name, kind, result, said, missing, more = line.split("\t")
    misses = []
    for part in _parts(missing.removeprefix("missing: ")):
        how, path, *there = part.split(" ")
        for each in there:
            at, _, guess = each.partition("/")
            row, _, rest = at.partition(":")
            column = rest.rstrip("abcdefghijklmnopqrstuvwxyz")
            misses.append(Miss((path, int(row), int(column)), how, rest[len(column) :], guess))
    added = []
    for part in _parts(more.removeprefix("added: ")):
        path, *there = part.split(" ")
        added += [(path, *_pair(each)) for each in there]
    names = () if said == "clean" else tuple(said.split(","))
    return Compared(place, name, kind, result, names, tuple(misses), tuple(added))


def _parts(text: str) -> list[str]:
    return [] if text == "-" else text.split("; ")


def _pair(text: str) -> tuple[int, int]:
    line, _, column = text.partition(":")
    return int(line), int(column)
