"""From a file, or from the whole workspace, to the servers that answer for it.

The first server of a language that is installed, trusted where that matters, and able to answer
the question completely is taken. What nobody can answer is said: an error for one document, the
languages left out for the workspace.
"""

import asyncio
import math
import re
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from msgspec import Struct

from sightline.contract.failures import NotReady, Unavailable, UriInvalid
from sightline.contract.texts import PLAIN_PATH, listed
from sightline.contract.uris import is_under, is_unicode, path_in, path_of
from sightline.lsp.project.first_lines import FirstLines, may_be_script
from sightline.lsp.project.glance import glance
from sightline.lsp.project.projects import Project, Projects
from sightline.lsp.python.discovery import Environments
from sightline.lsp.registry import Operation, Registry, ServerSpec
from sightline.lsp.start.launcher import Launcher
from sightline.text.readable import can_be_shown
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root
from sightline.workspace.tree import Tree
from sightline.workspace.workspace import Workspace

__all__ = ["Outlook", "Route", "Routes"]

K = TypeVar("K")
T = TypeVar("T")

#: A server that was not there is not looked for again for so long.
_LOOK_AGAIN_S = 2.0

_OWN_SERVER = (
    'if you have a server for it, in sightline.toml: [servers.NAME] with languages = ["{}"], '
    'command = ["PROGRAM"], found = "path"'
)
_SEARCH = "search its text"
_ENCLOSED = (
    "language servers are not run from inside the workspace, where the data folder of Sightline "
    "lies; run sightline doctor"
)
_NOT_OF_ALL = "the language servers of this workspace do not answer this; search its text"
#: So many packages, or languages, are named in a sentence.
_NAMED = 4
#: A file that is quick to open and large enough to define something.
_PROBE_BYTES = range(64, 65_536)
#: So many files are remembered with what is known of them; then it is begun anew.
_MOST_KNOWN = 4_096


class Route(Struct, frozen=True):
    """A server and the project it is asked about."""

    name: str
    spec: ServerSpec
    project: Project


class Outlook(NamedTuple):
    """What can be expected for one language in one root."""

    root: str
    #: The title of the language, and what the registry calls it.
    language: str
    name: str
    #: The server in each of its projects; none if nobody knows the language.
    routes: tuple[Route, ...]
    why: str = ""
    fix: str = ""


class _Choice(NamedTuple):
    """The server of a language in a root, or why there is none."""

    name: str | None
    why: str = ""
    #: Until when only a file that comes or goes, or a server that is found to be gone, changes it.
    until: float = 0.0


def _is_none(spec: ServerSpec, operation: Operation) -> bool:
    """Whether the entry of a server says that there is no way to ask it this."""
    if operation == "workspaceDiagnostics":
        way = spec.workspace_diagnostics
        return way == "none" or (way == "sweep" and spec.diagnostics == "none")
    return operation == "documentDiagnostics" and spec.diagnostics == "none"


