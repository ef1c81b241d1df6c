"""What a search may answer with: the chunks that pass its path, language, kind and symbol filters.

A filter is a condition, not evidence: what does not pass is not there. Several path globs are
alternatives; one that begins with ``!`` takes away.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.contract.failures import InvalidArguments
from sightline.index.cutting.chunks import KIND_BITS, Chunk, Symbol
from sightline.index.reading.languages import ALIASES, LANGUAGES
from sightline.index.searching.lookup import Lookup
from sightline.index.searching.results import Records
from sightline.index.storage.segment import term_key
from sightline.index.storage.snapshot import LANGUAGE_CODES, Snapshot
from sightline.index.terms.words import compact
from sightline.workspace.path_globs import PathGlobs

__all__ = ["Filters", "Scope", "ends_with", "language_named", "split_name", "symbols_named"]

Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

#: Asking for one of these languages also means its variants.
_VARIANTS = {"typescript": ("tsx",), "python": ("starlark",)}


class Filters(NamedTuple):
    paths: tuple[str, ...] = ()
    language: str = ""
    kind: str = ""
    symbol: str = ""

    @property
    def any(self) -> bool:
        return bool(self.paths or self.language or self.kind or self.symbol)


class Scope:
    """The files and chunks of a snapshot that pass, alive ones only."""

    def __init__(
        self,
        snapshot: Snapshot,
        lookup: Lookup,
        filters: Filters,
        elsewhere: tuple[str, ...] = (),
    ) -> None:
        """``elsewhere``: the beginnings of paths that another root answers for."""
        self.filters = filters
        #: Whether nothing is declared under the name of the symbol filter.
        self.undeclared = False
        self._snapshot = snapshot
        self.files: Flags = snapshot.file_alive
        if elsewhere:
            own = [not path.startswith(elsewhere) for path in snapshot.paths]
            self.files = self.files & np.array(own, bool)
        if filters.paths:
            self.files = self.files & _paths(snapshot, filters.paths)
        if filters.language:
            self.files = self.files & _languages(snapshot, filters.language)
        self.chunks: Flags = snapshot.chunk_alive
        if filters.paths or filters.language or elsewhere:
            self.chunks = self.chunks & self.files[snapshot.chunk_file]
        if filters.kind:
            self.chunks = self.chunks & (snapshot.chunk_kinds & KIND_BITS[filters.kind] > 0)
        if filters.symbol:
            declaring = _declaring(snapshot, lookup, filters.symbol)
            self.undeclared = not bool((declaring & snapshot.chunk_alive).any())
            self.chunks = self.chunks & declaring

    @property
    def narrow(self) -> bool:
        """Whether something alive does not pass."""
        return self.chunks is not self._snapshot.chunk_alive

    @property
    def with_chunks(self) -> Flags:
        """The files of which any chunk passes."""
        if not (self.filters.kind or self.filters.symbol):
            return self.files
        flags = np.zeros(self._snapshot.files, bool)
        flags[self._snapshot.chunk_file[self.chunks]] = True
        return flags


def ends_with(container: str, outer: Sequence[str]) -> bool:
    """Whether a dotted container ends with the given names."""
    names = container.replace(" > ", ".").split(".")
    return [name.lower() for name in names[-len(outer) :]] == [name.lower() for name in outer]


def split_name(name: str) -> list[str]:
    """``net::Server#start`` as its parts."""
    for separator in ("::", "#", "->", "/"):
        name = name.replace(separator, ".")
    return [part for part in name.removesuffix("()").split(".") if part] or [name]


def symbols_named(chunk: Chunk, symbol: str, *, exact: bool) -> list[tuple[Symbol, str]]:
    """The symbols of a chunk that a name means, qualified or not, each with the names around it.

    Around a symbol that is not the chunk's own is the chunk. Without ``exact``, case and
    underscores of the last name do not count.
    """
    *outer, name = split_name(symbol)
    found: list[tuple[Symbol, str]] = []
    for place, declared in enumerate(chunk.symbols):
        same = declared.name == name if exact else compact(declared.name) == compact(name)
        own = place == 0 and declared.name == chunk.name
        container = chunk.container if own else f"{chunk.container}.{chunk.name}".strip(".")
        if same and (not outer or ends_with(container, outer)):
            found.append((declared, container))
    return found


def language_named(name: str) -> str:
    """The language a person means."""
    lower = name.strip().lower()
    found = ALIASES.get(lower, lower)
    if found not in LANGUAGES:
        known = ", ".join(sorted(LANGUAGES))
        raise InvalidArguments(f"there is no language {name[:32]!r}; there are {known}")
    return found


def _languages(snapshot: Snapshot, language: str) -> Flags:
    codes = [LANGUAGE_CODES[name] for name in (language, *_VARIANTS.get(language, ()))]
    return np.isin(snapshot.languages, codes)


def _declaring(snapshot: Snapshot, lookup: Lookup, symbol: str) -> Flags:
    *outer, name = split_name(symbol)
    flags = np.zeros(snapshot.chunks, bool)
    for key, exact in (("s" + name, True), ("l" + compact(name), False)):
        found = lookup.terms(snapshot, term_key(key)).chunks
        if outer:
            found = _qualified(snapshot, found, symbol, exact=exact)
        if len(found):
            flags[found] = True
            break
    return flags


def _qualified(snapshot: Snapshot, chunks: Ints, symbol: str, *, exact: bool) -> Ints:
    """Those of some chunks that declare the last name within the names before it."""
    records = Records(snapshot)
    kept = [
        chunk
        for chunk in chunks.tolist()
        if symbols_named(records.chunk(chunk), symbol, exact=exact)
    ]
    return np.array(kept, np.int64)


def _paths(snapshot: Snapshot, globs: Sequence[str]) -> Flags:
    wanted = PathGlobs(globs)
    flags = np.zeros(snapshot.files, bool)
    for part, base in zip(snapshot.parts, snapshot.file_base, strict=True):
        for place, path in enumerate(part.paths):
            flags[base + place] = wanted.fit(path)
    return flags
