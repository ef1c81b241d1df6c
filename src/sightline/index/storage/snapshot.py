"""What a search sees: the living files and chunks of an index at one moment, never changing.

A snapshot is a tuple of parts, each a segment with a mark per file: alive or not. Numbers run
through all parts, dead files included, so that adding a part or a death does not renumber anything.
Every count that ranking uses is taken over the living only, which is why an index that grew by
edits ranks exactly like one that was built at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.index.reading.languages import LANGUAGES
from sightline.index.storage.manifest import FileRow
from sightline.index.storage.records import Record
from sightline.index.storage.segment import Segment

__all__ = ["LANGUAGE_CODES", "Part", "Snapshot"]

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

LANGUAGE_CODES = {name: code for code, name in enumerate(sorted(LANGUAGES))}


class Paths(list[str]):
    """The paths of a segment's files, by their numbers."""

    @cached_property
    def by_name(self) -> Mapping[str, Sequence[int]]:
        """The files by the last component of their path, in lower case."""
        found: dict[str, list[int]] = {}
        for file, path in enumerate(self):
            found.setdefault(path.rpartition("/")[2].lower(), []).append(file)
        return found


@dataclass(frozen=True)
class Part:
    """A segment and what the manifest knows of its files."""

    id: int
    segment: Segment
    paths: Paths
    roles: NDArray[np.uint8]
    languages: NDArray[np.uint8]
    alive: Flags

    @classmethod
    def of(cls, id: int, segment: Segment, rows: Iterable[FileRow]) -> "Part":
        paths = Paths([""] * segment.files)
        roles = np.zeros(segment.files, np.uint8)
        languages = np.zeros(segment.files, np.uint8)
        alive = np.zeros(segment.files, bool)
        for row in rows:
            paths[row.place] = row.path
            roles[row.place] = row.role
            languages[row.place] = LANGUAGE_CODES[row.language]
            alive[row.place] = True
        return cls(id, segment, paths, roles, languages, alive)

    def without(self, places: Sequence[int]) -> "Part":
        alive = self.alive.copy()
        alive[list(places)] = False
        return Part(self.id, self.segment, self.paths, self.roles, self.languages, alive)

    @cached_property
    def living(self) -> int:
        return int(self.alive.sum())

    @cached_property
    def chunks_alive(self) -> Flags:
        first: Ints = self.segment.columns["chunk_first"].astype(np.int64)
        return np.repeat(self.alive, first[1:] - first[:-1])


