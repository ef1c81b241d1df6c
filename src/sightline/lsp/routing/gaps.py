"""The places that no server reads, for the answers of one question and for ``doctor``.

A server says nothing of the files it does not read. ``coverage`` finds a name in them; one observer
for each server and project keeps what was read, and reads again what changed. Nothing here asks a
server.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from sightline.contract.source import SourceFile
from sightline.contract.unaccounted import Unaccounted
from sightline.contract.uris import is_under, path_in
from sightline.contract.values import Location
from sightline.lsp.coverage.left_out_files import LeftOutFiles
from sightline.lsp.coverage.other_builds import OtherBuilds, builds_of
from sightline.lsp.coverage.other_go_builds import OtherGoBuilds
from sightline.lsp.coverage.other_go_modules import OtherGoModules
from sightline.lsp.coverage.other_roots import OtherRoots
from sightline.lsp.coverage.packages import KINDS, not_installed, unlinked
from sightline.lsp.coverage.shell_mentions import SHELL, ShellMentions
from sightline.lsp.coverage.unlisted_macros import UnlistedMacros
from sightline.lsp.coverage.unread_languages import UnreadLanguages
from sightline.lsp.coverage.unread_scripts import UnreadScripts
from sightline.lsp.coverage.unreadable import Unreadable, sentences
from sightline.lsp.registry import Registry
from sightline.lsp.routing.routes import Outlook, Route, Routes
from sightline.text.sources import SourceTexts
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root

__all__ = ["Gaps"]

_NO_SYMBOLS = "symbols there may be missing."


class _Observer(Protocol):
    """What is kept: something that has looked, and looks again at what changed."""

    def changed(self, changes: Sequence[Change]) -> None: ...


T = TypeVar("T")
O = TypeVar("O", bound=_Observer)  # noqa: E741 - a type


class Gaps:
    def __init__(
        self,
        registry: Registry,
        routes: Routes,
        roots: Callable[[], Sequence[Root]],
        variables: Mapping[str, str],
    ) -> None:
        self._registry = registry
        self._routes = routes
        self._roots = roots
        #: The user's environment variables.
        self._variables = variables
        #: By what they look for, for which server, and where.
        self._observers: dict[tuple[Hashable, ...], _Observer] = {}

    def forget(self) -> None:
        """The roots changed: what was found out about them holds no longer."""
        self._observers.clear()

    def changed(self, changes: Sequence[Change]) -> None:
        # Texts first: whoever reads them in a thread must not take old ones for new.
        observers = sorted(self._observers.values(), key=lambda each: not _is_read(each))
        with ExitStack() as everybody:
            for observer in reversed(observers):
                everybody.callback(observer.changed, changes)

    # For answers

    def of_files(self, routes: Sequence[Route], *, searched: bool = False) -> Awaitable[str]:
        """Of files that servers cannot read. Looked for meanwhile. ``searched``: their texts are
        likely to be looked through, too.
        """
        looks = [self._observer(Unreadable, route, Unreadable) for route in routes]
        known = [unread for look in looks if (unread := look.known()) is not None]
        if len(known) == len(looks):
            return _done(sentences(known))

        async def read() -> str:
            texts = [self.texts(route) if searched else None for route in routes]
            both = zip(looks, texts, strict=True)
            return sentences([await asyncio.to_thread(look.look, text) for look, text in both])

        return _meanwhile(read(), "files that cannot be read")

    async def of_symbols(self, routes: Sequence[Route], query: str) -> list[str]:
        """Of symbols in files that are kept from servers, and those that a server does not list."""
        found = [each for route in routes for each in await self._left_out(route)]
        listing = [route for route in routes if route.spec.dialect == "clangd"]
        looks = [self._observer(UnlistedMacros, route, UnlistedMacros) for route in listing]
        macros = [await look.note(query) for look in looks]
        return list(dict.fromkeys([*found, *filter(None, macros)]))

    async def _left_out(self, route: Route) -> list[str]:
        look = self._left_out_files(route)
        return await look.sentences() if look is not None else []

    def _left_out_files(self, route: Route) -> LeftOutFiles | None:
        if not (route.spec.python_environment or route.spec.opens == "gomod"):
            return None
        return self._observer(
            LeftOutFiles, route, lambda project: LeftOutFiles(project, self._variables)
        )

    async def elsewhere(
        self,
        routes: Sequence[Route],
        file: SourceFile,
        name: str,
        found: Sequence[Location],
        scripts: Callable[[Route], Collection[str]],
    ) -> list[Unaccounted]:
        """The places of a name that none of these servers reads. ``found`` has its uses, and
        ``scripts`` are those that a server is shown.
        """
        own, language = routes[0], self._routes.language(file.path) or ""
        return [
            *await self._in_scripts(routes, name, found, scripts),
            *await self._in_shell(routes, language, name, found),
            *await self._in_go(routes, file.path, name, found),
            *await self._in_languages(own, file.path, name),
            *await self._in_other_roots(own, file.path, name, found),
        ]

    async def _in_scripts(
        self,
        routes: Sequence[Route],
        name: str,
        found: Sequence[Location],
        shown: Callable[[Route], Collection[str]],
    ) -> list[Unaccounted]:
        """In scripts that only their first line tells."""
        parts = list[Unaccounted]()
        files = {path_in(place.uri) for place in found}
        for route in routes:
            spoken = (self._registry.languages[each] for each in route.spec.languages)
            if any(language.interpreters for language in spoken):
                scripts = self._observer(UnreadScripts, route, UnreadScripts)
                # Where answers are completed, every place in these is accounted for.
                known = {*files, *shown(route)} if route.spec.unknown_members else files
                parts += await scripts.unaccounted(name, known)
        return parts

    async def _in_shell(
        self, routes: Sequence[Route], language: str, name: str, found: Sequence[Location]
    ) -> list[Unaccounted]:
        """In shell scripts that servers read, and do not see all uses in."""
        if language != SHELL:
            return []
        looks = [self._observer(ShellMentions, route, ShellMentions) for route in routes]
        return [part for look in looks for part in await look.unaccounted(name, found)]

    async def _in_go(
        self, routes: Sequence[Route], path: str, name: str, found: Sequence[Location]
    ) -> list[Unaccounted]:
        """In sources of Go that build constraints leave out, and in other modules."""
        parts, files = list[Unaccounted](), {path_in(place.uri) for place in found}
        for route in routes:
            if route.spec.opens == "gomod":
                builds = self._observer(
                    OtherGoBuilds, route, lambda project: OtherGoBuilds(project, self._variables)
                )
                modules = self._observer(OtherGoModules, route, OtherGoModules)
                parts += await builds.unaccounted(name)
                parts += await modules.unaccounted(name, path, files)
        return parts

    async def _in_languages(self, route: Route, path: str, name: str) -> list[Unaccounted]:
        """In files of languages that use symbols of this one by their names."""
        users, root = self._routes.users(route, path), route.project.projects.root
        if not users or not name:
            return []
        files = partial(self._routes.in_language, root)
        key = (UnreadLanguages, root.real)
        kept = cast("UnreadLanguages", self._observers.setdefault(key, UnreadLanguages(files)))
        return list(await kept.unaccounted(sorted(users), name))

    async def _in_other_roots(
        self, route: Route, path: str, name: str, found: Sequence[Location]
    ) -> list[Unaccounted]:
        """In the roots that its server does not look into."""
        own = route.project.projects.root
        others = [root for root in self._roots() if root != own]
        if not others:
            return []
        key, sources = (OtherRoots, route.name), partial(self._routes.sources, route.spec)
        kept = cast("OtherRoots", self._observers.setdefault(key, OtherRoots(sources)))
        return list(await kept.unaccounted(own, others, path, name, found))

    def texts(self, route: Route) -> SourceTexts | None:
        """The sources of a project to look for names in, if its server's answers are completed."""
        if not route.spec.unknown_members:
            return None
        top = route.project.projects.root.real
        return self._observer(
            SourceTexts,
            route,
            lambda project: SourceTexts(lambda: [*project().files(), *project().scripts()], top),
        )

    def other_builds(self, route: Route) -> OtherBuilds | None:
        """The code that its server may leave out, where a language has such."""
        builds = builds_of(route.spec)
        if builds is None:
            return None
        return self._observer(OtherBuilds, route, partial(OtherBuilds, builds))

    # For people

    def unlinked(self, outlook: Outlook) -> list[str]:
        """The packages of a root that others in it need and do not find, in one language."""
        found = set[str]()
        for root in _roots_of(outlook):
            holding = self._routes.projects_in(root).holding
            found.update(
                unlinked(outlook.name, root.outermost, holding, self._routes.environments).values()
            )
        return sorted(found - {""})

    def not_installed(self, outlook: Outlook) -> list[str]:
        """The packages of others that the packages of a root need and do not find."""
        kind, found = KINDS.get(outlook.name), set[str]()
        for root in _roots_of(outlook) if kind is not None else ():
            holding = self._routes.projects_in(root).holding
            folders = {folder for name in KINDS[outlook.name].manifests for folder in holding(name)}
            for folder in folders:
                environments = self._routes.environments
                found.update(not_installed(outlook.name, folder, root.outermost, environments))
        return sorted(found)

    def environments(self, outlook: Outlook) -> list[str]:
        """The Python environments outside of a root that its servers read."""
        projects = [route.project for route in outlook.routes if route.spec.python_environment]
        found = ((each.environment, each.top) for each in projects)
        return sorted({path for path, top in found if path and not is_under(path, top)})

    async def left_out(self, outlook: Outlook) -> int:
        """How many files are kept from the servers of a language."""
        looks = [self._left_out_files(route) for route in outlook.routes]
        return sum([await look.count() for look in looks if look is not None])

    # Looking

    def _observer(
        self, kind: type[O], route: Route, make: Callable[[Any], O], *more: Hashable
    ) -> O:
        """The one of a kind for a server and its project, which it is made of as it is now."""
        folder = route.project.folder
        key = (kind, route.name, folder, *more)
        if key not in self._observers:
            self._observers[key] = make(partial(self._routes.project, route.spec, folder))
        return cast("O", self._observers[key])


def _is_read(observer: _Observer) -> bool:
    """Whether others read what it has read."""
    return isinstance(observer, SourceTexts)


def _roots_of(outlook: Outlook) -> list[Root]:
    return [route.project.projects.root for route in outlook.routes[:1]]


def _done(outcome: T) -> asyncio.Future[T]:
    """What need not be waited for."""
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    done.set_result(outcome)
    return done


def _meanwhile(work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
    """Work that is done while a server does its own."""
    task = asyncio.create_task(work, name=name)
    # Whoever waits is told; nobody does where the question has failed before.
    task.add_done_callback(lambda task: task.cancelled() or task.exception())
    return task
