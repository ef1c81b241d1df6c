"""The pool: which server answers which question. It is the headless ``Source``.

One server per project and language, started when first needed or warmed ahead. Questions about a
document go to the server of its language in its project; questions about the workspace go to all
at once, and are answered when every one of them has answered.
"""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from sightline.contract.canonical import canonical_json, sha256_hex
from sightline.contract.failures import Failure, NotReady, Unavailable
from sightline.contract.first_line import FIRST_BYTES, program_of
from sightline.contract.source import (
    Covered,
    Expected,
    RawDiagnostic,
    RawSymbol,
    RawWorkspaceSymbol,
    SourceFile,
)
from sightline.contract.texts import listed
from sightline.contract.unaccounted import merged, reason_of
from sightline.contract.uris import is_unicode, uri_of
from sightline.contract.values import Hover, Location, Position
from sightline.lsp.asking import questions
from sightline.lsp.asking.header_questions import Asked, in_a_source, note_of
from sightline.lsp.asking.sweep import Counter, sweep
from sightline.lsp.asking.unknown_names import LEFT_OUT, UNKNOWN
from sightline.lsp.coverage.other_builds import (
    Extent,
    Mention,
    OtherBuilds,
    Sought,
    extent_of,
)
from sightline.lsp.coverage.unread_scripts import whole_name
from sightline.lsp.project.first_lines import may_be_script
from sightline.lsp.project.projects import Project
from sightline.lsp.registry import Operation, Registry, ServerSpec
from sightline.lsp.routing.fleet import Bounds, Fleet, Key
from sightline.lsp.routing.gaps import Gaps
from sightline.lsp.routing.head_start import HeadStart
from sightline.lsp.routing.memory import exhausted
from sightline.lsp.routing.obstructed import obstruction
from sightline.lsp.routing.routes import Outlook, Route, Routes
from sightline.lsp.routing.turns import Turns
from sightline.lsp.server.server import Launch, Server, State
from sightline.lsp.shortcomings import Shortcoming
from sightline.lsp.start.launcher import Launcher, Start
from sightline.lsp.start.preparing import Preparing
from sightline.lsp.together import both
from sightline.lsp.unaccounted.references import Ask, Found, define, find
from sightline.lsp.wire.messages import SymbolDetails
from sightline.process.child import Child
from sightline.process.keepers import Keepers
from sightline.text.names import name_at
from sightline.workspace.changes import Change
from sightline.workspace.view import View
from sightline.workspace.workspace import Workspace

__all__ = ["Options", "Pool", "ServerStatus"]

T = TypeVar("T")

#: The name of a server for headers, besides.
_BESIDE = " (headers)"

_WARM_AT_ONCE = 2
#: So many projects are named that one reason keeps from being answered for.
_MAX_PLACES = 4
#: What was left out because its server could not answer is asked for again after so long.
_TRY_AGAIN_S = 60.0
_UNWATCHED = "Changes in the rest of the repository are not watched."


class ServerStatus(NamedTuple):
    """What people are told about a server."""

    name: str
    root: str
    state: str
    version: str
    pid: int | None
    pending: int


class Options(Struct, frozen=True):
    """What a user decides about language servers."""

    bounds: Bounds = Bounds()
    #: Whether operations are offered whose answers are not repeatable.
    unstable: bool = False
    #: Whether the user lets servers run code of a root, by its real path.
    trusted: Callable[[str], bool] = lambda root: False


class _Sought(NamedTuple):
    """What was sought of a name in code that a server may leave out, and what the server says."""

    others: OtherBuilds
    server: Server
    words: Sought
    symbols: Sequence[SymbolDetails] = ()


