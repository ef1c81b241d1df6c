"""What answers may lack, in sentences for their summaries and for ``doctor``.

A server says nothing of what it does not read. ``coverage`` knows how to find that without it; here
is who looks, for each server and project: what was found is kept, and looked at again where
something changed. Nothing here asks a server.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar, cast

from sightline.contract.source import SourceFile
from sightline.contract.uris import is_under, path_in
from sightline.contract.values import Location
from sightline.lsp.asking.members import Members
from sightline.lsp.asking.spelled import Accounted, Spelled, look_for
from sightline.lsp.coverage.other_builds import OtherBuilds, builds_of
from sightline.lsp.coverage.other_roots import OtherRoots
from sightline.lsp.coverage.quoted_names import quoted
from sightline.lsp.coverage.reach import WHERE, Reach, Unreached, imports_of, where_of
from sightline.lsp.coverage.shell_mentions import SHELL, ShellMentions
from sightline.lsp.coverage.typescript_aliases import REQUIRED
from sightline.lsp.coverage.unlisted_macros import UnlistedMacros
from sightline.lsp.coverage.unread_languages import UnreadLanguages
from sightline.lsp.coverage.unread_scripts import UnreadScripts
from sightline.lsp.coverage.unreadable import Unreadable, sentences
from sightline.lsp.registry import Registry
from sightline.lsp.routing.package_notes import PackageNotes
from sightline.lsp.routing.routes import Outlook, Route, Routes
from sightline.lsp.typescript.held_open import LANGUAGE
from sightline.text.code import JAVASCRIPT, has_code
from sightline.text.sources import SourceTexts
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root

__all__ = ["Gaps", "Lacks"]

_NO_SYMBOLS = "symbols there may be missing."
_RENAMED = re.compile(r"\bdefault\b|\bexport\s*=|\bas\s+[\w$]+\s*[,}]")


class _Observer(Protocol):
    """What is kept: something that has looked, and looks again at what changed."""

    def changed(self, changes: Sequence[Change]) -> None: ...


T = TypeVar("T")
O = TypeVar("O", bound=_Observer)  # noqa: E741 - a type


class Lacks(NamedTuple):
    """What stands in the way of finding uses, each as a sentence or nothing."""

    package: str
    #: Others find something else in the place of the package.
    instead: str
    unreached: str
    doubts: str

    def given(self, accounted: Accounted) -> "Lacks":
        """What is left of it where the places of a name are known."""
        package, instead, unreached, doubts = self
        if accounted.only_others:
            package, unreached = "", ""
        if accounted.nowhere_else:
            instead, doubts = "", ""
        return Lacks(package, instead, unreached, doubts)


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
        self._packages = PackageNotes(routes)
        #: By what they look for, for which server, and where.
        self._observers: dict[tuple[Hashable, ...], _Observer] = {}

    def forget(self) -> None:
        """The roots changed: what was found out about them holds no longer."""
        self._observers.clear()

    def changed(self, changes: Sequence[Change]) -> None:
        # Texts first: whoever reads them in a thread must not take old ones for new.
        observers = sorted(self._observers.values(), key=lambda each: not _is_read(each))
        with ExitStack() as everybody:
            for observer in (self._packages, *reversed(observers)):
                everybody.callback(observer.changed, changes)

    # For answers

    def of_references(
        self, routes: Sequence[Route], own: Route, file: SourceFile, name: str
    ) -> Awaitable[tuple[Lacks, Spelled | None]]:
        """Of uses that the servers do not see, whatever they answer; and where the name stands, if
        that is known and may show that there are none. Looked for meanwhile.
        """
        lacks = self._lacks_now(own, file)
        if lacks is not None and self._is_nothing(lacks, own, file):
            return _done((lacks, None))
        work = self._of_references(routes, own, file, name)
        return _meanwhile(work, "what references may lack")

    def of_files(self, routes: Sequence[Route], *, searched: bool = False) -> Awaitable[str]:
        """Of files that servers cannot read. Looked for meanwhile. ``searched``: their texts are
        likely to be looked through, too.
        """
        looks = [self._observer(Unreadable, route, Unreadable) for route in routes]
        known = [unread for look in looks if (unread := look.known()) is not None]
        if len(known) == len(looks):
            return _done(sentences(known))

        async def read() -> str:
            texts = [self._texts(route) if searched else None for route in routes]
            both = zip(looks, texts, strict=True)
            return sentences([await asyncio.to_thread(look.look, text) for look, text in both])

        return _meanwhile(read(), "files that cannot be read")

    async def of_symbols(self, routes: Sequence[Route], query: str) -> list[str]:
        """Of symbols in files that are kept from servers, and those that a server does not list."""
        reaches = [reach for route in routes if (reach := self._reach(route)) is not None]
        unreached = [await asyncio.to_thread(reach.look_at_files) for reach in reaches]
        found = (each for part in unreached for each in part.of_files(_NO_SYMBOLS))
        listing = [route for route in routes if route.spec.dialect == "clangd"]
        looks = [self._observer(UnlistedMacros, route, UnlistedMacros) for route in listing]
        macros = [await look.note(query) for look in looks]
        return list(dict.fromkeys([*found, *filter(None, macros)]))

    async def in_scripts(
        self,
        routes: Sequence[Route],
        name: str,
        found: Sequence[Location],
        shown: Callable[[Route], Collection[str]],
    ) -> str:
        """Of a name in scripts that servers may have missed uses in; ``shown`` are those that they
        have open.
        """
        said: list[str] = []
        files = {path_in(place.uri) for place in found}
        for route in routes:
            spoken = (self._registry.languages[each] for each in route.spec.languages)
            if any(language.interpreters for language in spoken):
                scripts = self._observer(UnreadScripts, route, UnreadScripts)
                said.append(await scripts.note(name, shown(route), files))
        return " ".join(dict.fromkeys(filter(None, said)))

    async def in_shell(
        self, routes: Sequence[Route], language: str, name: str, found: Sequence[Location]
    ) -> str:
        """Of a name in shell scripts that servers read, and do not see all uses in."""
        if language != SHELL:
            return ""
        looks = [self._observer(ShellMentions, route, ShellMentions) for route in routes]
        said = [await look.note(name, found) for look in looks]
        return " ".join(dict.fromkeys(filter(None, said)))

    async def in_quotes(self, routes: Sequence[Route], name: str, found: Sequence[Location]) -> str:
        """Of a name of a type in quotes, where servers do not count all such."""
        reading = [route for route in routes if route.spec.python_environment == "pyright"]
        looks = [(texts, each) for each in reading if (texts := self._texts(each)) is not None]
        said = [await quoted(texts, each.project.folder, name, found) for texts, each in looks]
        return " ".join(dict.fromkeys(filter(None, said)))

    async def in_other_roots(
        self, route: Route, path: str, name: str, found: Sequence[Location]
    ) -> str:
        """Of a name in the roots that its server does not look into."""
        own = route.project.projects.root
        others = [root for root in self._roots() if root != own]
        if not others:
            return ""
        key, sources = (OtherRoots, route.name), partial(self._routes.sources, route.spec)
        kept = cast("OtherRoots", self._observers.setdefault(key, OtherRoots(sources)))
        return await kept.note(own, others, path, name, found)

    async def unread_languages(self, route: Route, path: str, name: str = "") -> tuple[str, ...]:
        """The titles of languages in whose files a symbol may be used where nobody looks.

        With a name that its uses have to spell, those that it stands in.
        """
        users, root = self._routes.users(route, path), route.project.projects.root
        if users and name:
            files = partial(self._routes.in_language, root)
            key = (UnreadLanguages, root.real)
            kept = self._observers.setdefault(key, UnreadLanguages(files))
            users = await cast("UnreadLanguages", kept).having(users, name)
        return tuple(sorted({self._registry.languages[each].title for each in users}))

    def members(self, route: Route) -> Members | None:
        """The members of a project's classes, where their uses may be unknown to its server."""
        texts, project = self._texts(route), partial(self._routes.project, route.spec)
        if texts is None:
            return None
        return Members(partial(project, route.project.folder), texts)

    def _texts(self, route: Route) -> SourceTexts | None:
        """The sources of a project to look for names in, where its server may not know them all."""
        if not route.spec.unknown_members:
            return None
        return self._observer(
            SourceTexts,
            route,
            lambda project: SourceTexts(lambda: [*project().files(), *project().scripts()]),
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
        found = [self._packages.unlinked(root, outlook.name) for root in _roots_of(outlook)]
        return sorted({name for packages in found for name in packages.values() if name})

    def astray(self, outlook: Outlook) -> list[str]:
        """The packages of a root that others in it find, but not their sources."""
        found = [self._packages.astray(root, outlook.name) for root in _roots_of(outlook)]
        return sorted({name for packages in found for name in packages.values()})

    def not_installed(self, outlook: Outlook) -> list[str]:
        """The packages of others that the packages of a root need and do not find."""
        found = [self._packages.not_installed(root, outlook.name) for root in _roots_of(outlook)]
        return [name for names in found for name in names]

    def environments(self, outlook: Outlook) -> list[str]:
        """The Python environments outside of a root that its servers read."""
        projects = [route.project for route in outlook.routes if route.spec.python_environment]
        found = ((each.environment, each.top) for each in projects)
        return sorted({path for path, top in found if path and not is_under(path, top)})

    async def unreached(self, outlook: Outlook) -> tuple[dict[str, list[str]], int]:
        """The modules of a root that are imported where its servers do not find them, by where the
        imports lead, and how many files are kept from them.
        """
        found = [await self._unreached(route) for route in outlook.routes]
        told = [each for part in found for each in part.unresolved]
        names = {where: {each.name for each in told if where_of(each) == where} for where in WHERE}
        lost = {where: sorted(some) for where, some in names.items() if some}
        return lost, sum(sum(part.left_out) for part in found)

    # Looking

    async def _of_references(
        self, routes: Sequence[Route], own: Route, file: SourceFile, name: str
    ) -> tuple[Lacks, Spelled | None]:
        package, instead = await self._packages.of(own.project.projects.root, file.path)
        unreached = await self._unreached(own, file.path)
        lacks = Lacks(package, instead, unreached.note(file.path), self._doubts(own, file))
        requiring = unreached.requiring - {file.path}
        if not requiring and self._is_nothing(lacks, own, file):
            return lacks, None
        texts = [each for route in routes if (each := self._texts(route)) is not None]
        spelled = None
        if len(texts) == len(routes):
            spelled = await look_for(self._routes.language_id(file.path), name, texts)
        if _may_require(requiring, file, name, spelled):
            doubt = self._doubts_of(own, LANGUAGE, REQUIRED)
            if doubt not in lacks.doubts:
                lacks = lacks._replace(doubts=f"{doubt} {lacks.doubts}".rstrip())
        return lacks, spelled

    def _lacks_now(self, own: Route, file: SourceFile) -> Lacks | None:
        """What stands in the way, where that is known without a look for the name."""
        packages = self._packages.known(own.project.projects.root, file.path)
        reach = self._reach(own)
        unreached = Unreached() if reach is None else reach.known(file.path)
        if packages is None or unreached is None or unreached.requiring - {file.path}:
            return None
        return Lacks(*packages, unreached.note(file.path), self._doubts(own, file))

    def _is_nothing(self, lacks: Lacks, own: Route, file: SourceFile) -> bool:
        """Whether nothing can be missing, wherever the name stands."""
        return not any(lacks) and not self._routes.users(own, file.path)

    def _doubts(self, route: Route, file: SourceFile) -> str:
        """What the server of a file does not follow in it, in sentences."""
        if not route.spec.doubts:
            return ""
        return self._doubts_of(route, self._routes.language(file.path), file.text)

    def _doubts_of(self, route: Route, language: str | None, text: str) -> str:
        """What a server does not follow in a text."""
        found = (
            doubt.means
            for doubt in route.spec.doubts
            if doubt.language == language and _is_said(doubt.where, text)
        )
        return " ".join(found)

    async def _unreached(self, route: Route, path: str | None = None) -> Unreached:
        reach = self._reach(route)
        if reach is None:
            return Unreached()
        known = reach.known(path) if path is not None else None
        return known if known is not None else await asyncio.to_thread(reach.look, path)

    def _reach(self, route: Route) -> Reach | None:
        imports = imports_of(route.spec)
        if imports is None:
            return None
        return self._observer(
            Reach, route, lambda project: Reach(imports, project, self._variables)
        )

    def _observer(
        self, kind: type[O], route: Route, make: Callable[[Any], O], *more: Hashable
    ) -> O:
        """The one of a kind for a server and its project, which it is made of as it is now."""
        folder = route.project.folder
        key = (kind, route.name, folder, *more)
        if key not in self._observers:
            self._observers[key] = make(partial(self._routes.project, route.spec, folder))
        return cast("O", self._observers[key])


def _may_require(
    requiring: Collection[str], file: SourceFile, name: str, spelled: Spelled | None
) -> bool:
    """Whether one of the files that take in others may use a name of a file: it spells the name,
    or need not do so.
    """
    if not requiring or spelled is None or _is_renamed(file.text, name):
        return bool(requiring)
    return any(path in requiring for _, hits in spelled for path in hits)


def _is_said(pattern: str, text: str) -> bool:
    """Whether the code of a source of JavaScript says something: all doubts are about that."""
    if re.search(pattern, text) is None:
        return False
    data = text.encode("utf-8", "replace")
    found = re.finditer(pattern.encode(), data)
    return has_code(JAVASCRIPT, data, (match.start() for match in found))


def _is_renamed(text: str, name: str) -> bool:
    """Whether a name stands in a line that may export it without one, or under another one."""
    lines = (line for line in text.split("\n") if name in line)
    return any(map(_RENAMED.search, lines))


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
