"""What the tools of the index family say about the state of an index, in the same words."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from sightline.index.building.builder import Builder
    from sightline.index.building.discover import Found
    from sightline.index.storage.manifest import FileRow

__all__ = [
    "LanguageCount",
    "Skipped",
    "State",
    "languages_of",
    "skipped_of",
    "state_of",
    "trouble_of",
]

State = Literal["absent", "building", "incomplete", "ready", "damaged"]

_EXAMPLES = 10
_MAX_LANGUAGES = 64


class Skipped(Struct, frozen=True):
    """Files or folders that are not indexed for one reason."""

    reason: str
    count: int
    examples: list[str]


class LanguageCount(Struct, frozen=True):
    language: str
    files: int


def state_of(builder: "Builder") -> State:
    store = builder.library.store
    if builder.phase is not None and builder.phase.name != "wait":
        return "building"
    if builder.library.complete:
        return "ready"
    if store.damage:
        return "damaged"
    return "incomplete" if builder.library.rows else "absent"


def trouble_of(builder: "Builder") -> str:
    """What became of an index that is ``damaged``, in words that ``The index`` comes before."""
    from sightline.index.storage.manifest import OTHER_VERSION  # SQLite, which few answers need

    if builder.library.store.damage == OTHER_VERSION:
        return "was made by another version of Sightline"
    return "was damaged"


def skipped_of(rows: Mapping[str, "FileRow"], found: "Found | None") -> list[Skipped]:
    """Why files are not indexed, most frequent first. Ignored ones are counted, not named."""
    by_reason: dict[str, list[str]] = {}
    for path, row in rows.items():
        if row.reason:
            by_reason.setdefault(row.reason, []).append(path)
    if found is not None and found.vendored:
        by_reason["vendored"] = found.vendored
    if found is not None and found.worktrees:
        by_reason["worktree"] = found.worktrees
    if found is not None and found.unnameable:
        by_reason["name"] = found.unnameable
    if found is not None and found.unread_rules:
        by_reason["ignore_file"] = found.unread_rules
    if found is not None and found.closed:
        by_reason["unreadable"] = [*by_reason.get("unreadable", ()), *found.closed]
    skipped = [
        Skipped(reason, len(paths), sorted(paths)[:_EXAMPLES])
        for reason, paths in by_reason.items()
    ]
    if found is not None and found.ignored:
        skipped.append(Skipped("ignored", found.ignored, []))
    return sorted(skipped, key=lambda entry: (-entry.count, entry.reason))


def languages_of(rows: Iterable["FileRow"]) -> list[LanguageCount]:
    counts = Counter(row.language for row in rows if row.place >= 0)
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [LanguageCount(name, count) for name, count in ordered[:_MAX_LANGUAGES]]
