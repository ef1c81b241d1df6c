"""The answer to a question about code, in the frozen shape of a selection.

``version`` is always the digest of the content that is given, so a shortened piece has another one
than its document in the cache. ``why`` counts in the words of the index, identifiers taken apart
and stemmed, and names those of the query that the content has: a long question repeated with every
piece would cost more than the pieces.
"""

from collections.abc import Callable

from sightline.context.code.choose import SCALE, Chosen, choose
from sightline.context.code.corpus import Corpus
from sightline.context.documents import version_of
from sightline.context.select import Selection, Taken
from sightline.index.terms.words import raw_words, terms

__all__ = ["answer", "chosen", "spelled"]

Pause = Callable[[], None]

_LOCK_WAIT_S = 0.02
_MOST_TERMS = 12


def answer(corpus: Corpus, question: str, budget: int, pause: Pause) -> Selection:
    """What is taken from a corpus for a question."""
    return as_selection(chosen(corpus, question, budget, pause), question, budget)


def chosen(corpus: Corpus, question: str, budget: int, pause: Pause) -> Chosen:
    """The same with the reasons. Waits while another thread uses the corpus."""
    while not corpus.lock.acquire(timeout=_LOCK_WAIT_S):
        pause()
    try:
        corpus.pause = pause
        return choose(corpus, question, budget)
    finally:
        corpus.lock.release()


def as_selection(found: Chosen, question: str, budget: int) -> Selection:
    wanted = {term.text for term in found.query.terms}
    known: dict[str, list[str]] = {}
    taken: list[Taken] = []
    for piece in found.pieces:
        content = piece.content
        matches = total = 0
        found_terms: dict[str, None] = {}
        for word in raw_words(content):
            total += 1
            hits = known.get(word)
            if hits is None:
                hits = known[word] = [term for term in terms(word) if term in wanted]
            if hits:
                matches += 1
                found_terms.update(dict.fromkeys(hits))
        taken.append(
            Taken(
                piece.id,
                version_of(content.encode()),
                content,
                spelled(piece.score),
                piece.tokens,
                matches,
                total,
                list(found_terms)[:_MOST_TERMS],
            )
        )
    names = [term.text for term in found.query.terms]
    return Selection(question, names, budget, taken, found.considered)


def spelled(score: int) -> str:
    """Ten-thousandths as a decimal number.

    >>> spelled(10_000), spelled(3_450), spelled(7)
    ('1.0', '0.345', '0.0007')
    """
    whole, rest = divmod(score, SCALE)
    return f"{whole}.{f'{rest:04}'.rstrip('0') or '0'}"
