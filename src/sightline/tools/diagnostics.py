"""What both diagnostics tools share: from a source's diagnostics to the contract's."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import UnsetType

from sightline.contract.ids import diagnostic_id
from sightline.contract.orders import canonical, diagnostic_key
from sightline.contract.source import RawDiagnostic
from sightline.contract.values import Diagnostic
from sightline.tools.tool import plural
from sightline.workspace.view import View

__all__ = ["by_severity", "canonical_diagnostics"]

#: In the numbers of the Language Server Protocol, from 1.
_SEVERITIES = (
    ("error", "errors"),
    ("warning", "warnings"),
    ("informational", "informational"),
    ("hint", "hints"),
)


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


def by_severity(severities: Iterable[int | UnsetType]) -> str:
    """How many there are of each severity, the worst first; nothing where none is known.

    >>> from msgspec import UNSET
    >>> by_severity([2, 1, 2]), by_severity([1, UNSET]), by_severity([UNSET])
    ('1 error, 2 warnings', '1 error, 1 without severity', '')
    """
    counts = Counter(severities)
    known = [(counts.pop(number, 0), *words) for number, words in enumerate(_SEVERITIES, 1)]
    said = [plural(*each) for each in known if each[0]]
    others = counts.total()
    return ", ".join([*said, f"{others} without severity"] if said and others else said)
