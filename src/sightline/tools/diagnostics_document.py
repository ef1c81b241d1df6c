"""``vscode.lsp.diagnostics.document``: errors and warnings of one document."""

from msgspec import Struct

from sightline.contract.limits import MAX_ITEMS_NONPAGED
from sightline.contract.values import Diagnostic
from sightline.tools.diagnostics import by_severity, canonical_diagnostics
from sightline.tools.positions import DocumentArguments, ask_document
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, plural, within
from sightline.workspace.view import DOCUMENT_DIAGNOSTICS_EPOCHS

INFO = ToolInfo(
    name="vscode.lsp.diagnostics.document",
    family="lsp",
    title="Document diagnostics",
    description="Errors and warnings of one document, as it is on disk now.",
    schema_version=1,
    epochs=DOCUMENT_DIAGNOSTICS_EPOCHS,
    too_large="the diagnostics are larger than max_response_bytes; mend the first errors and ask "
    "again, or set answer_bytes to have the list cut",
)


class DocumentReport(Struct, frozen=True):
    uri: str
    diagnostics: list[Diagnostic]
    summary: str


class DiagnosticsDocument:
    info = INFO
    arguments = DocumentArguments
    ask = staticmethod(ask_document)

    async def answer(self, desk: Desk, question: Question[DocumentArguments]) -> Whole:
        assert question.uri is not None
        raw = await desk.source.document_diagnostics(question.notes)
        found = canonical_diagnostics(desk.view, question.uri, raw)
        first = found[:MAX_ITEMS_NONPAGED]
        uri = question.uri
        counted = by_severity(each.severity for each in found)

        def report(count: int) -> DocumentReport:
            if count < len(found):
                summary = f"Returned {count} of {len(found)} diagnostics (capped)."
                summary += f" In all: {counted}." * bool(counted)
            else:
                several = plural(len(found), "diagnostic")
                summary = f"Returned {several}{f': {counted}' * bool(counted)}."
            return DocumentReport(uri, first[:count], summary)

        return Whole(report(len(first)), lambda size: report(within(first, size)))
