"""``index_build``: builds the index of the workspace, or brings it up to date."""

from typing import TYPE_CHECKING

from msgspec import Struct

from sightline.contract.uris import uri_of
from sightline.tools.reports import Skipped, skipped_of
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, plural
from sightline.workspace.view import SOURCE_EPOCHS, View

if TYPE_CHECKING:
    from sightline.index.building.builder import Builder, Tally

INFO = ToolInfo(
    name="index_build",
    family="index",
    title="Build the index",
    description="Builds the search index of the workspace, or brings it up to date. Call it once; "
    "search keeps the index fresh afterwards. Reports what was skipped and why.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    read_only=False,
    repeatable=False,
)


class IndexBuildArguments(Struct, frozen=True):
    force: bool = False


class BuiltRoot(Struct, frozen=True):
    uri: str
    files: int
    chunks: int
    symbols: int
    sourceBytes: int  # noqa: N815
    indexBytes: int  # noqa: N815
    added: int
    changed: int
    removed: int
    unchanged: int
    skipped: list[Skipped]


class BuildReport(Struct, frozen=True):
    roots: list[BuiltRoot]
    summary: str


class IndexBuild:
    info = INFO
    arguments = IndexBuildArguments

    def ask(self, view: View, arguments: IndexBuildArguments) -> Question[IndexBuildArguments]:
        return Question(arguments, (arguments.force,))

    async def answer(self, desk: Desk, question: Question[IndexBuildArguments]) -> Whole:
        index = await desk.index()
        tallies = await index.build(desk.progress, force=question.arguments.force)
        roots = [_report(root, index.builders[root], tally) for root, tally in tallies.items()]
        return Whole(BuildReport(roots, _summary(roots)))


def _report(root: str, builder: "Builder", tally: "Tally") -> BuiltRoot:
    every = dict(builder.library.rows)
    rows = [row for row in every.values() if row.place >= 0]
    return BuiltRoot(
        uri=uri_of(root),
        files=len(rows),
        chunks=sum(row.chunks for row in rows),
        symbols=sum(row.symbols for row in rows),
        sourceBytes=sum(row.size for row in rows),
        indexBytes=builder.library.store.size(),
        added=tally.added,
        changed=tally.changed,
        removed=tally.removed,
        unchanged=tally.unchanged,
        skipped=skipped_of(every, builder.found),
    )


def _summary(roots: list[BuiltRoot]) -> str:
    files = sum(root.files for root in roots)
    chunks = sum(root.chunks for root in roots)
    done = sum(root.added + root.changed for root in roots)
    skipped = sum(s.count for root in roots for s in root.skipped if s.reason != "ignored")
    sentence = f"Indexed {plural(files, 'file')} in {plural(chunks, 'chunk')}; read {done}."
    return sentence + (f" {skipped} skipped." if skipped else "")
