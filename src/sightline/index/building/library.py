"""One root's index in memory: its rows and parts, kept in step with its manifest.

Everything here blocks and belongs to one thread at a time; ``builder.py`` sees to that. Changes are
written first and applied after, so that memory never knows more than the disk.
"""

import contextlib
from collections.abc import Iterable, Sequence

import numpy as np

from sightline.contract.failures import Unavailable
from sightline.index.building.jobs import Indexed, Merged
from sightline.index.building.planning import Plan
from sightline.index.reading.sources import read_source
from sightline.index.storage.disk import DiskRefuses
from sightline.index.storage.manifest import BrokenManifest, FileRow, SegmentRow
from sightline.index.storage.segment import DamagedSegment
from sightline.index.storage.snapshot import Part, Snapshot
from sightline.index.storage.store import Store
from sightline.workspace.gate import Gate
from sightline.workspace.roots import Root, RootSet
from sightline.workspace.tree import stamp_of

__all__ = ["Library"]


class Library:
    def __init__(self, store: Store) -> None:
        self.store = store
        self.rows: dict[str, FileRow] = {}
        self.parts: dict[int, Part] = {}
        self.generation = -1
        self.complete = False
        #: Which file the manifest was when it was read: a new one gives the same numbers again.
        self._inode: int | None = None

    @property
    def state(self) -> tuple[int | None, int]:
        """What is another one when another process wrote, or began anew."""
        return self._inode, self.generation

    @property
    def indexed(self) -> int:
        """How many files can be found. The other rows say why a file cannot."""
        return sum(row.place >= 0 for row in self.rows.values())

    # Loading

    @property
    def unread(self) -> bool:
        """Whether there is something on disk that was not looked at."""
        return self.generation < 0 and self.store.exists()

    def peek(self) -> None:
        """Loads what is on disk, if it can be, to see how things stand."""
        problems = (BrokenManifest, DamagedSegment, DiskRefuses, OSError, Unavailable)
        if self.unread:
            with contextlib.suppress(*problems):
                self.load()

    def load(self) -> None:
        """Brings memory up to the manifest. Under the lock, a damaged index is thrown away.

        Without the lock, a segment that is not there may just have been merged by its owner.
        """
        for _ in range(3):
            try:
                before = self.store.manifest
                manifest = self.store.open()
                if manifest.inode != self._inode:
                    self.forget()
                    self._inode = manifest.inode
                if manifest is not before or manifest.generation() != self.generation:
                    self._read()
                if self.store.locked:
                    self.store.sweep()
                return
            except (BrokenManifest, DamagedSegment, FileNotFoundError) as problem:
                self.forget()
                self.store.damage = str(problem) or "a part of it is missing"
                if self.store.locked:
                    self.store.discard(self.store.damage)
            except OSError as error:
                raise DiskRefuses.by(error) from None
        raise Unavailable(
            "the index cannot be kept on its disk; free some space there, or set XDG_CACHE_HOME"
        )

    def forget(self) -> None:
        self.rows, self.parts = {}, {}
        self.generation = -1
        self.complete = False

    def _read(self) -> None:
        manifest = self.store.open()
        generation, segments, files = manifest.state()
        by_segment: dict[int, list[FileRow]] = {row.id: [] for row in segments}
        for file in files:
            if file.place >= 0:
                if file.segment not in by_segment:
                    raise BrokenManifest("a file lies in a segment that is not there")
                by_segment[file.segment].append(file)
        parts: dict[int, Part] = {}
        for number, rows in by_segment.items():
            old = self.parts.get(number)
            segment = old.segment if old is not None else self.store.segment(number)
            if any(row.place >= segment.files for row in rows):
                raise BrokenManifest("a file lies beyond its segment")
            parts[number] = Part.of(number, segment, rows)
        self.rows = {row.path: row for row in files}
        self.parts = parts
        self.generation = generation
        self.complete = manifest.complete()

    # Changing

    def take(self, files: Sequence[Indexed], plan: Plan, segment: SegmentRow) -> None:
        """Records what became of a batch."""
        rows: list[FileRow] = []
        removed: list[str] = []
        for file in files:
            row = self._row(file, plan, segment.id)
            if row is None:
                removed.append(file.path)
            else:
                rows.append(row)
        placed = any(file.place >= 0 for file in files)
        self._write(rows, removed, segment if placed else None)

    def fail(self, path: str, plan: Plan) -> None:
        """Records a file that no worker survives."""
        stamp = plan.stamps[path]
        row = FileRow(
            path, stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.inode, b"", "text", 0, 0, -1, 0,
            0, "failed",
        )  # fmt: skip
        self._write([row], [], None)

    def remove(self, paths: Sequence[str]) -> None:
        self._write([], list(paths), None)

    def finish(self) -> None:
        """A whole build is done: forgets empty segments and the files nobody names."""
        manifest = self.store.open()
        manifest.finish()
        empty = [number for number, part in self.parts.items() if not part.living]
        if empty:
            manifest.drop_empty()
            for number in empty:
                del self.parts[number]
        self.generation = manifest.generation()
        self.complete = True
        self.store.damage = ""
        self.store.sweep()

    def replace(
        self, old: Sequence[int], number: int, merged: Merged, order: Sequence[str]
    ) -> None:
        """Records a merge. ``order`` is the files' paths in the order of their new places."""
        moves = [(self.rows[path].segment, place, path) for place, path in enumerate(order)]
        row = SegmentRow(number, merged.files, merged.chunks, merged.size)
        manifest = self.store.open()
        manifest.replace(old, row, moves)
        moved: list[FileRow] = []
        for _, place, path in moves:
            moved.append(self.rows[path]._replace(segment=number, place=place))
            self.rows[path] = moved[-1]
        for dropped in old:
            del self.parts[dropped]
        self.parts[number] = Part.of(number, self.store.segment(number), moved)
        self.generation = manifest.generation()

    # Looking

    def holds(self, paths: Iterable[str]) -> bool:
        """Whether files have the content that is indexed, whatever their stamps say."""
        root = self.store.root
        gate = Gate(RootSet.of([Root(root, root)]))
        for path in paths:
            row = self.rows.get(path)
            source = read_source(gate, f"{root}/{path}")
            if row is None or (row.hash, row.reason) != (source.hash, source.reason):
                return False
        return True

    def snapshot(self) -> Snapshot:
        """What a search sees from now on."""
        parts = [self.parts[number] for number in sorted(self.parts)]
        return Snapshot(parts, dict(self.rows), self.generation)

    def to_merge(self) -> list[int]:
        """The segments that should become one: many small ones, or those mostly dead."""
        sizes = sorted((part.living, number) for number, part in self.parts.items())
        if len(sizes) <= 1:
            part = next(iter(self.parts.values()), None)
            wasteful = part is not None and part.living < part.segment.files * 0.6
            return [sizes[0][1]] if sizes and wasteful else []
        chosen: list[int] = []
        total = 0
        for living, number in sizes:
            part = self.parts[number]
            wasteful = living < part.segment.files * 0.6
            if len(chosen) < 2 or living <= 2 * total or wasteful:
                chosen.append(number)
                total += living
            else:
                break
        if len(chosen) < 4 and len(self.parts) < 12:
            return []
        return sorted(chosen)

    def living(self, number: int) -> tuple[str, bytes, list[str]]:
        """A segment's file, its living places packed, and their paths."""
        part = self.parts[number]
        places = np.flatnonzero(part.alive)
        paths = [part.paths[place] for place in places.tolist()]
        return self.store.segment_path(number), places.astype("<u4").tobytes(), paths

    # Helpers

    def _row(self, file: Indexed, plan: Plan, number: int) -> FileRow | None:
        """The row of a file, or ``None`` if the file is gone."""
        if file.stamp is None:
            stamp = stamp_of(f"{self.store.root}/{file.path}")
            if stamp is None:
                return None
            size, mtime, ctime, inode = stamp
        else:
            size, mtime, ctime, inode = file.stamp
        if file.same:
            old = self.rows[file.path]
            return old._replace(size=file.size, mtime=mtime, ctime=ctime, inode=inode)
        return FileRow(
            file.path, file.size or size, mtime, ctime, inode, file.hash, file.language, file.role,
            number if file.place >= 0 else 0, file.place, file.chunks, file.symbols, file.reason,
        )  # fmt: skip

    def _write(
        self, rows: Sequence[FileRow], removed: Sequence[str], segment: SegmentRow | None
    ) -> None:
        manifest = self.store.open()
        manifest.record(rows, removed, segment)
        dead: dict[int, list[int]] = {}
        for path in [*removed, *(row.path for row in rows)]:
            old = self.rows.get(path)
            if old is not None and old.place >= 0:
                dead.setdefault(old.segment, []).append(old.place)
        for path in removed:
            self.rows.pop(path, None)
        alive: dict[int, list[FileRow]] = {}
        for row in rows:
            self.rows[row.path] = row
            if row.place >= 0:
                alive.setdefault(row.segment, []).append(row)
                if row.place in dead.get(row.segment, []):
                    dead[row.segment].remove(row.place)  # only its stamp changed
        for number, places in dead.items():
            if places and number in self.parts:
                self.parts[number] = self.parts[number].without(places)
        if segment is not None:
            opened = self.store.segment(segment.id)
            self.parts[segment.id] = Part.of(segment.id, opened, alive[segment.id])
        self.generation = manifest.generation()
