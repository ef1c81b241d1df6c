"""From a registry entry to something that can be started: the program, its arguments, its options.

Programs come from this installation, from ``sightline servers install`` or from the user's PATH;
never from a workspace. What a start needs on disk (an index folder, a compilation database, an
empty environment) is made in the per-user cache, anew for each start where it depends on the
project.
"""

import contextlib
import errno
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from msgspec import Struct, field

from sightline.contract.canonical import sha256_hex
from sightline.contract.failures import Unavailable
from sightline.contract.texts import listed, listed_paths
from sightline.contract.uris import above, is_under
from sightline.lsp.c import clangd_configuration, compile_database
from sightline.lsp.c.compile_database import Database
from sightline.lsp.c.compiler_flags import Flags
from sightline.lsp.c.includes import Includes
from sightline.lsp.go import gomod
from sightline.lsp.install.locks import platform_name
from sightline.lsp.install.store import Store
from sightline.lsp.project.projects import Project
from sightline.lsp.python import environments, pyright_settings
from sightline.lsp.registry import Registry, ServerSpec
from sightline.lsp.shell import any_leads_out
from sightline.lsp.shortcomings import Shortcoming
from sightline.lsp.start import configurations, sandbox
from sightline.lsp.start.rustup import is_empty_proxy
from sightline.lsp.start.slots import Slots
from sightline.lsp.typescript.held_open import HeldOpen
from sightline.process.allowed import Allowed
from sightline.process.environment import child_environment, find_program, lies_in, safe_path
from sightline.workspace.beside import Stamp, Stamps, stamp
from sightline.workspace.exclusions import spelled_out
from sightline.workspace.roots import RootSet

__all__ = ["Found", "Launcher", "Start"]

_NODE = "{node}"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_SERVER = "{server}/"
_GUARD = str(Path(__file__).with_name("guard.cjs"))
#: So many modules are named in a sentence.
_NAMED = 4
#: So many folders outside are looked at for each pattern.
_MAX_OUTSIDE = 4_096
_CONFIGURATION_UNUSED = Shortcoming(
    f"{clangd_configuration.NAME} is not used {compile_database.UNTRUSTED}.",
    "if you trust what is in the root: sightline trust ROOT",
)
_TY_PROJECT_FILES = ("ty.toml", "pyproject.toml")


def _anything(path: str) -> bool:
    return True


class Found(NamedTuple):
    """Whether a server can be started here: its command, or what is missing and the fix."""

    command: tuple[str, ...]
    missing: str = ""
    fix: str = ""


class Start(Struct, frozen=True, kw_only=True):
    """Everything one start of a server needs."""

    command: Sequence[str]
    environment: Mapping[str, str]
    settings: Mapping[str, Any]
    initialization_options: Mapping[str, Any]
    #: Files that must be open for the server to see the whole project.
    held_open: HeldOpen = HeldOpen()
    #: For servers with a compilation database: what is in it.
    database: Database = Database()
    #: What the project lacks, as far as it shows before the start.
    shortcomings: Sequence[Shortcoming] = ()
    #: The state of what lies outside and may end a trouble of the server.
    outside: Callable[[], object] | None = None
    #: Whether a file may be left out of the project.
    leaves_out: Callable[[str], bool] = _anything
    #: Whether scripts of the project take in what lies outside of it.
    leads_out: bool = False
    #: What else lies outside and decides what it knows, as it was before.
    beside: Stamps = {}
    #: Where it runs, and what it may do.
    cwd: str = "/"
    allowed: Allowed = Allowed()

    def configured(self, section: str) -> Any:  # noqa: ANN401 - any JSON
        """The part of the settings that a server asks for by its name."""
        value: Any = self.settings
        for part in section.split(".") if section else ():
            value = value.get(part) if isinstance(value, Mapping) else None
        return value


