"""``vscode.lsp.diagnostics.workspace``: errors and warnings of every file, paged by file."""

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct, UnsetType

from sightline.contract.failures import TooMany
from sightline.contract.limits import (
    MAX_ITEMS_NONPAGED,
    MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL,
)
from sightline.contract.orders import canonical, file_key
from sightline.contract.source import RawDiagnostic
from sightline.contract.values import FileDiagnostics
from sightline.tools.diagnostics import by_severity, canonical_diagnostics
from sightline.tools.tool import Desk, Paged, Question, ToolInfo, left_out, plural
from sightline.workspace.gate import Hidden
from sightline.workspace.view import DIAGNOSTICS_EPOCHS, View

INFO = ToolInfo(
    name="vscode.lsp.diagnostics.workspace",
    family="lsp",
    title="Workspace diagnostics",
    description="Errors and warnings of every file in the workspace. Paged by file.",
    schema_version=1,
    epochs=DIAGNOSTICS_EPOCHS,
    paged=True,
)


class WorkspaceReportArguments(Struct, frozen=True):
    pageSize: int | None = None  # noqa: N815
    cursor: str | None = None


class DiagnosticsWorkspace:
    info = INFO
    arguments = WorkspaceReportArguments

    def ask(
        self, view: View, arguments: WorkspaceReportArguments
    ) -> Question[WorkspaceReportArguments]:
        return Question(arguments, ())

    async def answer(self, desk: Desk, question: Question[WorkspaceReportArguments]) -> Paged:
        def counted(done: int, total: int) -> None:
            desk.progress("Checking documents", phase="diagnostics", done=done, total=total)

        found = await desk.source.workspace_diagnostics(counted)
        merged: dict[str, list[RawDiagnostic]] = {}
        hidden: Counter[Hidden] = Counter()
        for raw_uri, diagnostics in found.items.items():
            uri = desk.view.gate.look_at(raw_uri)
            if not isinstance(uri, Hidden):
                merged.setdefault(uri, []).extend(diagnostics)
            elif diagnostics:
                hidden[uri] += 1
        groups: list[FileDiagnostics] = []
        capped: set[str] = set()
        severities: list[int | UnsetType] = []
        for uri, diagnostics in merged.items():
            clean = canonical_diagnostics(desk.view, uri, diagnostics)
            if len(clean) > MAX_ITEMS_NONPAGED:
                capped.add(uri)
            severities += [each.severity for each in clean]
            if clean:
                groups.append(FileDiagnostics(uri, tuple(clean[:MAX_ITEMS_NONPAGED])))
        if len(groups) > MAX_WORKSPACE_DIAGNOSTICS_ITEMS_TOTAL:
            raise TooMany("more than 5,000 files have diagnostics; ask document by document")
        ordered = canonical(groups, file_key)

        # A server may be there that has none.
        rest = left_out(hidden, found, "Not checked:", desk.view.gone)
        in_words = by_severity(severities)

        def summary(returned: int, more: bool, flags: Sequence[bool]) -> str:
            notes = ["next page available"] * more + ["Capped"] * any(flags)
            suffix = f" ({'; '.join(notes)})" if notes else ""
            there = f" in {len(ordered)} files" if returned < len(ordered) else ""
            in_all = f" In all: {in_words}{there}." if in_words else ""
            return f"Returned diagnostics for {plural(returned, 'file')}{suffix}.{in_all}{rest}"

        return Paged(ordered, summary, [group.uri in capped for group in ordered])
