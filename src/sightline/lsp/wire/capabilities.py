"""What this client can do, as it tells every server, and what is read of a server's own.

Only UTF-16 is offered, so that no position is ever converted.
"""

from collections.abc import Mapping
from typing import Any

__all__ = ["CAPABILITIES", "takes_ranges"]

CAPABILITIES: dict[str, Any] = {
    "general": {"positionEncodings": ["utf-16"]},
    "window": {"workDoneProgress": True},
    "workspace": {
        "configuration": True,
        "didChangeConfiguration": {"dynamicRegistration": True},
        "workspaceFolders": True,
        "didChangeWatchedFiles": {"dynamicRegistration": True, "relativePatternSupport": True},
        "symbol": {"dynamicRegistration": False},
        "diagnostics": {"refreshSupport": True},
    },
    "textDocument": {
        "synchronization": {"dynamicRegistration": False},
        "definition": {"linkSupport": True},
        "references": {},
        "hover": {"contentFormat": ["markdown", "plaintext"]},
        "documentSymbol": {"hierarchicalDocumentSymbolSupport": True},
        "publishDiagnostics": {"versionSupport": True},
        "diagnostic": {"dynamicRegistration": True, "relatedDocumentSupport": False},
    },
    "experimental": {"serverStatusNotification": True},
}


def takes_ranges(capabilities: Mapping[str, Any]) -> bool:
    """Whether a server takes changes of documents by range."""
    sync = capabilities.get("textDocumentSync")
    return (sync.get("change") if isinstance(sync, Mapping) else sync) == 2