class Launcher(Struct, frozen=True):
    """Knows this installation and the user's environment."""

    environment: Mapping[str, str]
    cache: Path
    store: Store
    registry: Registry
    _includes: Includes = field(default_factory=Includes)
    _slots: Slots = field(default_factory=Slots)

    def find(self, name: str, closed: Sequence[str]) -> Found:
        """The command of a server with its program found, or why there is none. Nothing is run that
        lies in one of the ``closed`` folders.
        """
        spec = self.registry.servers[name]
        words = list(spec.command)
        if spec.found == "installed":
            package = self.registry.packages[spec.package]
            fix = f"sightline servers install {spec.package}"
            if self.is_enclosed(name, closed):
                move = "set XDG_DATA_HOME to a folder outside the workspace"
                return Found((), f"{name} would be run from inside the workspace", f"{move}; {fix}")
            if not self.store.has(spec.package, package.version):
                return Found((), f"{name} is not installed", fix)
            if self.is_damaged(name):
                return Found((), f"{name} is damaged", fix)
        if words[0] == _NODE:
            node = self._on_path("node", closed)
            if node is None:
                return Found(
                    (), "Node is missing", "install nodejs (Debian: apt-get install nodejs)"
                )
            words[0] = node
            return Found(tuple(self._fill(spec, words)))
        program = self._program(spec, self._fill(spec, words[:1])[0], closed)
        if program is None or is_empty_proxy(program, self.environment):
            if spec.found == "bundled":
                return Found((), f"{name} is not there", "install Sightline again")
            return Found((), f"{name} is not there", spec.get or f"put {words[0]} on the PATH")
        return Found((program, *self._fill(spec, words[1:])))

    def is_enclosed(self, name: str, closed: Sequence[str]) -> bool:
        """Whether what Sightline installs lies where nothing is run from."""
        spec = self.registry.servers[name]
        return spec.found == "installed" and lies_in(str(self.store.folder / spec.package), closed)

    def release(self) -> None:
        """Lets go of the folders that servers have worked in: none of them runs any more, no start
        is being prepared, and none will be.
        """
        self._slots.release()

    def is_damaged(self, name: str) -> bool:
        """Whether a program or script that an installed server is started by is gone."""
        spec = self.registry.servers[name]
        for word, path in zip(spec.command, self._fill(spec, spec.command), strict=True):
            runs = os.X_OK if word is spec.command[0] else os.R_OK
            if word.startswith(_SERVER) and not (os.path.isfile(path) and os.access(path, runs)):
                return True
        return False

    def start(
        self,
        name: str,
        project: Project,
        roots: RootSet,
        *,
        trusted: bool = False,
        has_read_parts: bool = False,
    ) -> Start | None:
        """What a start of the server for one project needs now, or ``None`` if it is not there.
        ``trusted``: its user lets servers run code of the root. ``has_read_parts``: it has read
        what it was given the last time, which was not everything. It writes to a folder that is
        the server's and the project's: never two of these at a time.
        """
        found = self.find(name, roots.closed)
        if found.missing:
            return None
        try:
            return self._prepared(
                name, found, project, roots, trusted=trusted, has_read_parts=has_read_parts
            )
        except OSError as error:
            # A write that the disk does not take has no name; a project's file would have one.
            if error.filename is not None and not lies_in(str(error.filename), [str(self.cache)]):
                raise
            why = f"{name} needs the cache folder, which cannot be written ({error.strerror})"
            step = "free some space there" if error.errno in _FULL else "run sightline doctor"
            raise Unavailable(f"{why}; {step}") from None

    def _prepared(
        self,
        name: str,
        found: Found,
        project: Project,
        roots: RootSet,
        *,
        trusted: bool,
        has_read_parts: bool,
    ) -> Start:
        """Makes what a start needs on disk."""
        spec = self.registry.servers[name]
        folder = self._folder(name, project.folder)
        closed, tops = roots.closed, [*(root.real for root in roots.roots), project.top]
        environment = self._environment(spec, closed, folder)
        installed = list(filter(None, [_GUARD, *self._fill(spec, ["{server}"])]))
        environment |= {} if trusted else _read_by(spec, [*tops, *installed])
        beside: dict[str, Stamp] = {}
        command = list(found.command)
        helpers, configured = list[str](), list[str]()
        flags = None if trusted else Flags(tops)
        if spec.configuration_file:
            user = configurations.user_file(spec, self.environment, closed)
            beside = {user: stamp(user)} if user is not None else {}
            environment["XDG_CONFIG_HOME"] = base = configurations.write(spec, user, folder)
            configured = [os.path.join(base, spec.configuration_file)]
        unused = False
        if spec.configuration_off:
            beside |= {path: stamp(path) for path in clangd_configuration.beyond(project)}
            own = clangd_configuration.files(project)
            unused = flags is not None and not clangd_configuration.are_plain(own, flags)
            command += spec.configuration_off if unused else ()
            configured = [] if unused else [*configured, *own]
        database = compile_database.Database()
        if spec.compile_database:
            database = compile_database.write(
                project,
                folder,
                self._includes,
                configured,
                flags,
                readable=None if trusted else sorted({*tops}),
                has_read_parts=has_read_parts,
            )
        shortcomings = database.shortcomings()
        if unused:
            shortcomings.append(_CONFIGURATION_UNUSED)
        if spec.opens == "gomod":
            shortcomings = self._modules_missing(project)
        settings, options = dict(spec.settings), dict(spec.initialization_options)
        held_open = project.held_open(database.harmless_to_open)
        if spec.python_environment:
            beside |= project.projects.environments.relied_on(project.folder, project.top)
            installed += [self._python(project), environments.empty_configuration(self.cache)]
        if held_open.unread:
            shortcomings.append(_unread_in(project, held_open.unread))
        leaves_out: Callable[[str], bool] = _anything
        if spec.python_environment == "ty":
            options |= self._ty_options(project)
        elif spec.python_environment == "pyright":
            leaves_out = environments.may_be_left_out(project.folder)
            settled_in = [file for file, _ in pyright_settings.chain_of(project.folder)]
            # What lies elsewhere is seen by nobody else.
            beside |= {file: stamp(file) for file in settled_in if not is_under(file, project.top)}
            held_open = held_open._replace(decided_by=held_open.decided_by.union(settled_in))
            probe = environments.interpreter_stand_in(self._python(project), self.cache)
            environment["SIGHTLINE_GUARD_PROGRAMS"] = json.dumps([probe])
            helpers = [probe]
            settings["python"] = {**settings.get("python", {}), "pythonPath": probe}
        return Start(
            command=_filled(command, folder),
            environment=environment,
            settings=_filled(settings, folder),
            initialization_options=_filled(options, folder),
            held_open=held_open._replace(decided_by=held_open.decided_by | beside.keys()),
            database=database,
            shortcomings=shortcomings,
            outside=self._mended_by(spec, database),
            leaves_out=leaves_out,
            leads_out=spec.after_change == "reveal" and any_leads_out(project),
            beside=beside,
            cwd=folder if spec.runs_in == "cache" else project.folder,
            allowed=sandbox.around(
                spec,
                command,
                cache=folder,
                of_the_user=spec.command[0] == _NODE,
                installed=installed,
                helpers=helpers,
                tops=tops,
                home=self.environment.get("HOME", ""),
                trusted=trusted,
            ),
        )

    def _on_path(self, program: str, closed: Sequence[str]) -> str | None:
        return find_program(program, safe_path(self.environment.get("PATH", ""), closed), closed)

    def _program(self, spec: ServerSpec, program: str, closed: Sequence[str]) -> str | None:
        if os.path.isabs(program):
            return find_program(os.path.basename(program), [os.path.dirname(program)], closed)
        if spec.found == "bundled":
            return find_program(program, [os.path.dirname(sys.executable)], ()) or find_program(
                program, [_scripts_folder()], ()
            )
        return self._on_path(program, closed)

    def _fill(self, spec: ServerSpec, words: Sequence[str]) -> list[str]:
        package = self.registry.packages.get(spec.package)
        server = self.store.path(spec.package, package.version) if package else ""
        return [
            word.replace("{server}", str(server)).replace("{platform}", platform_name())
            for word in words
        ]

    def _folder(self, name: str, project: str) -> str:
        """A folder of this server for this project, outside the workspace, and nobody else's."""
        return str(self._slots.take(self.cache / "servers" / name / sha256_hex(project)[:16]))

    def _environment(self, spec: ServerSpec, closed: Sequence[str], folder: str) -> dict[str, str]:
        passed = (name for name in spec.passes if name in self.environment)
        extra = {
            name: self.environment[name]
            for name in passed
            if not lies_in(self.environment[name], closed)
        }
        extra |= _filled(spec.environment, folder)
        # Heeded by Node and by every Node it starts; other programs do not know it.
        extra["NODE_OPTIONS"] = f"--require={json.dumps(_GUARD)}"
        extra["SIGHTLINE_GUARD_ROOTS"] = json.dumps(list(closed))
        if not self.environment.get("HOME"):
            # Some end where nobody tells them of a home folder, or write where they stand.
            extra["HOME"] = folder
        if spec.found != "path":  # a folder for everybody may hold a root
            extra["TMPDIR"] = sandbox.temporary_folder(folder, time.time())
            extra["XDG_CACHE_HOME"] = folder
        return child_environment(self.environment, closed, extra)

    def _modules_missing(self, project: Project) -> list[Shortcoming]:
        cache = gomod.cache_of(self.environment)
        folders = map(os.path.dirname, project.named("go.mod"))
        missing = {
            name
            for folder in folders
            if "/testdata/" not in f"{folder}/"
            for name in gomod.not_downloaded(folder, above(folder, project.folder), cache)
        }
        names = listed(sorted(missing), _NAMED)
        sentence = f"Modules not downloaded: {names}; what needs them may be missing."
        return [Shortcoming(sentence, "go mod download")] if missing else []

    def _mended_by(self, spec: ServerSpec, database: Database) -> Callable[[], object] | None:
        """What differs when something that no scan of a root sees may have ended a trouble."""
        if database.nowhere:
            return database.lead_nowhere
        return partial(_stamps, tuple(self._outside(spec))) if spec.outside else None

    def _outside(self, spec: ServerSpec) -> Iterator[str]:
        """The patterns of what lies outside; those with a variable that is not set are left out."""
        from string import Template  # which takes a moment, and few servers need

        known = {**self.environment, "GOMODCACHE": gomod.cache_of(self.environment)}
        for pattern in spec.outside:
            words = pattern.replace("~", "$HOME", 1) if pattern.startswith("~") else pattern
            with contextlib.suppress(KeyError, ValueError):
                yield Template(words).substitute(known)

    def _python(self, project: Project) -> str:
        return project.environment or environments.empty_environment(self.cache)

    def _ty_options(self, project: Project) -> dict[str, Any]:
        folder, environment = project.folder, self._python(project)
        own: dict[str, Any] = {"environment": {"python": environment}}
        root = project.projects.root
        exclude = spelled_out(root.exclude, root.real)
        if exclude:
            own["src"] = {"exclude": exclude}  # besides those of the project's own settings
        options: dict[str, Any] = {"configuration": own}
        if not any(os.path.isfile(os.path.join(folder, name)) for name in _TY_PROJECT_FILES):
            # Otherwise it climbs to a project above the root and speaks of that one.
            options["configurationFile"] = environments.empty_configuration(self.cache)
        return options


