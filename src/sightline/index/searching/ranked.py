"""Ranked search: the terms of a query scored, then what else is known about it added.

In this order: what declares the one name that is asked for, tests and docs after the others; what
declares it in another spelling; what has it as a word, where nothing declares it; and then evidence
adds up: terms in chunk and file, names declared, phrases that stand there word for word, files that
the text mentions.
Tests, docs, generated and vendored files count less unless they are asked for. Several chunks of
one file count a little less each, so that one file does not fill the page.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.nearness import Matrix
from sightline.index.dense.vectors import Vectors
from sightline.index.reading.roles import Role
from sightline.index.searching.filters import Scope, ends_with, split_name
from sightline.index.searching.fusion import CANDIDATES, clearness, fused
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.nearby import near_names
from sightline.index.searching.query import Query
from sightline.index.searching.rank import Scores, Weights, score
from sightline.index.searching.results import (
    SCALE,
    Candidate,
    Found,
    Missing,
    Records,
    Results,
    best,
)
from sightline.index.searching.scanning import Scanner
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import Snapshot
from sightline.index.terms.words import compact

__all__ = ["MAX_RESULTS", "Near", "Ranked"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MAX_RESULTS = 200
_POOL = 2 * MAX_RESULTS
#: A share of the highest score that few chunks have.
_MUCH = 0.15
#: Totals are rounded to whole ten thousandths; what is further apart stays so.
_MARGIN = 2 / SCALE

#: How much of a score is the file's: more for long texts, which describe a place and not a thing.
_MIX_SHORT = 0.2
_MIX_LONG = 0.4
_REPEAT = 0.9
_ROLE_FACTORS = {
    Role.SOURCE: 1.0,
    Role.TEST: 0.5,
    Role.DOCS: 0.5,
    Role.EXAMPLE: 0.6,
    Role.CONFIG: 0.7,
    Role.GENERATED: 0.4,
    Role.VENDORED: 0.4,
}
#: What the one name that is asked for adds where it is declared, where it is declared in another
#: spelling, and where it is a word of the text. Everything else adds up to 1 at most.
_EXACT = 6.0
_EXACT_LOOSE = 3.0
_HELD = 1.0
#: How much less a declaration counts whose file counts less.
_ELSEWHERE = 0.95
_NAME = 0.35
_NAME_LOOSE = 0.15
_COMMON_NAME = 5
_PHRASE = 0.5
#: A long text quotes much, mostly what is seen and not what is wrong.
_PHRASE_TOLD = 0.25
#: Names, phrases and mentions of a long text never count more than this for one chunk.
_MAX_TOLD = 0.5
_VERBATIM = 0.4
#: Fewer words may stand somewhere by chance.
_COPIED_WORDS = 3
_MENTION = 0.35
_MENTION_NAME = 0.2
_MAX_MENTIONED = 3
_MAX_PHRASE_FILES = 200
_MAX_NAME_FILES = 200
#: Kinds that a name is usually asked for, before fields, keys and prototypes of the same name.
_SMALL_KINDS = frozenset("field key property variable constant".split())


class Near(NamedTuple):
    """Vectors for one search: of a root's chunks and of the query, and how much they count."""

    matrix: Matrix
    #: The vector of the query. It is asked for only by a search that needs it.
    query: Callable[[], Vectors]
    weight: float


class Nearest(NamedTuple):
    """The chunks that are nearest to a query, ascending, how near each is, and what that counts."""

    chunks: Ints
    values: Floats
    weight: float


class _Evidence(NamedTuple):
    """All that speaks for chunks."""

    scores: Scores
    bonus: Floats | None
    #: Which may be in the answer at all.
    must: NDArray[np.bool_] | None
    nearest: Nearest | None


class _Said(NamedTuple):
    """What is added to scores, and what should be said of it."""

    bonus: Floats | None = None
    note: str = ""
    #: Which may be in the answer at all.
    must: NDArray[np.bool_] | None = None
    #: Whether the query stands somewhere as it is written. Then it was copied, and vectors would
    #: only blur it.
    written: bool = False
    missing: Missing | None = None


