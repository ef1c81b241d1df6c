"""What both diagnostics tools share: from a source's diagnostics to the contract's."""

from collections.abc import Sequence

from sightline.contract.ids import diagnostic_id
from sightline.contract.orders import canonical, diagnostic_key
from sightline.contract.source import RawDiagnostic
from sightline.contract.values import Diagnostic
from sightline.workspace.view import View

__all__ = ["canonical_diagnostics"]


def canonical_diagnostics(view: View, uri: str, found: Sequence[RawDiagnostic]) -> list[Diagnostic]:
    """Cleaned, in order, each once. A diagnostic without a message says nothing and is dropped."""
    diagnostics: list[Diagnostic] = []
    for raw in found:
        message = view.redact(raw.message)
        if message:
            id_ = diagnostic_id(uri, raw.range, raw.severity, raw.code, raw.source, message)
            diagnostics.append(
                Diagnostic(id_, raw.range, raw.severity, raw.code, raw.source, message)
            )
    return canonical(diagnostics, diagnostic_key)
