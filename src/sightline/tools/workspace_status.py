"""``workspace_status``: the open roots, how changes in them are noticed, and their indexes."""

import asyncio
import os
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from sightline.contract.uris import uri_of
from sightline.tools.argumentless import Argumentless, NoArguments
from sightline.tools.reports import LanguageCount, State, languages_of, state_of
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, plural, without
from sightline.workspace.tree import file_count
from sightline.workspace.view import SOURCE_EPOCHS

if TYPE_CHECKING:
    from sightline.index.building.builder import Builder
    from sightline.workspace.observers import Observer
    from sightline.workspace.roots import Root

INFO = ToolInfo(
    name="workspace_status",
    family="index",
    title="Workspace status",
    description="The roots that are open: how many files, how changes are noticed, whether they "
    "are under version control, which languages, and the state of each index.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    repeatable=False,
)


class RootReport(Struct, frozen=True):
    uri: str
    name: str
    files: int
    folders: int
    #: Whether the kernel announces changes, or every call looks for them.
    watching: Literal["announced", "swept"]
    reason: str
    versionControl: bool  # noqa: N815
    index: State
    languages: list[LanguageCount]


class WorkspaceReport(Struct, frozen=True):
    roots: list[RootReport]
    summary: str


class WorkspaceStatus(Argumentless):
    info = INFO

    async def answer(self, desk: Desk, question: Question[NoArguments]) -> Whole:
        index = await desk.index()
        reports: list[RootReport] = []
        for root in index.workspace.roots.roots:
            builder = index.builders[root.real]
            await builder.peek()
            observer = index.workspace.observers[root.real]
            reports.append(await asyncio.to_thread(_report, root, observer, builder))
        files = sum(report.files for report in reports)
        summary = f"{plural(len(reports), 'root')} with {plural(files, 'tracked file')}."
        unread = [report for report in reports if report.files and not report.languages]
        if unread and all(report.index == "absent" for report in unread):
            summary += " Languages are counted by the index: call index_build."
        summary += without(desk.view.gone)
        return Whole(WorkspaceReport(reports, summary))


def _report(root: "Root", observer: "Observer", builder: "Builder") -> RootReport:
    tree = observer.tree
    return RootReport(
        uri=uri_of(root.real),
        name=root.name,
        files=file_count(tree),
        folders=len(tree),
        watching="swept" if observer.sweeps else "announced",
        reason=observer.reason,
        versionControl=os.path.lexists(os.path.join(root.real, ".git")),
        index=state_of(builder),
        languages=languages_of(list(builder.library.rows.values())),
    )
