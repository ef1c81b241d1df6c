"""The pool: which server answers which question. It is the headless ``Source``.

One server per root and language, started when first needed or warmed ahead. Questions about a
document go to the server of its language in its root; questions about the workspace go to all.
"""

import asyncio
import hashlib
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sightline.contract.canonical import canonical_json
from sightline.contract.failures import NotReady, Unavailable
from sightline.contract.source import (
    Covered,
    RawDiagnostic,
    RawSymbol,
    RawWorkspaceSymbol,
    SourceFile,
)
from sightline.contract.values import Hover, Location, Position
from sightline.lsp import answers, types
from sightline.lsp.python import empty_environment, find_environment
from sightline.lsp.registry import Registry, ServerSpec
from sightline.lsp.server import Launch, Server
from sightline.process.child import Child, spawn
from sightline.process.environment import child_environment, find_program, safe_path
from sightline.workspace.roots import Root
from sightline.workspace.tree import Change
from sightline.workspace.workspace import Workspace

__all__ = ["Pool"]


class Pool:
    def __init__(
        self,
        workspace: Workspace,
        registry: Registry,
        *,
        environment: Mapping[str, str],
        cache: Path,
    ) -> None:
        self._workspace = workspace
        self._registry = registry
        self._environment = environment
        self._cache = cache
        self._servers: dict[tuple[str, str], Server] = {}
        workspace.listen(self._changed)

    # Source

    def identity(self, uri: str | None) -> str:
        specs = [msgspec.to_builtins(spec) for spec in self._registry.servers.values()]
        return hashlib.sha256(canonical_json(specs).encode()).hexdigest()

    async def definition(self, file: SourceFile, position: Position) -> Sequence[Location]:
        server, result = await self._at(file, position, "definition", types.DefinitionResult)
        return answers.locations(server.name, result)

    async def references(
        self, file: SourceFile, position: Position, *, include_declaration: bool
    ) -> Sequence[Location]:
        extra = {"context": {"includeDeclaration": include_declaration}}
        _, result = await self._at(file, position, "references", types.ReferencesResult, extra)
        return result or ()

    async def hover(self, file: SourceFile, position: Position) -> Hover | None:
        _, result = await self._at(file, position, "hover", types.HoverResult)
        return answers.hover(result)

    async def document_symbols(self, file: SourceFile) -> Sequence[RawSymbol]:
        server, result = await self._about(file, "documentSymbol", types.DocumentSymbolResult)
        return answers.document_symbols(server.name, result)

    async def workspace_symbols(self, query: str) -> Covered[Sequence[RawWorkspaceSymbol]]:
        found: list[RawWorkspaceSymbol] = []
        for server in self._all():
            result = await server.ask("workspace/symbol", {"query": query}, types.SymbolResult)
            found += answers.workspace_symbols(server.name, result)
        return Covered(found)

    async def document_diagnostics(self, file: SourceFile) -> Sequence[RawDiagnostic]:
        _, result = await self._about(file, "diagnostic", types.DiagnosticReport)
        return answers.diagnostics(result.items)

    async def workspace_diagnostics(self) -> Covered[dict[str, Sequence[RawDiagnostic]]]:
        found: dict[str, Sequence[RawDiagnostic]] = {}
        for server in self._all():
            result = await server.ask(
                "workspace/diagnostic", {"previousResultIds": []}, types.WorkspaceReport
            )
            for report in result.items:
                found[report.uri] = answers.diagnostics(report.items)
        return Covered(found)

    # Lifetime

    def warm(self) -> None:
        """Starts the servers of the languages found in the roots, in the background."""

    def waiting_for(self) -> str:
        waiting = [server.waiting_for() for server in self._servers.values()]
        return min(waiting, default="the workspace")

    async def close(self) -> None:
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        self._servers.clear()

    # Routing

    async def _at(
        self,
        file: SourceFile,
        position: Position,
        operation: str,
        result: Any,  # noqa: ANN401 - the decoder's target type
        extra: Mapping[str, object] | None = None,
    ) -> tuple[Server, Any]:
        params = {"position": {"line": position.line, "character": position.character}}
        return await self._about(file, operation, result, params | dict(extra or {}))

    async def _about(
        self,
        file: SourceFile,
        operation: str,
        result: Any,  # noqa: ANN401
        extra: Mapping[str, object] | None = None,
    ) -> tuple[Server, Any]:
        server, language = self._server_for(file.path)
        params = {"textDocument": {"uri": file.uri}, **(extra or {})}
        answer = await server.ask_about(file, language, f"textDocument/{operation}", params, result)
        return server, answer

    def _server_for(self, path: str) -> tuple[Server, str]:
        language = self._registry.language_of(os.path.basename(path))
        if language is None:
            raise Unavailable("no language server is known for this kind of file")
        root = self._workspace.roots.containing(path)
        if root is None:
            raise NotReady(waiting_for="the workspace")
        for name in self._registry.servers_for(language):
            server = self._server(name, root)
            if server is not None:
                return server, language
        raise Unavailable(f"no language server for {language}; run sightline doctor")

    def _all(self) -> list[Server]:
        servers = [
            server
            for root in self._workspace.roots.roots
            for name in self._registry.servers
            if (server := self._server(name, root)) is not None
        ]
        if not servers:
            raise Unavailable("no language server is installed; run sightline doctor")
        return servers

    def _server(self, name: str, root: Root) -> Server | None:
        key = (name, root.real)
        if key not in self._servers:
            launch = self._launch(name, self._registry.servers[name], root.real)
            if launch is None:
                return None
            self._servers[key] = Server(launch)
        return self._servers[key]

    def _launch(self, name: str, spec: ServerSpec, root: str) -> Launch | None:
        roots = [r.real for r in self._workspace.roots.roots]
        program = self._find(spec, roots)
        if program is None:
            return None
        command = [program, *spec.command[1:]]
        environment = child_environment(self._environment, roots, spec.environment)
        options = dict(spec.initialization_options)
        if spec.python_environment == "ty":
            python = find_environment(root) or empty_environment(self._cache)
            options["configuration"] = {"environment": {"python": python}}

        async def start() -> Child:
            return await spawn(command, cwd=root, env=environment)

        return Launch(
            name,
            spec,
            root,
            start,
            settings=spec.settings,
            initialization_options=options,
            restarted=self._workspace.source_changed,
        )

    def _find(self, spec: ServerSpec, roots: Sequence[str]) -> str | None:
        if spec.found == "bundled":
            return find_program(spec.command[0], [os.path.dirname(sys.executable)], ())
        return find_program(
            spec.command[0], safe_path(self._environment.get("PATH", ""), roots), roots
        )

    def _changed(self, changes: Sequence[Change]) -> None:
        for server in self._servers.values():
            server.changed(changes)
