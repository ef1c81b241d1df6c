"""One search on one root: from a request and a snapshot to ordered results, and from a result to
what is shown of it.

A ranked search adds the nearness of vectors to its own scores where the caller brings them (see
``dense``). Everything blocks; the caller runs it in a thread and cancels through ``check``.
"""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from sightline.contract.canonical import sha256_hex
from sightline.contract.uris import uri_of
from sightline.contract.values import Position
from sightline.index.cutting.chunks import Chunk
from sightline.index.cutting.windows import line_ends
from sightline.index.searching.explain import reasons_for
from sightline.index.searching.filters import Filters, Scope, split_name
from sightline.index.searching.hits import Hit, line_and_column
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.nearby import near_names
from sightline.index.searching.query import Query, understand
from sightline.index.searching.ranked import Near, Ranked
from sightline.index.searching.results import Found, Missing, Records, Results
from sightline.index.searching.scanning import Scanner
from sightline.index.searching.snippets import Limits, Marks, matching_line, snippet
from sightline.index.searching.texts import Texts
from sightline.index.storage.snapshot import Snapshot

__all__ = ["Item", "Mode", "Ranking", "Request", "RootSearch", "hit_id"]

Mode = Literal["auto", "literal", "regex"]
#: Whether vectors rank beside words: never, always, or once they are there.
Ranking = Literal["words", "full", "auto"]


class Request(NamedTuple):
    query: str
    mode: Mode = "auto"
    filters: Filters = Filters()
    explain: bool = False
    limits: Limits = Limits()
    ranking: Ranking = "auto"


class Item(NamedTuple):
    """A hit as it is shown. Lines count from 1; the position is 0-based, as in LSP."""

    id: str
    path: str
    uri: str
    start_line: int
    end_line: int
    position: Position
    language: str
    kind: str
    name: str
    score: float
    snippet: str
    reasons: tuple[str, ...]


def hit_id(uri: str, start_line: int, end_line: int, content: bytes) -> str:
    """Names a range of lines in one version of a file. Lines count from 1."""
    return f"{sha256_hex(uri)[:12]}:{start_line}-{end_line}:{content.hex()[:8]}"