class Routes:
    def __init__(
        self,
        workspace: Workspace,
        registry: Registry,
        launcher: Launcher,
        trusted: Callable[[str], bool],
        unstable: bool,
    ) -> None:
        self._workspace = workspace
        self._registry = registry
        self._launcher = launcher
        self._trusted = trusted
        self._unstable = unstable
        self._there: set[str] = set()
        #: When servers that are not there were looked for.
        self._missed: dict[str, float] = {}
        self._state: object = None
        self._refreshing = threading.Lock()
        #: How often it was noted, in another way than by the trees, that something has changed.
        self._doubts = 0
        self._generation = 0
        self._environments = Environments()
        self._projects: dict[str, Projects] = {}
        self._present: dict[str, list[str]] = {}
        #: Those of them that names tell.
        self._by_name: dict[str, list[str]] = {}
        self._first_lines = FirstLines()
        #: The state of the tree, and of first lines, in which all of them were looked at.
        self._looked: object = None
        #: The language that a name tells, and the protocol's word for it.
        self._spoken: dict[str, tuple[str | None, str]] = {}
        #: Who answers for a file in this state of the tree, and until when.
        self._routed: dict[tuple[str, Operation], tuple[Route, float]] = {}

    def forget(self) -> None:
        """The roots changed: what was found out about them holds no longer."""
        self._there.clear()
        self._missed.clear()
        self._first_lines.forget()
        self._looked = None
        self._routed.clear()
        self._doubt()

    def route(self, path: str, operation: Operation) -> Route:
        """Who answers a question about one file."""
        self._refresh()
        route, until = self._routed.get((path, operation), (None, 0.0))
        if route is None or time.monotonic() >= until:
            route, until = self._route(path, operation)
            _keep(self._routed, (path, operation), (route, until))
        return route

    def _route(self, path: str, operation: Operation) -> tuple[Route, float]:
        """The same, and until when only the state of the tree decides it."""
        if not is_unicode(path):
            raise Unavailable(
                "no language server can be told this name: it is not UTF-8; rename it"
            )
        language = self.language(path)
        if language is None:
            raise Unavailable(f"no language server is known for this kind of file; {_SEARCH}")
        root = self._workspace.roots.containing(path)
        if root is None:
            raise NotReady(waiting_for="the workspace")
        choice = self._choose(language, root, operation)
        if choice.name is None:
            raise Unavailable(choice.why)
        spec = self._registry.servers[choice.name]
        is_script = self.is_script(path)
        if not spec.reads_scripts and is_script:
            raise Unavailable(f"{choice.name} reads no scripts without an extension; {_SEARCH}")
        route = Route(choice.name, spec, self._around(root, path).of(spec, path))
        return route, 0.0 if is_script else choice.until

    def related(self, route: Route) -> list[Route]:
        """The route itself and those of the other projects of its server in the same root."""
        projects = route.project.projects.all(route.spec)
        if len(projects) == 1:
            return [route]
        return [Route(route.name, route.spec, project) for project in projects]

    def own(self, route: Route, found: Sequence[T], uri_of: Callable[[T], str]) -> Sequence[T]:
        """What of a server's findings counts: what lies in its project, or in none."""
        projects = route.project.projects
        if not projects.worktrees and len(projects.all(route.spec)) == 1:
            return found
        owned = {uri: self._owns(route, uri) for uri in {uri_of(item) for item in found}}
        return [item for item in found if owned[uri_of(item)]]

    def in_worktrees(
        self, route: Route, found: Sequence[T], uri_of: Callable[[T], str]
    ) -> Sequence[T]:
        """What of a server's findings lies in another Git worktree inside the root."""
        projects = route.project.projects
        if not projects.worktrees:
            return ()
        return [item for item in found if projects.worktree_of(path_in(uri_of(item)))]

    def _owns(self, route: Route, uri: str) -> bool:
        projects = route.project.projects
        try:
            path = path_of(uri)
        except UriInvalid:
            return True
        inside = is_under(path, projects.root.real)
        return route.project.holds(path) if inside else route.project.folder == projects.root.real

    def users(self, route: Route, path: str) -> set[str]:
        """The languages in whose files a symbol of this file may be used where nobody looks."""
        language, root = self.language(path), route.project.projects.root
        self._refresh()
        languages = self._registry.languages
        speaks = {languages[each].title for each in route.spec.languages}
        return {
            each
            for each in self._present[root.real]
            if language in languages[each].uses and languages[each].title not in speaks
        }

    def in_language(self, root: Root, language: str) -> list[str]:
        """The files of a language in a root."""
        return [
            f"{folder}/{name}"
            for folder, names in self.projects_in(root).folders()
            for name in names
            if self._registry.language_of(name) == language
        ]

    def is_script(self, path: str) -> bool:
        """Whether only its first line can tell the language of a file."""
        name = path.rpartition("/")[2]
        return self._registry.language_of(name) is None and may_be_script(name)

    async def look_for_scripts(self) -> None:
        """Takes in the languages of scripts that only their first line tells, in a thread."""
        while True:
            self._refresh()
            seen, projects = (self._state, self._first_lines.changes), list(self._projects.values())
            if self._looked == seen:
                return
            found = [await asyncio.to_thread(each.script_languages) for each in projects]
            self._refresh()
            if seen == (self._state, self._first_lines.changes):
                for each, languages in zip(projects, found, strict=True):
                    languages |= set(self._by_name.get(each.root.real, ()))
                    known = [name for name in self._registry.languages if name in languages]
                    self._present[each.root.real] = known
                self._looked = seen

    def sources(self, spec: ServerSpec, root: Root) -> list[str]:
        """The files of a server's languages in a root."""
        projects = self.projects_in(root).all(spec)
        return [path for each in projects for path in (*each.files(), *each.scripts())]

    def changed(self, changes: Sequence[Change]) -> None:
        """Files changed; those that came or went are seen by the state of the trees."""
        self._first_lines.changed(changes)
        if any(change.path in self._workspace.beside for change in changes):
            self._missed.clear()  # a server may have been installed
            self._doubt()

    def everywhere(self, operation: Operation) -> tuple[list[Route], tuple[str, ...]]:
        """Who answers a question about the workspace, and the languages nobody answers for."""
        found: dict[tuple[str, str], Route] = {}
        uncovered: set[str] = set()
        served = False
        for root, language in self._languages():
            described = self._registry.languages[language]
            served = served or self._choose(language, root, "documentSymbols").name is not None
            if operation == "workspaceSymbols" and not described.symbols:
                continue
            choice = self._choose(language, root, operation)
            if choice.name is None:
                uncovered.add(described.title)
                continue
            for route in self._in_root(choice.name, root):
                found[route.name, route.project.folder] = route
        if not found:
            if served:
                raise Unavailable(_NOT_OF_ALL)
            if not uncovered:
                why = "no language server is known for the files here"
                raise Unavailable(f"{why}; search the text, or run sightline doctor")
            languages = listed(sorted(uncovered), _NAMED)
            raise Unavailable(f"no language server answers for {languages}; run sightline doctor")
        return list(found.values()), tuple(sorted(uncovered))

    def place(self, route: Route) -> str:
        """What a server answers for, in words: languages, and where if that is not everywhere."""
        projects, folder = route.project.projects, route.project.folder
        present = self._present.get(projects.root.real, ())
        names = [name for name in route.spec.languages if name in present] or route.spec.languages
        titles = listed([self._registry.languages[name].title for name in names], _NAMED)
        if len(self._workspace.roots.roots) == 1 and len(projects.all(route.spec)) == 1:
            return titles
        own = folder[len(projects.root.real) + 1 :] or projects.root.name
        return f"{titles} in {own}" if re.fullmatch(PLAIN_PATH, own) else titles

    def all(self) -> list[Route]:
        """Every server that some file here can be asked of."""
        found: dict[tuple[str, str], Route] = {}
        for root, language in self._languages():
            choice = self._choose(language, root, "documentSymbols")
            if choice.name is not None:
                for route in self._in_root(choice.name, root):
                    found[route.name, route.project.folder] = route
        return list(found.values())

    def outlook(self) -> Iterator[Outlook]:
        """For every root and language in it: its servers, or why there is none and what helps."""
        for root, language in self._languages():
            title = self._registry.languages[language].title
            choice = self._choose(language, root, "documentSymbols")
            if choice.name is None:
                yield Outlook(
                    root.given, title, language, (), choice.why, self._fix(language, root)
                )
            else:
                yield Outlook(root.given, title, language, tuple(self._in_root(choice.name, root)))

    def _fix(self, language: str, root: Root) -> str:
        """The step after which the first server of a language can be asked."""
        if not self._registry.servers_for(language):
            return _OWN_SERVER.format(language)
        closed = self._workspace.roots.closed
        for name in self._registry.servers_for(language):
            found = self._launcher.find(name, closed)
            if found.missing:
                return found.fix
            if self._registry.servers[name].needs_trust and not self._trusted(root.real):
                return f"sightline trust {root.given}"
        return ""

    def project(self, spec: ServerSpec, folder: str) -> Project:
        """The project of a server in a folder, as it is now."""
        root = self._workspace.roots.containing(folder)
        if root is None:
            raise NotReady(waiting_for="the workspace")
        if self._workspace.tree_state() is None:
            # Asked for a head start only: nothing is known of the tree yet, and nothing needed.
            return Projects(root, self._registry, dict, self._look()).at(spec, folder)
        return self._around(root, folder).at(spec, folder)

    def ahead(self) -> Iterator[tuple[str, Route]]:
        """Servers that are surely needed and need nothing of the tree, each with its language.

        Found by a glance at the roots, before they are scanned.
        """
        for root in self._workspace.roots.roots:
            for language in glance(root.real, self._registry, root.exclude):
                name = self._choose(language, root, "references").name
                spec = self._registry.servers[name] if name is not None else None
                if name is not None and spec is not None and spec.starts_ahead:
                    yield language, Route(name, spec, self.project(spec, root.real))

    def probe(self, route: Route, units: Collection[str] = ()) -> str | None:
        """A file to ask about ahead of users: the first of a handy size that can be shown.

        ``units`` are the only ones to choose from, if there are any.
        """
        files, root = route.project.files(), route.project.projects.root.real
        files = [path for path in files if path in units] if units else files
        tree = route.project.projects.tree()
        for path in files:
            folder, _, name = path.rpartition("/")
            stamp = tree.get(folder, {}).get(name)
            if stamp is not None and stamp.size in _PROBE_BYTES and can_be_shown(path, root):
                return path
        return next((path for path in files if can_be_shown(path, root)), None)

    def language(self, path: str) -> str | None:
        """The language of a file by its name, or else by its first line, for which the file must
        lie in a root; none where its name cannot be told a server.
        """
        if not is_unicode(path):
            return None
        name = path.rpartition("/")[2]
        known = self._speech(name)[0]
        if known is None and may_be_script(name):
            return self._registry.language_of_program(self._first_lines.program(path))
        return known

    def language_id(self, path: str) -> str:
        """The protocol's word for the language of a file."""
        name = path.rpartition("/")[2]
        spoken = self._speech(name)[1]
        if spoken:
            return spoken
        language = self.language(path)
        assert language is not None
        return self._registry.languages[language].id_of(name, language)

    def _speech(self, name: str) -> tuple[str | None, str]:
        """The language of a file by its name, and the protocol's word for it."""
        known = self._spoken.get(name)
        if known is None:
            language = self._registry.language_of(name)
            spoken = self._registry.languages[language].id_of(name, language) if language else ""
            known = (language, spoken)
            _keep(self._spoken, name, known)
        return known

    def _choose(self, language: str, root: Root, operation: Operation) -> _Choice:
        why, until = "", math.inf
        for name in self._registry.servers_for(language):
            spec = self._registry.servers[name]
            if not self._is_there(name):
                until = min(until, self._missed[name] + _LOOK_AGAIN_S)
                continue
            until = 0.0 if spec.needs_trust else until  # which may be given, or taken back
            if spec.needs_trust and not self._trusted(root.real):
                why = f"{name} would run code of this folder; run sightline trust to allow it"
            elif operation in spec.not_offered or _is_none(spec, operation):
                why = f"{name} cannot answer this completely, so it is not asked; search the text"
            elif operation in spec.unstable and not self._unstable:
                why = f"{name} answers this differently each time; set allow_unstable_hover to ask"
            else:
                return _Choice(name, until=until)
        title = self._registry.languages[language].title
        known = self._registry.servers_for(language)
        if not known:
            return _Choice(None, f"no language server for {title} is known; search its text")
        if not why and any(map(self._is_enclosed, known)):
            why = _ENCLOSED
        return _Choice(
            None, why or f"no language server for {title} is installed; run sightline doctor"
        )

    def is_replaced(self, route: Route) -> bool:
        """Takes in that a server is gone; whether another one knows its languages."""
        self._there.discard(route.name)
        self._routed.clear()
        servers = self._registry.servers_for
        others = {name for language in route.spec.languages for name in servers(language)}
        return any(map(self._is_there, sorted(others - {route.name})))

    def _is_there(self, name: str) -> bool:
        """Whether a server can be started. One that was there stays until it cannot be started;
        a missing one may come.
        """
        if name in self._there:
            return True
        now = time.monotonic()
        if now - self._missed.get(name, -_LOOK_AGAIN_S) < _LOOK_AGAIN_S:
            return False
        closed = self._workspace.roots.closed
        if self._launcher.find(name, closed).missing:
            self._missed[name] = now
            return False
        self._there.add(name)
        if self._missed.pop(name, None) is not None:
            self._workspace.source_changed()  # what was said without it holds no longer
        return True

    def _is_enclosed(self, name: str) -> bool:
        closed = self._workspace.roots.closed
        return self._launcher.is_enclosed(name, closed)

    def _in_root(self, name: str, root: Root) -> Iterator[Route]:
        """The projects of a server in a root that have a file for it."""
        spec = self._registry.servers[name]
        for project in self.projects_in(root).all(spec):
            if project.folder == root.real or project.files() or project.scripts():
                yield Route(name, spec, project)

    def _languages(self) -> Iterator[tuple[Root, str]]:
        """Every root with every language that occurs in it."""
        self._refresh()
        for root in self._workspace.roots.roots:
            for language in self._present.get(root.real, ()):
                yield root, language

    def _around(self, root: Root, path: str) -> Projects:
        """The projects of a root, or of the Git worktree inside it that a path lies in.

        A worktree is a project of its own, as if it were a root: nobody else's answers name it.
        """
        projects = self.projects_in(root)
        while (folder := projects.worktree_of(path)) is not None:
            projects = self.projects_in(Root(folder, folder))
        return projects

    def projects_in(self, root: Root) -> Projects:
        """The projects of a root, or of a worktree in one."""
        self._refresh()
        if root.real not in self._projects:
            self._add(root)
        return self._projects[root.real]

    def _add(self, root: Root) -> None:
        projects = self._made(root)
        self._present[root.real] = self._by_name[root.real] = projects.languages()
        self._projects[root.real] = projects

    def _made(self, root: Root) -> Projects:
        tree = partial(self._tree, root)
        return Projects(root, self._registry, tree, self._environments, self._first_lines)

    def generation(self) -> int:
        """How often a file had come or gone, or an environment outside had changed."""
        self._refresh()
        return self._generation

    @property
    def environments(self) -> Environments:
        return self._environments

    def _refresh(self) -> None:
        """Looks at the trees again if a file came or went. Threads do, too."""
        if self._state == self._workspace.tree_state():
            return
        with self._refreshing:
            state, doubts = self._workspace.tree_state(), self._doubts
            if self._state == state:
                return  # somebody else has looked meanwhile
            self._environments = self._look()
            found = {root.real: self._made(root) for root, _ in self._workspace.trees()}
            by_name = {real: projects.languages() for real, projects in found.items()}
            if any("python" in present for present in by_name.values()):
                self._workspace.beside.keep(self._environments.stamps)
            self._projects, self._present, self._by_name = found, dict(by_name), by_name
            self._routed, self._looked = {}, None
            self._generation += 1
            if self._doubts == doubts:
                self._state = state  # last: from here on others believe it

    def _doubt(self) -> None:
        """What is known has to be looked at again, also what somebody just looks at."""
        self._doubts += 1
        self._state = None

    def _look(self) -> Environments:
        return Environments.look(self._launcher.environment)

    def _tree(self, root: Root) -> Tree:
        trees = self._workspace.trees()
        whole = next((tree for outer, tree in trees if outer.real == root.real), None)
        if whole is not None:
            return whole
        # A worktree: the part of its root's tree that it is.
        holder = self._workspace.roots.containing(root.real)
        outer = next((tree for each, tree in trees if each == holder), {})
        return {folder: outer[folder] for folder in list(outer) if is_under(folder, root.real)}


def _keep(known: dict[K, T], key: K, value: T) -> None:
    if len(known) >= _MOST_KNOWN:
        known.clear()
    known[key] = value
