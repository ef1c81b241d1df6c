"""Choosing code for a question: what matches, what that belongs to, what it calls, best first.

1. Chunks are ranked by the index. Tests, docs, examples and settings are left out unless the
   question asks for them or nothing else matches.
2. The best of them bring along the head of the class they are in and the heads of what they call.
3. The budget is filled: each piece in full, or its signature and documentation, or not at all.
   Equal texts are taken once.

Scores are whole ten-thousandths, at most one.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from sightline.context.code.corpus import Corpus, Text
from sightline.context.code.fill import FULL, NOTHING, Candidate, fill
from sightline.context.code.relations import calls_of, header_of
from sightline.index.reading.roles import Role
from sightline.index.searching.query import Query, understand
from sightline.index.searching.ranked import Near

__all__ = ["SCALE", "Chosen", "Piece", "Weights", "choose"]

SCALE = 10_000


class Weights(NamedTuple):
    """What the choice was tuned to; docs/decisions/0007 says what each brings. In hundredths."""

    #: How many of the best bring something along.
    leaders: int = 24
    #: What a class's head and a called declaration inherit.
    header: int = 50
    call: int = 45
    #: How much of its worth a signature has.
    share: int = 80
    #: How much more the better is wanted than the good.
    power: int = 4
    #: The least score, as a share of the best one, of what is taken.
    least: int = 4
    #: How many matches are weighed: so many, and one more for every so many tokens.
    least_ranked: int = 40
    tokens_per_ranked: int = 60


TUNED = Weights()


@dataclass
class Piece:
    """A chunk on its way into the answer."""

    chunk: int
    id: str
    #: Own score and what was inherited, in ten-thousandths.
    own: int
    inherited: int = 0
    reasons: list[str] = field(default_factory=list)
    text: Text | None = None
    #: Not wanted in full: it was brought along.
    only_short: bool = False
    is_full: bool = False

    @property
    def score(self) -> int:
        return min(SCALE, self.own + self.inherited)

    @property
    def content(self) -> str:
        assert self.text is not None
        return self.text.full if self.is_full or self.text.short is None else self.text.short

    @property
    def tokens(self) -> int:
        """What the content costs."""
        text = self.text
        assert text is not None
        return text.full_tokens if self.is_full or text.short is None else text.short_tokens


class Chosen(NamedTuple):
    query: Query
    pieces: list[Piece]
    considered: int
    #: What else was weighed and did not fit or was not wanted enough.
    left_out: list[Piece]
    #: How vectors took part, in words.
    meaning: str


def choose(corpus: Corpus, question: str, budget: int, weights: Weights = TUNED) -> Chosen:
    """What to take from a corpus for a question and a number of tokens."""
    corpus.trim()
    query = understand(question)
    near = corpus.near(query)
    pieces, weight = _ranked(
        corpus, query, near, weights.least_ranked + budget // weights.tokens_per_ranked
    )
    _bring_along(corpus, pieces, weights)
    corpus.pause()
    wanted = _distinct(corpus, pieces, weights)
    candidates = [_candidate(piece, weights) for piece in wanted]
    taken: list[Piece] = []
    left: list[Piece] = []
    for piece, state in zip(wanted, fill(candidates, budget, corpus.pause), strict=True):
        piece.is_full = state == FULL
        (left if state == NOTHING else taken).append(piece)
    return Chosen(
        query,
        sorted(taken, key=_order),
        corpus.size,
        sorted(left, key=_order),
        _meaning(corpus, weight),
    )


def _order(piece: Piece) -> tuple[int, int, bytes]:
    return -piece.score, -piece.own, piece.id.encode()


def _meaning(corpus: Corpus, weight: float) -> str:
    if weight > 0.0:
        return f"words and vectors (weight {weight:.2f})"
    if corpus.matrix is not None:
        return "words alone: the query is looked up as it is written"
    return f"words alone: {corpus.lacking}"


def _ranked(
    corpus: Corpus, query: Query, near: Near | None, most: int
) -> tuple[dict[int, Piece], float]:
    """The chunks that match best, by number, and how much vectors counted."""
    roles = frozenset((Role.SOURCE,)) | query.wants
    results = corpus.ranked(query, roles, near)
    if not results.found:
        results = corpus.ranked(query, None, near)
    units = [(found.chunk, round(found.score * SCALE)) for found in results.found[:most]]
    top = max([SCALE, *(unit for _, unit in units)])
    pieces = {
        chunk: Piece(chunk, corpus.id(chunk), unit * SCALE // top, reasons=["matches"])
        for chunk, unit in units
    }
    return pieces, results.weight


def _bring_along(corpus: Corpus, pieces: dict[int, Piece], weights: Weights) -> None:
    leaders = list(pieces.values())[: weights.leaders]
    for leader in leaders:
        corpus.pause()
        header = header_of(corpus, leader.chunk)
        if header is not None:
            _inherit(corpus, pieces, header, leader, weights.header, "class of")
        for called, sure in calls_of(corpus, leader.chunk):
            _inherit(corpus, pieces, called, leader, weights.call * sure // 10, "called by")


def _inherit(
    corpus: Corpus, pieces: dict[int, Piece], chunk: int, leader: Piece, share: int, word: str
) -> None:
    piece = pieces.get(chunk)
    if piece is None:
        piece = pieces[chunk] = Piece(chunk, corpus.id(chunk), 0, only_short=True)
    piece.inherited = max(piece.inherited, leader.own * share // 100)
    if len(piece.reasons) < 4:
        piece.reasons.append(f"{word} {leader.id}")


def _distinct(corpus: Corpus, pieces: dict[int, Piece], weights: Weights) -> list[Piece]:
    """The pieces that are wanted enough, best first, equal texts once."""
    ordered = sorted(pieces.values(), key=_order)
    least = ordered[0].score * weights.least // 100 if ordered else 0
    seen: set[str] = set()
    kept: list[Piece] = []
    for piece in ordered:
        if piece.score <= least:
            break
        piece.text = corpus.text(piece.chunk)
        if piece.text.bare and piece.text.bare not in seen:
            seen.add(piece.text.bare)
            kept.append(piece)
    return kept


def _candidate(piece: Piece, weights: Weights) -> Candidate:
    text = piece.text
    assert text is not None
    short = None if text.short is None else text.short_tokens
    only_short = piece.only_short and short is not None
    return Candidate(piece.score**weights.power, text.full_tokens, short, weights.share, only_short)
