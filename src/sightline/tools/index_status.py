"""``index_status``: how the index of each root stands, also while it is being built."""

import asyncio
from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from sightline.contract.uris import uri_of
from sightline.tools.argumentless import Argumentless, NoArguments
from sightline.tools.reports import (
    LanguageCount,
    Skipped,
    State,
    languages_of,
    skipped_of,
    state_of,
    trouble_of,
)
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, plural
from sightline.workspace.view import SOURCE_EPOCHS

if TYPE_CHECKING:
    from sightline.index.building.builder import Builder
    from sightline.index.index import Index

INFO = ToolInfo(
    name="index_status",
    family="index",
    title="Index status",
    description="Whether the search index is there, complete and fresh; its counts and size, what "
    "is being built now, and which files are skipped or failed.",
    schema_version=2,
    epochs=SOURCE_EPOCHS,
    repeatable=False,
)

_MAX_FAILED = 50
#: A summary has a sentence for each of so many roots. Of more it counts the states.
_MAX_TOLD = 4
_STATES: dict[State, str] = {
    "ready": "ready",
    "building": "being built",
    "absent": "without an index",
    "incomplete": "whose build was stopped",
    "damaged": "with an index that cannot be read",
}


class Building(Struct, frozen=True):
    phase: str
    done: int
    total: int


class Vectors(Struct, frozen=True):
    """How many chunks have a vector. Questions are ranked by vectors too once all have."""

    done: int
    total: int
    problem: str


class RootStatus(Struct, frozen=True):
    uri: str
    state: State
    building: Building | None
    files: int
    chunks: int
    symbols: int
    sourceBytes: int  # noqa: N815
    indexBytes: int  # noqa: N815
    #: Files that differ from the index; the next search takes them up first.
    pending: int | None
    vectors: Vectors
    languages: list[LanguageCount]
    skipped: list[Skipped]
    failed: list[str]


class StatusReport(Struct, frozen=True):
    roots: list[RootStatus]
    summary: str


class IndexStatus(Argumentless):
    info = INFO

    async def answer(self, desk: Desk, question: Question[NoArguments]) -> Whole:
        index = await desk.index()
        roots = [await _root(index, root, builder) for root, builder in index.builders.items()]
        troubles = [trouble_of(builder) for builder in index.builders.values()]
        return Whole(StatusReport(roots, _summary(roots, troubles)))


async def _root(index: "Index", root: str, builder: "Builder") -> RootStatus:
    await builder.peek()
    rows = list(builder.library.rows.values())
    indexed = [row for row in rows if row.place >= 0]
    phase = builder.phase
    pending = await index.pending(root) if builder.library.complete else None
    return RootStatus(
        uri=uri_of(root),
        state=state_of(builder),
        building=Building(phase.name, phase.done, phase.total) if phase is not None else None,
        files=len(indexed),
        chunks=sum(row.chunks for row in indexed),
        symbols=sum(row.symbols for row in indexed),
        sourceBytes=sum(row.size for row in indexed),
        indexBytes=await asyncio.to_thread(builder.library.store.size),
        pending=pending,
        vectors=await _vectors(index, builder),
        languages=languages_of(rows),
        skipped=skipped_of({row.path: row for row in rows}, builder.found),
        failed=sorted(row.path for row in rows if row.reason == "failed")[:_MAX_FAILED],
    )


async def _vectors(index: "Index", builder: "Builder") -> Vectors:
    standing = await index.dense.standing(builder, builder.snapshot)
    return Vectors(standing.done, standing.chunks, standing.problem)


def _left(vectors: Vectors) -> str:
    """Who makes the vectors that are missing: a command that ended makes no more."""
    if vectors.problem or vectors.done == vectors.total:
        return ""
    said = f" {vectors.done} of {plural(vectors.total, 'vector')} are ready"
    return f"{said}; a running server makes the rest, or sightline index build."


def _summary(roots: list[RootStatus], troubles: list[str]) -> str:
    if len(roots) > _MAX_TOLD:
        return _counted(roots)
    parts: list[str] = []
    for root, trouble in zip(roots, troubles, strict=True):
        if root.building is not None:
            counts = f" {root.building.done} of {root.building.total} files"
            parts.append(
                f"Building ({root.building.phase}){counts if root.building.total else ''}."
            )
        elif root.state == "ready":
            fresh = f", {root.pending} to refresh" if root.pending else ", fresh"
            parts.append(f"Ready: {plural(root.files, 'file')}{fresh}.{_left(root.vectors)}")
        elif root.state == "absent":
            parts.append("No index; call index_build.")
        elif root.state == "incomplete":
            files = plural(root.files, "file")
            parts.append(f"Not finished: {files} indexed; index_build goes on from there.")
        else:
            parts.append(f"The index {trouble}; the next search or index_build makes it again.")
    return " ".join(parts) or "No root is open."


def _counted(roots: list[RootStatus]) -> str:
    """How many roots are in each state."""
    counts = Counter("building" if root.building is not None else root.state for root in roots)
    said = [f"{counts[state]} {words}" for state, words in _STATES.items() if counts[state]]
    files, pending = sum(root.files for root in roots), sum(root.pending or 0 for root in roots)
    fresh = f", {pending} to refresh" if pending else ""
    advice = "" if counts["ready"] + counts["building"] == len(roots) else " Call index_build."
    return f"{len(roots)} roots: {', '.join(said)}; {plural(files, 'file')}{fresh}.{advice}"
