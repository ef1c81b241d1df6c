"""From what a language server answered to the contract's values.

Servers differ in form (links or locations, markup or bare strings, trees or flat lists); here the
forms become one. An answer that cannot be read whole is ``Unavailable``, never a part of it.
"""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from sightline.contract.canonical import canonical_json
from sightline.contract.failures import Unavailable
from sightline.contract.source import RawDiagnostic, RawSymbol, RawWorkspaceSymbol
from sightline.contract.values import Hover, HoverContent, Location
from sightline.lsp.wire import messages

__all__ = [
    "diagnostics",
    "document_symbols",
    "hover",
    "locations",
    "unusable",
    "workspace_symbols",
]


def unusable(server: str) -> Unavailable:
    return Unavailable(f"{server} gave an answer that cannot be used; see sightline doctor")


def locations(server: str, result: messages.DefinitionResult) -> list[Location]:
    """``Location``s, whatever form they came in."""
    if result is None:
        return []
    items = result if isinstance(result, list) else [result]
    return [_location(server, item) for item in items]


def _location(server: str, item: messages.AnyLocation) -> Location:
    if item.uri is not None and item.range is not None:
        return Location(item.uri, item.range)
    target = item.targetSelectionRange or item.targetRange
    if item.targetUri is not None and target is not None:
        return Location(item.targetUri, target)
    raise unusable(server)


def hover(result: messages.HoverResult) -> Hover | None:
    """Fragments of markdown or plain text."""
    if result is None:
        return None
    parts = result.contents if isinstance(result.contents, list) else [result.contents]
    contents = tuple(content for part in parts if (content := _fragment(part)).value)
    return Hover(contents, result.range or UNSET) if contents else None


def _fragment(part: str | messages.Marked) -> HoverContent:
    if isinstance(part, str):
        return HoverContent("markdown", part)
    if part.kind is not None:
        return HoverContent("plaintext" if part.kind == "plaintext" else "markdown", part.value)
    if part.language and part.language.strip():
        return HoverContent("markdown", f"```{part.language}\n{part.value}\n```")
    return HoverContent("markdown", part.value)


def document_symbols(server: str, result: messages.DocumentSymbolResult) -> list[RawSymbol]:
    return [_symbol(server, item) for item in result or ()]


def _symbol(server: str, item: messages.AnySymbol) -> RawSymbol:
    if item.location is not None:
        span, uri = item.location.range, item.location.uri
        return RawSymbol(item.name, item.kind, span, span, _named(item.containerName), (), uri)
    if item.range is None:
        raise unusable(server)
    children = tuple(_symbol(server, child) for child in item.children or ())
    selection = item.selectionRange or item.range
    return RawSymbol(item.name, item.kind, item.range, selection, UNSET, children)


def workspace_symbols(server: str, result: messages.SymbolResult) -> list[RawWorkspaceSymbol]:
    symbols: list[RawWorkspaceSymbol] = []
    for item in result or ():
        if item.location.range is None:
            raise unusable(server)
        location = Location(item.location.uri, item.location.range)
        symbols.append(
            RawWorkspaceSymbol(item.name, item.kind, location, _named(item.containerName))
        )
    return symbols


def diagnostics(items: Sequence[messages.LspDiagnostic]) -> list[RawDiagnostic]:
    return [
        RawDiagnostic(
            item.range,
            item.message if isinstance(item.message, str) else item.message.value,
            UNSET if item.severity is None or item.severity < 0 else item.severity,
            _code(item.code),
            _named(item.source),
        )
        for item in items
    ]


def _code(code: Any) -> str | UnsetType:  # noqa: ANN401 - a code may be anything a server likes
    if isinstance(code, dict):
        code = code.get("value")
    if isinstance(code, str):
        return code or UNSET
    if isinstance(code, int | float) and not isinstance(code, bool):
        return canonical_json(code)
    return UNSET


def _named(text: str | None) -> str | UnsetType:
    return text or UNSET
