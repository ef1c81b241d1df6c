"""The catalogue: every tool, in the order of ``tools/list`` and of the docs."""

from typing import Any

from sightline.tools.check import Check
from sightline.tools.check_status import CheckStatus
from sightline.tools.context_inspect_cache import ContextInspectCache
from sightline.tools.context_list_caches import ContextListCaches
from sightline.tools.context_resolve import ContextResolve
from sightline.tools.definition import Definition
from sightline.tools.diagnostics_document import DiagnosticsDocument
from sightline.tools.diagnostics_workspace import DiagnosticsWorkspace
from sightline.tools.document_symbols import DocumentSymbols
from sightline.tools.find import Find
from sightline.tools.hover import Hover
from sightline.tools.index_build import IndexBuild
from sightline.tools.index_status import IndexStatus
from sightline.tools.read import Read
from sightline.tools.references import References
from sightline.tools.search import Search
from sightline.tools.show_file import ShowFile
from sightline.tools.tool import Tool
from sightline.tools.uses import UsesOfSymbols
from sightline.tools.workspace_status import WorkspaceStatus
from sightline.tools.workspace_symbols import WorkspaceSymbols

__all__ = ["CATALOGUE"]

#: A tool's argument type is its own affair; the catalogue only needs the common shape.
CATALOGUE: tuple[Tool[Any], ...] = (
    Definition(),
    References(),
    Hover(),
    DocumentSymbols(),
    WorkspaceSymbols(),
    DiagnosticsDocument(),
    DiagnosticsWorkspace(),
    IndexBuild(),
    IndexStatus(),
    Search(),
    ShowFile(),
    CheckStatus(),
    WorkspaceStatus(),
    ContextResolve(),
    ContextListCaches(),
    ContextInspectCache(),
    Find(),
    Read(),
    UsesOfSymbols(),
    Check(),
)