def _last_of_best(total: Floats) -> float:
    """The least of as many as are wanted."""
    return float(np.partition(total, len(total) - _POOL)[len(total) - _POOL])


class Ranked(NamedTuple):
    """One ranked search on one snapshot."""

    snapshot: Snapshot
    lookup: Lookup
    scanner: Scanner
    records: Records
    query: Query
    scope: Scope
    #: Raises when the search was cancelled.
    check: Callable[[], None]
    weights: Weights = Weights()
    near: Near | None = None

    def run(self) -> Results:
        scores = score(self.snapshot, self.lookup, self.query.terms, self.weights)
        self.check()
        bonus, note, must, written, missing = self._evidence()
        near = None if written else self.near
        nearest = None if near is None else self._nearest(near)
        evidence = _Evidence(scores, bonus, must, nearest)
        # Most chunks have little of the highest score. They need no look where enough others are
        # better than any of them can be.
        chunks, total = self._totals(evidence, _MUCH)
        if len(chunks) < _POOL or _last_of_best(total) <= self._at_most(_MUCH, evidence) + _MARGIN:
            chunks, total = self._totals(evidence, 0.0)
        self.check()
        pool = best(self.snapshot, chunks, total, _POOL)
        capped = len(pool) > MAX_RESULTS
        pool = self._spread(self._exact_first(pool))
        found = [Found(chunk, -down / SCALE) for down, _, _, chunk, _ in pool[:MAX_RESULTS]]
        weight = 0.0 if nearest is None else nearest.weight
        return Results(found, capped, note, weight=weight, missing=missing)

    def _nearest(self, near: Near) -> Nearest:
        chunks, values = near.matrix.nearest(near.query(), self.scope.chunks, CANDIDATES)
        self.check()
        return Nearest(chunks, values, near.weight * clearness(values))

    def _totals(self, evidence: "_Evidence", share: float) -> tuple[Ints, Floats]:
        """The chunks that have more than a share of the highest score, or something else that
        speaks for them, ascending; and what all of it adds up to."""
        scores, bonus, must, nearest = evidence
        chunks = self._candidates(evidence, share)
        owners = self.snapshot.chunk_file[chunks]
        total = self._base(scores, chunks, owners)
        if nearest is not None:
            total = self._with_vectors(total, chunks, nearest)
        total *= self._factors()[owners]
        if bonus is not None:
            total += bonus[chunks]
        if must is not None:
            total[~must[chunks]] = 0.0
        return chunks, total

    def _candidates(self, evidence: "_Evidence", share: float) -> Ints:
        scores, bonus, _, nearest = evidence
        wanted = scores.chunks > share * self._highest(scores.chunks, self.scope.chunks)
        if bonus is not None:
            wanted |= bonus > 0.0
        if self.scope.narrow:
            wanted &= self.scope.chunks
        if nearest is not None:
            wanted[nearest.chunks] = True
        return np.flatnonzero(wanted)

    def _at_most(self, share: float, evidence: "_Evidence") -> float:
        """What a chunk can have that is not among those with more than a share."""
        mixed = (1.0 - self._mix) * share + self._mix
        return mixed if evidence.nearest is None else mixed / (1.0 + evidence.nearest.weight)

    @property
    def _mix(self) -> float:
        return _MIX_SHORT if self.query.short else _MIX_LONG

    def _base(self, scores: Scores, chunks: Ints, owners: Ints) -> Floats:
        """The scores of chunk and file mixed, between 0 and 1."""
        own = scores.chunks[chunks]
        highest = float(own.max(initial=0.0))
        if highest <= 0.0:
            return np.zeros(len(chunks))
        highest_file = self._highest(scores.files, self.scope.files) or 1.0
        mixed = own * ((1.0 - self._mix) / highest)
        mixed += (scores.files * (self._mix / highest_file))[owners]
        none = own <= 0.0
        if none.any():
            mixed[none] = 0.0
        return mixed

    def _highest(self, values: Floats, inside: NDArray[np.bool_]) -> float:
        """The highest of what passes the filters. The dead have no score."""
        if self.scope.narrow:
            values = values[inside]
        return float(values.max(initial=0.0))

    @staticmethod
    def _with_vectors(base: Floats, chunks: Ints, nearest: Nearest) -> Floats:
        """Words and nearness joined. ``chunks`` has all of the nearest; the others have none."""
        values = np.zeros(len(chunks))
        values[np.searchsorted(chunks, nearest.chunks)] = nearest.values
        return fused(base, values, nearest.weight)

    def _factors(self) -> Floats:
        """Per file: what its role makes of the scores of its chunks."""
        table = np.ones(len(Role))
        for role, factor in _ROLE_FACTORS.items():
            table[role] = 1.0 if role in self._wanted() else factor
        return table[self.snapshot.roles]

    def _wanted(self) -> frozenset[Role]:
        filters = self.scope.filters
        if filters.paths:
            return frozenset(Role)
        if filters.language or filters.kind in ("section", "key"):
            return self.query.wants | {Role.DOCS, Role.CONFIG}
        return self.query.wants

    # Evidence

    @property
    def _named(self) -> tuple[str, ...]:
        """The parts of the one name that is asked for, outermost first; or nothing."""
        symbol = self.scope.filters.symbol
        return tuple(split_name(symbol)) if symbol else self.query.exact

    def _evidence(self) -> _Said:
        query, named = self.query, self._named
        verbatim = query.verbatim if not query.phrases and not query.exact else ""
        if not (named or query.names or query.mentions or query.phrases or verbatim):
            return _Said()
        bonus = np.zeros(self.snapshot.chunks)
        missing: Missing | None = None
        if named:
            missing = self._add_one_name(bonus, named[-1])
        else:
            for name in query.names:
                self._add_name(bonus, name)
        for mention in query.mentions:
            self._add_mention(bonus, mention)
        note, must, written = "", None, False
        if query.phrases:
            note, must = self._add_phrases(bonus)
        elif verbatim:
            where = self.scanner.chunks_with(verbatim, self.scope, _MAX_PHRASE_FILES)
            if where:
                factors = self._factors()[self.snapshot.chunk_file[where]]
                bonus[where] += _VERBATIM * factors
                # Documentation may put a question as somebody else does; code says what it says.
                copied = len(query.text.split()) >= _COPIED_WORDS
                written = copied and bool((factors >= 1.0).any())
        if query.tells:
            factors = self._factors()[self.snapshot.chunk_file]
            np.minimum(bonus * factors, _MAX_TOLD, out=bonus)
        return _Said(bonus, note, must, written, missing)

    def _add_one_name(self, bonus: Floats, name: str) -> Missing | None:
        """Chunks that declare the one name that is asked for, or else have it."""
        declaring = 0
        spelled = (("l" + compact(name), _EXACT_LOOSE), ("s" + name, _EXACT))
        for key, gain in spelled:
            found = self.lookup.terms(self.snapshot, term_key(key)).chunks
            found = found[self.scope.chunks[found]]
            less = self._factors()[self.snapshot.chunk_file[found]] < 1.0
            bonus[found] = gain - _ELSEWHERE * less
            declaring = len(found)
        if declaring or self.scope.filters.symbol or self._is_file:
            return None
        held = self.scanner.holding(name, self.scope, _MAX_NAME_FILES)
        if held:
            bonus[held] = np.maximum(bonus[held], _HELD)
        if held is None or held or bonus.any():
            return None
        near = near_names(self.snapshot, self.lookup, self.records, self.scope, name)
        return Missing(name, False, near)

    @property
    def _is_file(self) -> bool:
        """Whether the query names a file that is there."""
        names = (mention.lower().rpartition("/")[2] for mention in self.query.mentions)
        return any(self.snapshot.named(name) for name in names)

    def _add_name(self, bonus: Floats, name: str) -> None:
        """Chunks that declare a name; a name that many declare says less."""
        same = self.lookup.terms(self.snapshot, term_key("s" + name)).chunks
        alike = self.lookup.terms(self.snapshot, term_key("l" + compact(name))).chunks
        rarity = min(1.0, _COMMON_NAME / max(len(alike), 1))
        bonus[alike] += _NAME_LOOSE * rarity
        bonus[same] += (_NAME - _NAME_LOOSE) * rarity

    def _add_mention(self, bonus: Floats, mention: str) -> None:
        """Files whose path ends as the text says."""
        parts = mention.lower().split("/")
        counts = self.snapshot.file_counts
        named = [file for file in self.snapshot.named(parts[-1]) if counts[file]]
        scored = [(self._common_end(file, parts), file) for file in named]
        longest = max((length for length, _ in scored), default=0)
        files = [file for length, file in scored if length == longest]
        if not files or len(files) > _MAX_MENTIONED:
            return
        gain = _MENTION if longest > 1 else _MENTION_NAME
        first = self.snapshot.chunk_first
        for file in files:
            bonus[first[file] : first[file + 1]] += gain

    def _common_end(self, file: int, parts: list[str]) -> int:
        own = self.snapshot.path(file).lower().split("/")
        length = 0
        while length < min(len(own), len(parts)) and own[-1 - length] == parts[-1 - length]:
            length += 1
        return length

    def _add_phrases(self, bonus: Floats) -> tuple[str, NDArray[np.bool_] | None]:
        """Quoted phrases must be there, if they are anywhere and the query is short."""
        missing: list[str] = []
        common: list[str] = []
        must: NDArray[np.bool_] | None = None
        for phrase in self.query.phrases:
            where = self.scanner.chunks_with(phrase, self.scope, _MAX_PHRASE_FILES)
            self.check()
            if where is None:  # in too many files to tell chunks apart by it, or too short
                common.append(phrase)
                continue
            if not where:
                missing.append(phrase)
                continue
            bonus[where] += _PHRASE_TOLD if self.query.tells else _PHRASE
            if self.query.short:
                has = np.zeros(len(bonus), bool)
                has[where] = True
                must = has if must is None else must & has
        note = ""
        if common and self.query.short:
            note = f'"{common[0][:60]}" is too common or short to ask for; its words were ranked.'
        if missing and self.query.short:
            note = f'"{missing[0][:60]}" does not occur as written; its words were ranked.'
        if must is not None and not must.any():
            note, must = "No chunk has all the quoted phrases; their words were ranked.", None
        return note, must

    # Order

    def _exact_first(self, pool: list[Candidate]) -> list[Candidate]:
        """Among chunks that declare the exact name, the right container and kind come first."""
        if not self._named:
            return pool
        *outer, name = self._named
        adjusted = [
            (down - self._fit(down, file, number, name, outer), path, number, chunk, file)
            for down, path, number, chunk, file in pool[:MAX_RESULTS]
        ]
        return sorted(adjusted)

    def _fit(self, down: int, file: int, number: int, name: str, outer: list[str]) -> int:
        """How well a declaration fits the qualified name that was asked for."""
        if -down < SCALE * (_EXACT_LOOSE - _ELSEWHERE):
            return 0
        chunk, container, kind = self.records.of(file).declared(number, name)
        if kind is None:
            return 0
        own = compact(name) == compact(chunk)
        change = 0.0
        if outer:
            around = container if own else f"{container}.{chunk}"
            change += 0.5 if ends_with(around.strip("."), outer) else -0.5
        if not own:
            change -= 0.3
        if kind in _SMALL_KINDS:
            change -= 0.1
        return round(change * SCALE)

    def _spread(self, pool: list[Candidate]) -> list[Candidate]:
        """Each further chunk of a file counts a little less."""
        if self._named:
            return pool
        seen: dict[int, int] = {}
        spread: list[Candidate] = []
        for down, path, number, chunk, file in pool:
            before = seen.get(file, 0)
            seen[file] = before + 1
            less = round(down * _REPEAT**before) if before else down
            spread.append((less, path, number, chunk, file))
        return sorted(spread)