class Snapshot:
    def __init__(self, parts: Sequence[Part], rows: Mapping[str, FileRow], generation: int) -> None:
        self.parts = tuple(parts)
        self.rows = rows
        self.generation = generation
        self.file_base: list[int] = []
        self.chunk_base: list[int] = []
        files = chunks = 0
        for part in parts:
            self.file_base.append(files)
            self.chunk_base.append(chunks)
            files += part.segment.files
            chunks += part.segment.chunks
        self.files = files
        self.chunks = chunks
        self._norms: dict[tuple[str, float], NDArray[np.float64]] = {}

    # Columns over all parts

    @cached_property
    def file_alive(self) -> Flags:
        return _joined([part.alive for part in self.parts], bool)

    @cached_property
    def chunk_alive(self) -> Flags:
        return _joined([part.chunks_alive for part in self.parts], bool)

    @cached_property
    def roles(self) -> NDArray[np.uint8]:
        return _joined([part.roles for part in self.parts], np.uint8)

    @cached_property
    def languages(self) -> NDArray[np.uint8]:
        return _joined([part.languages for part in self.parts], np.uint8)

    @cached_property
    def chunk_lengths(self) -> Ints:
        columns = [part.segment.columns["chunk_length"] for part in self.parts]
        return _joined(columns, np.int64)

    @cached_property
    def chunk_kinds(self) -> NDArray[np.uint32]:
        columns = [part.segment.columns["chunk_kinds"] for part in self.parts]
        return _joined(columns, np.uint32)

    @cached_property
    def chunk_first(self) -> Ints:
        """Per file, and one more: its first chunk."""
        columns = [
            part.segment.columns["chunk_first"][:-1].astype(np.int64) + base
            for part, base in zip(self.parts, self.chunk_base, strict=True)
        ]
        return np.append(_joined(columns, np.int64), self.chunks)

    @cached_property
    def chunk_file(self) -> Ints:
        return np.repeat(np.arange(self.files), np.diff(self.chunk_first))

    @cached_property
    def file_lengths(self) -> Ints:
        """Raw words per file."""
        sums: Ints = np.append(0, np.cumsum(self.chunk_lengths))
        lengths: Ints = sums[self.chunk_first[1:]] - sums[self.chunk_first[:-1]]
        return lengths

    # Exact counts of the living

    @cached_property
    def file_counts(self) -> Flags:
        """Which files count: those alive that have chunks. Nothing can be found in an empty one,
        and a cache of code, which holds chunks, knows nothing of it."""
        counts: Flags = self.file_alive & (np.diff(self.chunk_first) > 0)
        return counts

    @cached_property
    def living_files(self) -> int:
        return int(self.file_counts.sum())

    @cached_property
    def living_chunks(self) -> int:
        return int(self.chunk_alive.sum())

    @cached_property
    def living_words(self) -> int:
        return int(self.chunk_lengths[self.chunk_alive].sum())

    @cached_property
    def left_out(self) -> int:
        """How many files are known but not indexed."""
        return sum(row.place < 0 for row in self.rows.values())

    def left_out_without(self, elsewhere: tuple[str, ...]) -> int:
        """The same without the paths that begin so."""
        if not elsewhere:
            return self.left_out
        rows = self.rows.items()
        return sum(row.place < 0 and not path.startswith(elsewhere) for path, row in rows)

    # What counts are divided by: more for texts longer than the mean. Worked out once.

    def norm(self, b: float) -> NDArray[np.float64]:
        """Per chunk."""
        return self._norm("chunk", self.chunk_lengths, self.living_chunks, b)

    def file_norm(self, b: float) -> NDArray[np.float64]:
        """Per file."""
        return self._norm("file", self.file_lengths, self.living_files, b)

    def _norm(self, what: str, lengths: Ints, count: int, b: float) -> NDArray[np.float64]:
        found = self._norms.get((what, b))
        if found is None:
            mean = max(self.living_words, 1) / count
            found = self._norms[what, b] = (1 - b) + (b / mean) * lengths.astype(np.float64)
        return found

    # Single items

    @cached_property
    def paths(self) -> Sequence[str]:
        """Per file, the dead included."""
        if len(self.parts) == 1:
            return self.parts[0].paths
        return [path for part in self.parts for path in part.paths]

    def path(self, file: int) -> str:
        return self.paths[file]

    def record(self, file: int) -> Record:
        """The chunks of one file."""
        number = self._part_of(file)
        return Record(self.parts[number].segment.record(file - self.file_base[number]))

    def find(self, path: str) -> int | None:
        """The number of a living file."""
        row = self.rows.get(path)
        if row is None or row.place < 0:
            return None
        for part, base in zip(self.parts, self.file_base, strict=True):
            if part.id == row.segment:
                return base + row.place
        return None

    @cached_property
    def files_by_path(self) -> list[int]:
        """Every living file, sorted by path."""
        return sorted(np.flatnonzero(self.file_alive).tolist(), key=self.paths.__getitem__)

    @cached_property
    def path_ranks(self) -> Ints:
        """Per file: its place among all living ones sorted by path."""
        ranks = np.zeros(self.files, np.int64)
        ranks[self.files_by_path] = np.arange(len(self.files_by_path))
        return ranks

    def named(self, name: str) -> list[int]:
        """The living files whose path has this last component, in lower case."""
        return [
            base + file
            for part, base in zip(self.parts, self.file_base, strict=True)
            for file in part.paths.by_name.get(name, ())
            if part.alive[file]
        ]

    def _part_of(self, file: int) -> int:
        for number in range(len(self.parts) - 1, -1, -1):
            if file >= self.file_base[number]:
                return number
        raise IndexError(file)


def _joined(arrays: Sequence[NDArray[Any]], kind: type[np.generic] | type[bool]) -> NDArray[Any]:
    if not arrays:
        return np.zeros(0, kind)
    if len(arrays) == 1:
        return arrays[0].astype(kind, copy=False)
    return np.concatenate(arrays).astype(kind, copy=False)
