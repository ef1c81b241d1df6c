"""What selection works on: a snapshot of an index, and the texts of its files.

The live index and a loaded cache are both one of these, so there is one way of choosing. Texts are
bytes in which the chunks' spans lie; a live file that changed meanwhile is ``Outdated``. A snapshot
never changes, so what was worked out about its chunks is kept for the next question. One thread at
a time may use a corpus: take ``lock``.
"""

import threading
from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple, Protocol, cast

import numpy as np

from sightline.context.code.pieces import chunk_ids, chunk_text
from sightline.context.code.signatures import signature
from sightline.context.documents import tokens_of
from sightline.contract.failures import Unavailable
from sightline.index.cutting.chunks import Chunk
from sightline.index.dense.encoder import encode_query
from sightline.index.dense.nearness import Matrix
from sightline.index.dense.weights import bundled
from sightline.index.reading.roles import Role
from sightline.index.searching.filters import Filters, Scope
from sightline.index.searching.fusion import fusion_for
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.query import Query
from sightline.index.searching.ranked import Near, Ranked
from sightline.index.searching.results import Records, Results
from sightline.index.searching.scanning import Scanner
from sightline.index.searching.texts import Texts
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import Snapshot

__all__ = ["Corpus", "Text", "TextSource"]

Pause = Callable[[], None]

_MOST_KEPT = 30_000
#: How much of their weight in a search vectors have here: a budget is filled with many pieces, and
#: what only looks alike must not crowd out what is named. Chosen on two held-out repositories.
_OF_SEARCH = 0.25


class TextSource(Protocol):
    """The bytes of a file of a snapshot, as ``index.texts`` gives them."""

    def of(self, file: int) -> bytes: ...

    def at(self, path: str) -> bytes: ...


class Text(NamedTuple):
    """The own text of a chunk, its short form where it has one, and what they cost."""

    full: str
    short: str | None
    full_tokens: int
    short_tokens: int
    #: The text without regard to blanks, by which equal ones are known.
    bare: str


class Corpus:
    def __init__(
        self,
        snapshot: Snapshot,
        texts: TextSource,
        lookup: Lookup,
        count: Callable[[str], int] = tokens_of,
    ) -> None:
        self.snapshot = snapshot
        self.lookup = lookup
        self.texts = texts
        #: What the tokens of a text are counted by.
        self._count = count
        self.lock = threading.Lock()
        #: The vectors of all chunks. Without them what matches is told by words alone.
        self.matrix: Matrix | None = None
        #: Why there are none.
        self.lacking = "no vectors were made"
        #: Raises when nobody waits for the answer any more.
        self.pause: Pause = _never
        self.records = Records(snapshot)
        self._ids: dict[int, list[str]] = {}
        self._chunks: dict[int, Chunk] = {}
        self._texts: dict[int, Text] = {}
        self._declaring: dict[str, list[int]] = {}
        self.calls: dict[int, list[tuple[int, int]]] = {}

    @property
    def size(self) -> int:
        return self.snapshot.living_chunks

    def near(self, query: Query) -> Near | None:
        """The vectors for a query that gains from them; the model is loaded with the first."""
        weight = _OF_SEARCH * fusion_for(query)
        if self.matrix is None or weight <= 0.0:
            return None
        try:
            weights = bundled()
        except Unavailable as failure:
            self.matrix, self.lacking = None, failure.advice
            return None
        if self.matrix.width != weights.size:
            self.matrix, self.lacking = None, "the vectors are not of this model"
            return None
        return Near(self.matrix, cache(partial(encode_query, weights, query.text)), weight)

    def ranked(
        self, query: Query, roles: frozenset[Role] | None, near: Near | None = None
    ) -> Results:
        """The best chunks for a query among files of some roles, or of all."""
        scope = Scope(self.snapshot, self.lookup, Filters())
        if roles is not None:
            wanted = np.isin(self.snapshot.roles, sorted(roles))
            scope.files = scope.files & wanted
            scope.chunks = scope.chunks & wanted[self.snapshot.chunk_file]
        texts = cast("Texts", self.texts)
        scanner = Scanner(self.snapshot, self.lookup, texts, self.records, self.pause)
        return Ranked(
            self.snapshot,
            self.lookup,
            scanner,
            self.records,
            query,
            scope,
            self.pause,
            near=near,
        ).run()

    def declaring(self, name: str) -> list[int]:
        """The living chunks that declare a name, exactly as it is spelled."""
        found = self._declaring.get(name)
        if found is None:
            found = self.lookup.terms(self.snapshot, term_key("s" + name)).chunks.tolist()
            self._declaring[name] = found
        return found

    def chunk(self, number: int) -> Chunk:
        found = self._chunks.get(number)
        if found is None:
            found = self._chunks[number] = self.records.chunk(number)
        return found

    def file_of(self, number: int) -> int:
        return int(self.snapshot.chunk_file[number])

    def path(self, number: int) -> str:
        return self.snapshot.path(self.file_of(number))

    def role(self, number: int) -> Role:
        return Role(int(self.snapshot.roles[self.file_of(number)]))

    def id(self, number: int) -> str:
        file, place = self.records.place(number)
        if file not in self._ids:
            self._ids[file] = chunk_ids(self.snapshot.path(file), self.records.of(file))
        return self._ids[file][place]

    def text(self, number: int) -> Text:
        found = self._texts.get(number)
        if found is None:
            path = self.path(number)
            full = self.own_text(number)
            chunk = self.chunk(number)
            # A later part of something long has no head of its own.
            is_head = any(symbol.name == chunk.name for symbol in chunk.symbols)
            short = signature(full, self.snapshot.rows[path].language) if is_head else None
            short_tokens = self._count(short) if short is not None else 0
            bare = " ".join(full.split())
            found = Text(full, short, self._count(full), short_tokens, bare)
            self._texts[number] = found
        return found

    def own_text(self, number: int) -> str:
        """The text of a chunk, not kept."""
        return chunk_text(self.chunk(number), self.texts.of(self.file_of(number)))

    def trim(self) -> None:
        """Forgets what was worked out when it has become much."""
        for kept in (self._ids, self._chunks, self._texts, self._declaring, self.calls):
            if len(kept) > _MOST_KEPT:
                kept.clear()


def _never() -> None:
    """Nobody wants to stop."""
