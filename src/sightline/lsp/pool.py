"""The pool: which server answers which question. It is the headless ``Source``.

One server per root and language, started when first needed or warmed ahead. Questions about a
document go to the server of its language in its root; questions about the workspace go to all.
"""

import asyncio
import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec

from sightline.contract.canonical import canonical_json, sha256_hex
from sightline.contract.failures import Failure, NotReady, Unavailable
from sightline.contract.source import (
    Covered,
    RawDiagnostic,
    RawSymbol,
    RawWorkspaceSymbol,
    SourceFile,
)
from sightline.contract.uris import uri_of
from sightline.contract.values import Hover, Location, Position
from sightline.lsp import answers, types
from sightline.lsp.launching import Launcher
from sightline.lsp.registry import Registry, ServerSpec
from sightline.lsp.server import Server
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root
from sightline.workspace.view import View
from sightline.workspace.workspace import Workspace

__all__ = ["Pool", "ServerStatus"]

_WARM_AT_ONCE = 2
#: A file that is quick to open and large enough to define something.
_PROBE_BYTES = range(64, 65_536)


class ServerStatus(NamedTuple):
    """What people are told about a server."""

    name: str
    root: str
    state: str
    version: str
    pid: int | None
    pending: int


class Pool:
    def __init__(self, workspace: Workspace, registry: Registry, launcher: Launcher) -> None:
        self._workspace = workspace
        self._registry = registry
        self._launcher = launcher
        self._servers: dict[tuple[str, str], Server] = {}
        self._warming: asyncio.Task[None] | None = None
        self._hashes = {name: _spec_hash(spec) for name, spec in registry.servers.items()}
        self._samples: tuple[object, list[tuple[Root, str, str]]] = (None, [])
        workspace.listen(self._changed)

    # Source

    def identity(self, uri: str | None) -> str:
        """The specifications of the servers that a question may be put to.

        A running server cannot change its version; one that starts over moves the text epoch.
        """
        names = list(self._registry.servers)
        if uri is not None:
            language = self._registry.language_of(uri.rpartition("/")[2])
            names = self._registry.servers_for(language) if language else []
        return "|".join(self._hashes[name] for name in names)

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
        for server in self._everywhere():
            result = await server.ask("workspace/symbol", {"query": query}, types.SymbolResult)
            found += answers.workspace_symbols(server.name, result)
        return Covered(found)

    async def document_diagnostics(self, file: SourceFile) -> Sequence[RawDiagnostic]:
        _, result = await self._about(file, "diagnostic", types.DiagnosticReport)
        return answers.diagnostics(result.items)

    async def workspace_diagnostics(self) -> Covered[dict[str, Sequence[RawDiagnostic]]]:
        found: dict[str, Sequence[RawDiagnostic]] = {}
        for server in self._everywhere():
            # A server that has nothing to report may keep the question until it has. One that is
            # reminded of a report it never made has to take that back at once.
            nothing = {"uri": f"{uri_of(server.launch.root)}/.sightline-none", "value": "0"}
            result = await server.ask(
                "workspace/diagnostic", {"previousResultIds": [nothing]}, types.WorkspaceReport
            )
            for report in result.items:
                found[report.uri] = answers.diagnostics(report.items)
        return Covered(found)

    # Lifetime

    def warm(self) -> None:
        """Starts the servers of the languages found in the roots, in the background."""
        if self._warming is None:
            self._warming = asyncio.create_task(self._warm(), name="warm language servers")

    def waiting_for(self, uri: str | None) -> str:
        """What a question about a document, or about the workspace, is waiting for."""
        if uri is not None:
            language = self._registry.language_of(uri.rpartition("/")[2])
            names = set(self._registry.servers_for(language)) if language else set()
        else:
            names = set(self._registry.servers)
        waiting = {s.waiting_for() for (name, _), s in self._servers.items() if name in names}
        return min(waiting, default="the workspace to be scanned")

    def status(self) -> list[ServerStatus]:
        return [
            ServerStatus(name, root, server.state.value, server.version, server.pid, server.pending)
            for (name, root), server in sorted(self._servers.items())
        ]

    async def close(self) -> None:
        if self._warming is not None:
            self._warming.cancel()
        await asyncio.gather(*(server.stop() for server in self._servers.values()))
        self._servers.clear()

    # Warming

    async def _warm(self) -> None:
        """A real ``references`` question makes a server read the whole project ahead of users."""
        turns = asyncio.Semaphore(_WARM_AT_ONCE)

        async def warm(view: View, server: Server, path: str, language: str) -> None:
            async with turns:
                with contextlib.suppress(Failure):
                    await self._probe(server, view.document(uri_of(path)), language)

        with contextlib.suppress(Failure):
            view = await self._workspace.begin()
            await asyncio.gather(*(warm(view, *probe) for probe in self._probes()))

    def _probes(self) -> Iterator[tuple[Server, str, str]]:
        """For every root and language: its server and a file to ask about."""
        state = self._workspace.tree_state()
        if self._samples[0] != state:
            self._samples = (state, list(self._find_samples()))
        for root, language, path in self._samples[1]:
            server = self._first_installed(language, root)
            if server is not None:
                yield server, path, language

    def _find_samples(self) -> Iterator[tuple[Root, str, str]]:
        """For every root and language that occurs in it: the first file that can be a probe."""
        for root, tree in self._workspace.trees():
            samples: dict[str, tuple[int, str]] = {}
            for folder in sorted(tree):
                for name, stamp in sorted(tree[folder].items()):
                    language = self._registry.language_of(name)
                    if language is not None and _better(stamp.size, samples.get(language)):
                        samples[language] = (stamp.size, f"{folder}/{name}")
            for language, (_, path) in samples.items():
                yield root, language, path

    async def _probe(self, server: Server, file: SourceFile, language: str) -> None:
        document = {"textDocument": {"uri": file.uri}}
        symbols = await server.ask_about(
            file,
            self._language_id(language),
            "textDocument/documentSymbol",
            document,
            types.DocumentSymbolResult,
        )
        first = answers.document_symbols(server.name, symbols)
        start = first[0].selection.start if first else Position(0, 0)
        position = {"position": {"line": start.line, "character": start.character}}
        context = {"context": {"includeDeclaration": True}}
        await server.ask(
            "textDocument/references", document | position | context, types.ReferencesResult
        )

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
        answer = await server.ask_about(
            file, self._language_id(language), f"textDocument/{operation}", params, result
        )
        return server, answer

    def _server_for(self, path: str) -> tuple[Server, str]:
        language = self._registry.language_of(os.path.basename(path))
        if language is None:
            raise Unavailable("no language server is known for this kind of file")
        root = self._workspace.roots.containing(path)
        if root is None:
            raise NotReady(waiting_for="the workspace")
        server = self._first_installed(language, root)
        if server is None:
            title = self._registry.languages[language].title
            raise Unavailable(f"no language server for {title} is installed; run sightline doctor")
        return server, language

    def _first_installed(self, language: str, root: Root) -> Server | None:
        for name in self._registry.servers_for(language):
            server = self._server(name, root)
            if server is not None:
                return server
        return None

    def _everywhere(self) -> list[Server]:
        """The servers of every language that occurs in the roots."""
        servers = list(dict.fromkeys(server for server, _, _ in self._probes()))
        if not servers:
            raise Unavailable("no language server knows a file here; run sightline doctor")
        return servers

    def _server(self, name: str, root: Root) -> Server | None:
        key = (name, root.real)
        if key not in self._servers:
            roots = [r.real for r in self._workspace.roots.roots]
            spec = self._registry.servers[name]
            restarted = self._workspace.source_changed
            read = partial(self._read, spec)
            launch = self._launcher.launch(name, spec, root.real, roots, restarted, read)
            if launch is None:
                return None
            self._servers[key] = Server(launch)
        return self._servers[key]

    def _language_id(self, language: str) -> str:
        return self._registry.languages[language].id or language

    def _read(self, spec: ServerSpec, path: str) -> tuple[SourceFile, str] | None:
        """A file of one of the server's languages as it is on disk now."""
        language = self._registry.language_of(os.path.basename(path))
        if language not in spec.languages:
            return None
        with contextlib.suppress(Failure):
            return self._workspace.read(uri_of(path)), self._language_id(language)
        return None

    def _changed(self, changes: Sequence[Change]) -> None:
        for server in self._servers.values():
            server.changed(changes)


def _better(size: int, known: tuple[int, str] | None) -> bool:
    """Whether a file makes a better probe than the one known: the first of a handy size."""
    return known is None or (size in _PROBE_BYTES and known[0] not in _PROBE_BYTES)


def _spec_hash(spec: ServerSpec) -> str:
    return sha256_hex(canonical_json(msgspec.to_builtins(spec)))[:16]
