"""Ways of choosing code for a question under a budget, each with the same interface.

A rival is made for one project and then asked. It answers with the definitions that are there with
at least their first line (``seen``), and those that are there from first to last line (``whole``).
Tokens are counted alike for all: four bytes a token.
"""

import math
import re
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple, Protocol

from bench.context_questions import Definition, Project
from sightline.context.build import build
from sightline.context.files import CacheFolder
from sightline.context.load import load
from sightline.context.select import select

__all__ = ["Bm25", "Grep", "Reply", "Rival", "WholeFiles"]

Name = tuple[str, str]

_WORD = re.compile(r"[A-Za-z][a-z]+|[A-Z]+(?![a-z])|\d+")
_STOP = frozenset(
    "the and for with that this from are not you can will your has have was its use used into "
    "when which there their also but any all one out may must should would could been being".split()
)


class Reply(NamedTuple):
    seen: frozenset[Name]
    whole: frozenset[Name]


class Rival(Protocol):
    def ask(self, question: str, budget: int) -> Reply: ...


def words(text: str) -> list[str]:
    """Words in lower case, identifiers taken apart."""
    return [word.lower() for word in _WORD.findall(text)]


def tokens(text: str) -> int:
    return (len(text.encode()) + 3) // 4


def _reply(definitions: list[Definition]) -> Reply:
    names = frozenset((found.path, found.name) for found in definitions)
    return Reply(names, names)


class Bm25:
    """Okapi BM25 (k1 1.2, b 0.75) over functions, methods and class bodies; no tests, no tuning."""

    def __init__(self, project: Project) -> None:
        self._units = project.definitions
        self._counts = [Counter(words(f"{u.path} {u.name} {u.text}")) for u in self._units]
        self._lengths = [sum(counts.values()) for counts in self._counts]
        self._mean = sum(self._lengths) / max(1, len(self._lengths))
        having: Counter[str] = Counter(word for counts in self._counts for word in counts)
        total = len(self._units)
        self._idf = {w: math.log(1 + (total - n + 0.5) / (n + 0.5)) for w, n in having.items()}
        self._lists: dict[str, list[int]] = {}
        for number, counts in enumerate(self._counts):
            for word in counts:
                self._lists.setdefault(word, []).append(number)

    def ask(self, question: str, budget: int) -> Reply:
        scores: Counter[int] = Counter()
        for word in set(words(question)) - _STOP:
            for number in self._lists.get(word, []):
                count = self._counts[number][word]
                norm = 0.25 + 0.75 * self._lengths[number] / self._mean
                scores[number] += self._idf[word] * count * 2.2 / (count + 1.2 * norm)  # type: ignore[assignment]
        taken: list[Definition] = []
        for number, _ in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
            price = tokens(self._units[number].text)
            if price <= budget:
                budget -= price
                taken.append(self._units[number])
        return _reply(taken)


class WholeFiles:
    """Whole source files as context 0.1.0 selects documents; tests are left out for it."""

    def __init__(self, project: Project) -> None:
        self._by_path: dict[str, list[Definition]] = {}
        for definition in project.definitions:
            self._by_path.setdefault(definition.path, []).append(definition)
        self._paths: dict[str, str] = {}
        with tempfile.TemporaryDirectory() as folder:
            sources = Path(folder, "sources")
            sources.mkdir()
            for number, text in enumerate(sorted(set(project.sources.values()))):
                Path(sources, f"{number}.md").write_text(text, "utf-8")
            where = {text: path for path, text in project.sources.items()}
            build(str(sources), f"{folder}/cache")
            self._cache = load(CacheFolder(f"{folder}/cache"))
            for document in self._cache.documents:
                self._paths[document.id] = where[document.content]

    def ask(self, question: str, budget: int) -> Reply:
        taken = select(self._cache, question, budget).taken
        return _reply([d for item in taken for d in self._by_path.get(self._paths[item.id], [])])


class Grep:
    """Files by how many of the question's words a search for each finds in them, then read.

    That is what searching for every word with ripgrep and counting gives. The last file is read as
    far as the budget goes.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self._lower = {path: text.lower() for path, text in project.sources.items()}
        self._by_path: dict[str, list[Definition]] = {}
        for definition in project.definitions:
            self._by_path.setdefault(definition.path, []).append(definition)

    def ask(self, question: str, budget: int) -> Reply:
        wanted = {w for w in words(question) if len(w) > 3} - _STOP
        ranked = []
        for path, text in self._lower.items():
            counts = [text.count(word) for word in wanted]
            if any(counts):
                ranked.append((-sum(map(bool, counts)), -sum(counts), path))
        taken: list[Definition] = []
        for _, _, path in sorted(ranked):
            text = self._project.sources[path]
            lines = text.encode()[: budget * 4].count(b"\n")
            if tokens(text) <= budget:
                lines = text.count("\n") + 1
            taken += [d for d in self._by_path.get(path, []) if d.end <= lines]
            budget -= tokens(text)
            if budget <= 0:
                break
        return _reply(taken)
