"""Selection: documents ranked for a query, taken while the budget lasts.

The score of a document is the share of its words that are query terms. Documents are taken in the
order of their scores, then of their ids. One that does not fit the rest of the budget is passed
over and the next is tried; nothing is cut. Documents without a match are taken too while they fit.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sightline.context.load import Counted, Loaded
from sightline.context.output import quoted
from sightline.context.scores import ratio, spelled
from sightline.context.words import count_terms, words

__all__ = ["Selection", "Taken", "select"]

Pause = Callable[[], None]


class Taken(NamedTuple):
    """A document of the answer. ``score`` is its text."""

    id: str
    version: str
    content: str
    score: str
    tokens: int
    term_matches: int
    total_words: int
    #: The query's terms that it is shown with, where that is not all of them.
    terms: Sequence[str] | None = None


@dataclass(frozen=True)
class Selection:
    query: str
    terms: Sequence[str]
    budget: int
    taken: Sequence[Taken]
    considered: int

    def compact(self) -> Iterator[str]:
        """The answer as one line without its end, in pieces."""
        every = _listed(self.terms)
        yield '{"documents":['
        for number, item in enumerate(self.taken):
            yield "," if number else ""
            yield f'{{"id":{quoted(item.id)},"version":{quoted(item.version)},"content":'
            yield quoted(item.content)
            yield f',"score":{item.score},"tokens":{item.tokens},"why":{{"query_terms":'
            yield every if item.terms is None else _listed(item.terms)
            yield f',"term_matches":{item.term_matches},"total_words":{item.total_words}}}}}'
        members = ",".join(f'"{name}":{value}' for name, value in self._summary())
        yield f'],"selection":{{{members}}}}}'

    def pretty(self) -> Iterator[str]:
        """The answer over many lines, without the last one's end, in pieces."""
        every = _indented(self.terms)
        yield '{\n  "documents": ['
        for number, item in enumerate(self.taken):
            terms = every if item.terms is None else _indented(item.terms)
            yield ("," if number else "") + "\n    {\n"
            yield f'      "id": {quoted(item.id)},\n      "version": {quoted(item.version)},\n'
            yield f'      "content": {quoted(item.content)},\n      "score": {item.score},\n'
            yield f'      "tokens": {item.tokens},\n      "why": {{\n        "query_terms": '
            yield f'{terms},\n        "term_matches": {item.term_matches},\n'
            yield f'        "total_words": {item.total_words}\n      }}\n    }}'
        yield "\n  ]," if self.taken else "],"
        members = ",".join(f'\n    "{name}": {value}' for name, value in self._summary())
        yield f'\n  "selection": {{{members}\n  }}\n}}'

    def _summary(self) -> Iterable[tuple[str, str]]:
        yield "query", quoted(self.query)
        yield "budget", str(self.budget)
        yield "tokens_used", str(sum(item.tokens for item in self.taken))
        yield "documents_considered", str(self.considered)
        yield "documents_selected", str(len(self.taken))
        yield "documents_excluded_by_budget", str(self.considered - len(self.taken))


def _listed(terms: Sequence[str]) -> str:
    return "[" + ",".join(map(quoted, terms)) + "]"


def _indented(terms: Sequence[str]) -> str:
    lines = ",".join(f"\n          {quoted(term)}" for term in terms)
    return f"[{lines}\n        ]" if lines else "[]"


def select(cache: Loaded, query: str, budget: int, pause: Pause = lambda: None) -> Selection:
    """What v0 takes from a cache."""
    terms = words(query)
    wanted = Counter(terms)
    scored: list[tuple[float, str, int, int]] = []
    for number, document in enumerate(cache.documents):
        if number % 64 == 0:
            pause()
        matches = _matches(document, wanted, pause)
        scored.append((-ratio(matches, document.total_words), document.id, number, matches))
    # The number keeps the manifest's order where a damaged one lists an id twice.
    scored.sort()
    taken: list[Taken] = []
    left = budget
    for score, _, number, matches in scored:
        document = cache.documents[number]
        if document.tokens <= left:
            left -= document.tokens
            taken.append(
                Taken(
                    document.id,
                    document.version,
                    document.content,
                    spelled(-score),
                    document.tokens,
                    matches,
                    document.total_words,
                )
            )
    return Selection(query, terms, budget, taken, len(scored))


def _matches(document: Counted, wanted: Counter[str], pause: Pause) -> int:
    """How many words of a document are query terms; a term given twice counts twice."""
    counts = document.counts
    if counts is None:
        return count_terms(document.content, wanted, pause)
    if len(wanted) < len(counts):
        return sum(times * counts.get(term, 0) for term, times in wanted.items())
    return sum(wanted.get(word, 0) * count for word, count in counts.items())