class RootSearch:
    """A search on one root, kept for as long as its pages are asked for."""

    def __init__(
        self,
        snapshot: Snapshot,
        root: str,
        lookup: Lookup,
        request: Request,
        check: Callable[[], None] = lambda: None,
        near: Near | None = None,
        query: Query | None = None,
        elsewhere: tuple[str, ...] = (),
    ) -> None:
        """``query``: what is meant by the request, where that is known already. ``elsewhere``: the
        beginnings of paths that another root answers for."""
        self.snapshot = snapshot
        self._near = near
        #: How much vectors counted in the end.
        self._weight = 0.0
        self.root = root
        self.request = request
        self._lookup = lookup
        self._texts = Texts(snapshot, root)
        self._records = Records(snapshot)
        if query is None and request.mode == "auto":
            query = understand(request.query)
        self._query = query
        self._marks = Marks([term.text for term in self._query.terms] if self._query else [])
        self._check = check
        self._elsewhere = elsewhere
        #: Whether a file passes the filters of files.
        self.has_files = False

    def run(self) -> Results:
        scope = Scope(self.snapshot, self._lookup, self.request.filters, self._elsewhere)
        self.has_files = bool(scope.files.any())
        results = self._results(scope)
        if scope.undeclared:
            symbol = self.request.filters.symbol
            name = split_name(symbol)[-1]
            near = near_names(self.snapshot, self._lookup, self._records, scope, name)
            return results._replace(missing=Missing(symbol, True, near))
        return results

    def _results(self, scope: Scope) -> Results:
        lines = self.request.limits.matching
        scanner = Scanner(
            self.snapshot, self._lookup, self._texts, self._records, self._check, lines
        )
        if self.request.mode == "literal":
            return scanner.literal(self.request.query, scope)
        if self.request.mode == "regex":
            return scanner.pattern(self.request.query, scope)
        assert self._query is not None
        ranked = Ranked(
            self.snapshot,
            self._lookup,
            scanner,
            self._records,
            self._query,
            scope,
            self._check,
            near=self._near,
        )
        results = ranked.run()
        self._weight = results.weight
        return results

    def release(self) -> None:
        """Lets go of what only the search itself needed; pages are shown from the files."""
        self._check = lambda: None
        self._texts = Texts(self.snapshot, self.root)
        self._records = Records(self.snapshot)

    def path(self, found: Found) -> str:
        return self.snapshot.path(self._records.place(found.chunk)[0])

    def line(self, found: Found, number: int) -> str:
        """A line of a result's file, from 0, as it is shown."""
        data = self._texts.at(self.path(found))
        ends = line_ends(data)
        start = int(ends[number - 1]) + 1 if 0 < number <= len(ends) else 0
        return matching_line(data, ends, start)[1]

    def lines(self, path: str, found: Sequence[Found]) -> dict[int, str]:
        """The lines of a file, from 1, in which the matches of some of its results begin, in the
        order of the file. Raises ``Outdated`` if it changed meanwhile."""
        data = self._texts.at(path)
        ends = line_ends(data)
        starts = sorted(start for each in found for start, _ in each.matches)
        shown = (matching_line(data, ends, start) for start in reversed(starts))
        return dict(sorted((line + 1, text) for line, text in shown))

    def chunk(self, found: Found) -> Chunk:
        return self._records.chunk(found.chunk)

    def item(self, found: Found) -> Item:
        """What is shown of a result. Raises ``Outdated`` if its file changed meanwhile."""
        hit = self._hit(found)
        data = self._texts.at(hit.path)
        row = self.snapshot.rows[hit.path]
        uri = uri_of(f"{self.root}/{hit.path}")
        start, end = hit.start_line + 1, hit.end_line + 1
        return Item(
            hit_id(uri, start, end, row.hash),
            hit.path,
            uri,
            start,
            end,
            self._position(hit, data),
            row.language,
            hit.kind,
            hit.name,
            hit.score,
            snippet(data, hit, self._marks, self.request.limits),
            self._reasons(hit, found),
        )

    def _hit(self, found: Found) -> Hit:
        filters = self.request.filters
        name = split_name(filters.symbol)[-1] if filters.symbol else ""
        if not name and self._query is not None and self._query.names:
            chunk = self._records.chunk(found.chunk)
            declared = {symbol.name for symbol in chunk.symbols}
            name = next((own for own in self._query.names if own in declared), "")
            if not name and self._query.exact:
                name = self._query.exact[-1]
        return self._records.hit(found, name, filters.kind)

    def _position(self, hit: Hit, data: bytes) -> Position:
        place = self._place(hit, data)
        if place.line == 0 and self._texts.is_marked(hit.path):
            return Position(0, place.character + 1)
        return place

    @staticmethod
    def _place(hit: Hit, data: bytes) -> Position:
        """Where to look, in the text of the index."""
        if hit.matches:
            return Position(*line_and_column(data, hit.matches[0][0]))
        if hit.symbol is not None:
            return Position(hit.symbol.line, hit.symbol.column)
        start = hit.chunk.spans[0][0] if hit.chunk.spans else 0
        while start < len(data) and data[start : start + 1].isspace():
            start += 1
        return Position(*line_and_column(data, start))

    def _reasons(self, hit: Hit, found: Found) -> tuple[str, ...]:
        if not self.request.explain:
            return ()
        reasons = reasons_for(
            self.snapshot, self._lookup, self._query, hit, found.chunk, self.request.mode
        )
        if self._near is not None and self._weight > 0.0:
            near = float(self._near.matrix.near(self._near.query(), np.array([found.chunk]))[0])
            reasons = (*reasons, f"near in meaning: {near:.2f} (weight {self._weight:.2f})")
        return reasons