class Pool:
    def __init__(
        self,
        workspace: Workspace,
        registry: Registry,
        launcher: Launcher,
        options: Options | None = None,
        keepers: Keepers | None = None,
    ) -> None:
        options = options or Options()
        self._keepers = keepers or Keepers()
        self._workspace = workspace
        self._registry = registry
        self._launcher = launcher
        self._trusted = options.trusted
        self._fleet = Fleet(options.bounds)
        self._preparing = Preparing()
        self._turns = Turns(options.bounds.servers)
        #: Set while answers leave out servers that may be able to answer later.
        self._try_again: asyncio.TimerHandle | None = None
        self._routes = Routes(workspace, registry, launcher, options.trusted, options.unstable)
        self.gaps = Gaps(
            registry, self._routes, lambda: workspace.roots.roots, launcher.environment
        )
        self._warming: asyncio.Task[None] | None = None
        self._head_start = HeadStart(workspace, self._routes, self._known)
        self._identities = _identities(registry)
        workspace.listen(self._changed)
        workspace.listen_to_roots(self._roots_changed)

    # Source

    def identity(self, uri: str | None) -> str:
        """The specifications of the servers that a question may be put to.

        A running server cannot change its version; one that starts over moves the text epoch.
        """
        if uri is None:
            return self._identities[None]
        name = uri.rpartition("/")[2]
        # Of a script it is that of every server: its first line may have become another.
        unnamed = None if may_be_script(name) else ""
        return self._identities.get(self._registry.language_of(name) or unnamed, "")

    async def definition(self, file: SourceFile, position: Position) -> Covered[Sequence[Location]]:
        route = self._routes.route(file.path, "definition")
        server, language = await self._reader(route, file.path), self._routes.language_id(file.path)
        found = await define(server, file, language, position)
        copies = self._routes.in_worktrees(route, found.places, lambda place: place.uri)
        own = [place for place in found.places if place not in copies] or found.places
        return Covered(own, note=found.note, nameless=found.nameless)

    async def references(
        self, file: SourceFile, position: Position, *, include_declaration: bool
    ) -> Covered[Sequence[Location]]:
        own = self._routes.route(file.path, "references")
        asked = Asked(Expected(file, position, include_declaration))
        if own.spec.compile_database:
            asked = await in_a_source(self._server(own), asked.question)
        question = asked.question
        copies: set[Location] = set()

        async def references(server: Server, question: Expected) -> Sequence[Location]:
            if asked.known and question in asked.known and server is self._known(own):
                return asked.known[question]
            return await self._head_start.references(server, question)

        async def ask(route: Route) -> Found:
            server = await self._reader(route, question.file.path)
            language = self._routes.language_id(question.file.path)
            found = await find(server, question, language, references, self.gaps.texts(route))
            copies.update(self._routes.in_worktrees(route, found.places, lambda place: place.uri))
            # A file of another project is seen here through the wrong environment.
            own = self._routes.own(route, found.places, lambda place: place.uri)
            return found._replace(places=own)

        # Code of a project with its own environment may use what lies outside of it.
        related = self._routes.related(own)
        routes = [own, *(route for route in related if route != own)]
        unreadable = self.gaps.of_files(related, searched=True)
        parts, sought = await self._beside(self._turns.all(ask, related), own, question)
        found = [place for part in parts for place in part.places]
        mentions = await self._mentions(sought, question, file, found, references)
        language = self._routes.language(file.path) or ""
        name = mentions.name or whole_name(language, file, position, found)
        known = [*found, *(place for part in parts for place in part.definitions)]
        elsewhere = await self.gaps.elsewhere(routes, file, name, known, self._scripts_of)
        left = merged([*(each for part in parts for each in part.unaccounted), *elsewhere])
        unknown = all(part.unknown for part in parts) and not mentions.explains
        nameless = all(part.nameless for part in parts) and not (unknown or mentions.explains)
        notes = [_not_shown(copies), self._note(own, by_name=True), await unreadable]
        if unknown and not found:
            raise Unavailable(UNKNOWN.format(own.name, name))
        if own.spec.compile_database:
            path = question.file.path
            server, spoken = await self._reader(own, path), self._routes.language_id(path)
            notes.append(await note_of(server, question.file, spoken))
        left = merged([*left, *mentions.unaccounted])
        if not found and (reason := reason_of(left, file.path, position.line)) is not None:
            raise Unavailable(LEFT_OUT.format(own.name, name, reason.value))
        note = " ".join(filter(None, notes))
        return Covered(found, unaccounted=left, name=name, note=note, nameless=nameless)

    async def hover(self, file: SourceFile, position: Position) -> Hover | None:
        server, language = await self._server_for(file, "hover")
        return await questions.hover(server, file, language, position)

    async def document_symbols(self, file: SourceFile) -> Sequence[RawSymbol]:
        server, language = await self._server_for(file, "documentSymbols")
        return await questions.document_symbols(server, file, language)

    async def workspace_symbols(self, query: str) -> Covered[Sequence[RawWorkspaceSymbol]]:
        await self._routes.look_for_scripts()
        routes, uncovered = self._routes.everywhere("workspaceSymbols")
        copies: set[RawWorkspaceSymbol] = set()

        def place(symbol: RawWorkspaceSymbol) -> str:
            return symbol.location.uri

        async def ask(route: Route) -> Sequence[RawWorkspaceSymbol]:
            found = await questions.workspace_symbols(self._server(route), query)
            copies.update(self._routes.in_worktrees(route, found, place))
            return self._routes.own(route, found, place)

        unreadable = self.gaps.of_files(routes)
        found, unable = await self._turns.able(ask, routes)
        missing = [*await self.gaps.of_symbols(routes, query), await unreadable]
        notes = [self._without(unable), _not_shown(copies), self._note(*routes)]
        notes += [self._without_scripts(routes, "workspaceSymbols"), *missing]
        note = " ".join(filter(None, notes))
        return Covered([symbol for part in found for symbol in part], uncovered, note=note)

    async def document_diagnostics(self, file: SourceFile) -> Sequence[RawDiagnostic]:
        server, language = await self._server_for(file, "documentDiagnostics")
        return await questions.document_diagnostics(server, file, language)

    async def workspace_diagnostics(
        self, counted: Callable[[int, int], None]
    ) -> Covered[dict[str, Sequence[RawDiagnostic]]]:
        await self._routes.look_for_scripts()
        routes, uncovered = self._routes.everywhere("workspaceDiagnostics")
        counter, copies = Counter(counted), set[str]()
        before = await self._workspace.begin()

        async def ask(route: Route) -> dict[str, Sequence[RawDiagnostic]]:
            server = self._server(route)
            if route.spec.workspace_diagnostics == "pull":
                found = await questions.workspace_report(server)
            else:
                await server.ready()
                paths = sorted(server.units) or route.project.files()
                paths = sorted([*paths, *server.scripts])
                found = await sweep(server, paths, partial(self._read, route.spec), counter)
            told = [uri for uri, items in found.items() if items]
            copies.update(self._routes.in_worktrees(route, told, lambda uri: uri))
            own = self._routes.own(route, list(found), lambda uri: uri)
            return {uri: found[uri] for uri in own}

        unreadable = self.gaps.of_files(routes)
        parts, unable = await self._turns.able(ask, routes)
        if (await self._workspace.begin()).epochs != before.epochs:
            raise NotReady("the files changed meanwhile; retry", waiting_for="quiet files")
        items = {uri: items for part in parts for uri, items in part.items()}
        unread = await unreadable
        notes = [self._without(unable), _not_shown(copies), self._note(*routes), unread]
        return Covered(items, uncovered, note=" ".join(filter(None, notes)))

    # Lifetime

    def expect(self, question: Expected) -> None:
        """Somebody waits with this question for the first scan to end."""
        self._head_start.expect(question)

    def go_ahead(self) -> None:
        """Starts the servers that need nothing of the tree, while nothing is known of it."""
        self._head_start.begin()

    def warm(self) -> None:
        """Starts the servers of the languages found in the roots, in the background."""
        if self._warming is None:
            self._head_start.begin()
            self._warming = asyncio.create_task(self._warm(), name="warm language servers")

    async def ready(self, path: str) -> Server:
        """The server of a file, once it may be asked."""
        route = self._routes.route(path, "documentSymbols")
        server = self._server(route)
        await server.ready()
        return server

    async def outlook(self) -> list[Outlook]:
        """What can be expected for every language in the roots. Starts nothing."""
        await self._workspace.begin()
        await self._routes.look_for_scripts()
        return list(self._routes.outlook())

    async def prepared(self, route: Route) -> str:
        """The version of a server, once it may be asked and has answered a question."""
        server = self._server(route)
        await server.ready()
        view = await self._workspace.begin()
        if route.spec.troubles and route.spec.readiness == "answers-block":
            # It says what it lacks when it has to know the project.
            await self._probe(server, route, view)
        elif server.capabilities.get("documentSymbolProvider"):
            # One that is damaged may start, and fail whoever asks it something.
            await self._outline(server, route, view)
        return server.version

    def words(self, route: Route) -> str:
        """What a server said about that which it lacks."""
        return self._known(route).words

    def complaint(self, route: Route) -> str:
        """The end of what a server said on standard error before it ended."""
        return self._known(route).complaint

    def shortcomings(self, *routes: Route) -> list[Shortcoming]:
        """What stands in the way of complete answers of these servers."""
        found = (each for route in routes for each in self._known(route).shortcomings)
        return list(dict.fromkeys(found))

    def waiting_for(self, uri: str | None) -> str:
        """What a question about a document, or about the workspace, is waiting for."""
        names = set(self._registry.servers)
        if uri is not None:
            name = uri.rpartition("/")[2]
            language = self._registry.language_of(name)
            if language is not None or not may_be_script(name):
                names = set(self._registry.servers_for(language)) if language else set()
        servers = [s for s in self._fleet.servers.values() if s.name in names and s.running]
        # Those that are not ready hold everybody up; then those that owe an answer.
        by_rank = sorted((s.state is State.READY, not s.pending, s.waiting_for()) for s in servers)
        return by_rank[0][2] if by_rank else "the workspace to be scanned"

    def status(self) -> list[ServerStatus]:
        return [
            ServerStatus(name, root, server.state.value, server.version, server.pid, server.pending)
            for (name, root), server in sorted(self._fleet.servers.items())
        ]

    async def close(self) -> None:
        self._head_start.close()
        if self._try_again is not None:
            self._try_again.cancel()
        if self._warming is not None:
            self._warming.cancel()
        await self._fleet.close()
        await self._keepers.close()
        if await self._preparing.ended():  # also that of a start that was given up
            self._launcher.release()
        # Else the end of the process lets go: somebody may still write to the folders.

    # Warming

    async def _warm(self) -> None:
        """A real ``references`` question makes a server read the whole project ahead of users."""
        turns = asyncio.Semaphore(_WARM_AT_ONCE)

        async def warm(view: View, route: Route) -> None:
            server = self._known(route)
            with contextlib.suppress(Failure):
                await server.ready()
                if not server.asked and not self._head_start.expects(server):
                    # Otherwise somebody's question does what ours would.
                    await self._probe(server, route, view)

        async def in_turn(view: View, route: Route) -> None:
            self._known(route)  # people are shown what is to come
            async with turns:
                await self._turns.one(partial(warm, view), route)

        with contextlib.suppress(Failure):
            view = await self._workspace.begin()
            await self._routes.look_for_scripts()
            routes = self._routes.all()
            ahead = routes[: self._turns.at_once]  # the next one would end the first one
            await asyncio.gather(*(in_turn(view, route) for route in ahead))

    async def _probe(self, server: Server, route: Route, view: View) -> None:
        if "references" in route.spec.not_offered:
            return
        outline = await self._outline(server, route, view)
        if outline is None:
            return
        file, symbols = outline
        start = symbols[0].selection.start if symbols else Position(0, 0)
        language = self._routes.language_id(file.path)
        await questions.references(server, file, language, start, include_declaration=True)

    async def _outline(
        self, server: Server, route: Route, view: View
    ) -> tuple[SourceFile, Sequence[RawSymbol]] | None:
        """A file of the project with its symbols, if there is one."""
        path = self._routes.probe(route, server.units)
        if path is None:
            return None
        file, language = view.document(uri_of(path)), self._routes.language_id(path)
        return file, await questions.document_symbols(server, file, language)

    # Servers

    async def _beside(
        self, answer: Coroutine[Any, Any, T], route: Route, question: Expected
    ) -> tuple[T, _Sought | None]:
        """An answer, and what was sought meanwhile of the same name in code that the server may
        leave out.
        """
        others = self.gaps.other_builds(route)
        if others is None:
            return await answer, None
        file, position, _ = question

        async def seek() -> _Sought:
            server = await self._reader(route, file.path)
            # The one for headers may not have started, and is given the same sources.
            compiling = self._server(route)
            wrong = await compiling.with_errors()
            sought = await others.seek(compiling.units, wrong, name_at(file.text, position))
            if sought.decided:
                return _Sought(others, server, sought)
            language = self._routes.language_id(file.path)
            symbols = await questions.symbols_at(server, file, language, position)
            return _Sought(others, server, sought, symbols)

        return await both(answer, seek())

    async def _mentions(
        self,
        sought: _Sought | None,
        question: Expected,
        file: SourceFile,
        found: Sequence[Location],
        references: Ask,
    ) -> Mention:
        """What is to be said of the same name in code that the server may leave out. ``file`` is
        where a user asked.
        """
        if sought is None:
            return Mention()
        others, server, words, symbols = sought

        async def declared() -> Sequence[Location]:
            if question.include_declaration:
                return found
            return await references(server, question._replace(include_declaration=True))

        reach = None
        if not words.decided:
            reach = extent_of(others.builds, symbols, question.file, question.position)
            uris = {file.uri, *(place.uri for place in found)}
            if uris != {question.file.uri}:
                reach = Extent(reach.names)  # another file has the name, too
        return await others.note(words, reach, declared)

    def _without(self, unable: Sequence[tuple[Route, Unavailable]]) -> str:
        """What is to be said of servers that cannot answer, while the others do."""
        if not unable:
            return ""
        if self._try_again is None:
            # One that kept ending may be mended, and no file tells: the answer is not kept long.
            loop = asyncio.get_running_loop()
            self._try_again = loop.call_later(_TRY_AGAIN_S, self._look_again)
        places: dict[str, dict[str, None]] = {}
        for route, reason in unable:
            places.setdefault(reason.advice, {})[self._routes.place(route)] = None
        return " ".join(
            f"Not answered for {listed(list(where), _MAX_PLACES)}: {reason}."
            for reason, where in places.items()
        )

    def _scripts_of(self, route: Route) -> Collection[str]:
        """The scripts without an extension that a server is shown."""
        return self._known(route).scripts

    def _without_scripts(self, routes: Sequence[Route], operation: Operation) -> str:
        """What is to be said of scripts that an answer has nothing of, although they are shown."""
        missing = (route for route in routes if operation in route.spec.scripts_missing_in)
        count = sum(len(self._known(route).scripts) for route in missing)
        scripts = "1 script" if count == 1 else f"{count:,} scripts"
        return f"Not looked for in {scripts} without an extension." if count else ""

    def _look_again(self) -> None:
        self._try_again = None
        self._workspace.source_changed()

    def _note(self, *routes: Route, by_name: bool = False) -> str:
        """What stands in the way of complete answers. ``by_name``: but for what references look
        for by the name.
        """
        lacking = self.shortcomings(*routes)
        sentences = [each.sentence for each in lacking if not (by_name and each.by_name)]
        roots = [route.project.projects.root for route in routes]
        if any(map(self._workspace.is_unwatched_around, roots)):
            sentences.append(_UNWATCHED)
        return " ".join(sentences)

    async def _server_for(self, file: SourceFile, operation: Operation) -> tuple[Server, str]:
        route = self._routes.route(file.path, operation)
        return await self._reader(route, file.path), self._routes.language_id(file.path)

    async def _reader(self, route: Route, path: str) -> Server:
        """The server that is asked about a file.

        What a compiler's server is shown besides what the project compiles by itself changes its
        other answers, so another one is shown that. They share what they keep.
        """
        server = self._server(route)
        if not route.spec.compile_database:
            return server
        await server.ready()
        return server if server.compiles(path) else self._known(route, _BESIDE)

    def _server(self, route: Route) -> Server:
        """The server that a user's question is put to."""
        self._require_clear(route)
        server = self._known(route)
        server.asked = True
        return server

    def _require_clear(self, route: Route) -> None:
        """Raises where something lies in a root that the server must not open."""
        refusal = self._obstruction(route.name, route.spec, route.project.folder)
        if refusal is not None:
            raise refusal

    def _obstruction(self, name: str, spec: ServerSpec, folder: str) -> Unavailable | None:
        root = self._workspace.roots.containing(folder)
        if root is None or not self._workspace.obstacles.found:
            return None
        obstacles = self._workspace.obstacles.below(root.outermost)
        return obstruction(name, spec, self._registry, root, obstacles)

    def _known(self, route: Route, beside: str = "") -> Server:
        key = _key(route, beside)
        if key not in self._fleet.servers:
            self._fleet.servers[key] = Server(self._launch(route, beside))
        return self._fleet.servers[key]

    def _launch(self, route: Route, beside: str) -> Launch:
        spec, folder = route.spec, route.project.folder

        async def admit(server: Server) -> None:
            # Two that read the same at a time spoil what they keep.
            if beside:
                await self._known(route).ready()
            elif (other := self._fleet.servers.get(_key(route, _BESIDE))) is not None:
                await other.left()
            await self._fleet.admit(server)

        def project() -> Project:
            return self._routes.project(spec, folder)

        async def prepare(has_read_parts: bool) -> Start | None:
            self._require_clear(route)
            trusted = self._trusted(route.project.projects.root.real)
            begin = partial(self._launcher.start, trusted=trusted, has_read_parts=has_read_parts)
            prepare = partial(begin, route.name, project(), self._workspace.roots)
            start = await self._preparing.of(route.name, folder, prepare)
            if start is None and self._routes.is_replaced(route):
                self._workspace.source_changed()  # from here on somebody else answers
                raise NotReady(f"{route.name} was removed; retry", waiting_for="another server")
            return start

        return Launch(
            route.name,
            spec,
            folder,
            self._registry.version_of(route.name) if spec.found == "installed" else "",
            project=project,
            trees=self._workspace.all_trees,
            prepare=prepare,
            ahead=self._keepers.ahead,
            spawn=self._spawn,
            read=partial(self._read, spec),
            is_current=self._workspace.is_current,
            admit=admit,
            ended=self._workspace.source_changed,
            relies_on=self._workspace.beside.keep,
            exhausted=lambda: exhausted(self._fleet.bounds.memory_mb, project()),
        )

    async def _spawn(self, start: Start) -> Child:
        memory = self._fleet.bounds.memory_mb
        return await self._keepers.spawn(
            start.command,
            cwd=start.cwd,
            # A program of Go would let garbage double what it has.
            env={**start.environment, "GOMEMLIMIT": f"{memory * 9 // 10}MiB"},
            allowed=start.allowed._replace(memory=memory << 20),
        )

    def _read(self, spec: ServerSpec, path: str) -> tuple[SourceFile, str] | None:
        """A file of one of the server's languages as it is on disk now."""
        name = path.rpartition("/")[2]
        language = self._registry.language_of(name)
        if language not in spec.languages and not (language is None and may_be_script(name)):
            return None
        with contextlib.suppress(Failure):
            file = self._workspace.read(uri_of(path))
            if language is None:
                program = program_of(file.text[:FIRST_BYTES].encode())
                language = self._registry.language_of_program(program)
            if language is not None and language in spec.languages:
                return file, self._registry.languages[language].id_of(name, language)
        return None

    def _changed(self, changes: Sequence[Change]) -> None:
        # What has a name that is not text no server reads, and some end when they are told of it.
        obstacles = self._workspace.obstacles.found
        if obstacles:
            self._fleet.forget([key for key in self._fleet.servers if self._is_obstructed(key)])
            changes = [change for change in changes if change.path not in obstacles]
        named = [change for change in changes if is_unicode(change.path)]
        servers = list(self._fleet.servers.values()) if named else []
        # Whoever fails is a bug that is heard of; the others are told nevertheless.
        with contextlib.ExitStack() as everybody:
            for server in reversed(servers):
                everybody.callback(server.changed, named)
            everybody.callback(self.gaps.changed, changes)
            everybody.callback(self._routes.changed, changes)

    def _is_obstructed(self, key: Key) -> bool:
        """Whether a server runs that must not."""
        server = self._fleet.servers[key]
        return server.running and self._obstruction(server.name, server.spec, key[1]) is not None

    def _roots_changed(self) -> None:
        """Servers of roots that are gone are ended. The others start over: the roots decided what
        they may read, and where nothing is run from.
        """
        self._routes.forget()
        self.gaps.forget()
        roots = self._workspace.roots
        self._fleet.forget([key for key in self._fleet.servers if roots.containing(key[1]) is None])
        for server in self._fleet.servers.values():
            server.start_over()
        self._warming = None


def _key(route: Route, beside: str = "") -> Key:
    return (route.name + beside, route.project.folder)


def _not_shown(copies: Collection[object]) -> str:
    """What is to be said of findings in other Git worktrees."""
    return f"{len(copies):,} in other Git worktrees not shown." if copies else ""


def _identities(registry: Registry) -> dict[str | None, str]:
    """The specifications of all servers together, and of those of each language."""
    hashes = {
        name: sha256_hex(canonical_json(msgspec.to_builtins(spec)))[:16]
        for name, spec in registry.servers.items()
    }
    found: dict[str | None, str] = {None: "|".join(hashes.values())}
    for language in registry.languages:
        found[language] = "|".join(hashes[name] for name in registry.servers_for(language))
    return found