def _read_by(spec: ServerSpec, folders: Sequence[str]) -> dict[str, str]:
    """What tells the guard where a server may read what a document names: by the kernel alone it
    would be told apart whether something is there.
    """
    return {"SIGHTLINE_GUARD_READS": json.dumps(folders)} if spec.reads == "workspace" else {}


def _unread_in(project: Project, configurations: Iterable[str]) -> Shortcoming:
    """Servers make something of a configuration that is no JSON; what, is not known here."""
    paths = sorted(os.path.relpath(path, project.projects.root.real) for path in configurations)
    one = len(paths) == 1
    files = "1 configuration" if one else f"{len(paths):,} configurations"
    held = "its project holds" if one else "their projects hold"
    names = listed_paths(paths, _NAMED)
    return Shortcoming(
        f"{files} cannot be read as JSON{names}; what {held} may be missing.",
        "mend what tsc --showConfig finds wrong there",
    )


def _stamps(patterns: Sequence[str]) -> object:
    """Something that differs when an entry came or went in one of the folders."""
    from glob import iglob  # which takes a moment, and few servers need

    found: dict[str, int] = {}
    for pattern in patterns:
        for path in islice(iglob(pattern), _MAX_OUTSIDE):
            with contextlib.suppress(OSError):
                found[path] = os.stat(path).st_mtime_ns
    return found


def _scripts_folder() -> str:
    import sysconfig  # which takes a moment, and is mostly not needed

    return sysconfig.get_path("scripts")


def _filled(value: Any, folder: str) -> Any:  # noqa: ANN401 - settings are any JSON
    """The value with ``{cache}`` replaced, wherever it stands."""
    if isinstance(value, str):
        return value.replace("{cache}", folder)
    if isinstance(value, Mapping):
        return {key: _filled(item, folder) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(item, folder) for item in value]
    return value
