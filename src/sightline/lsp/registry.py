"""Which language servers exist and how each has to be treated: data, read once.

The data are in ``registry.toml`` beside this file, and once more in ``registry.json``, which every
start reads much more quickly (``make docs`` writes it). A user's configuration may
add servers and languages, or change single values of known ones: what it does not name stays, in
tables within tables, too, because some settings are what makes answers complete or keeps a server
off the network. Nothing in a workspace can. Every field is described where it stands;
docs/languages.md is generated from the same data.
"""

import re
from collections.abc import Callable, Mapping
from fnmatch import translate
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

__all__ = [
    "OPERATIONS",
    "BadRegistry",
    "Language",
    "Operation",
    "Package",
    "Registry",
    "ServerSpec",
    "Trouble",
    "builtin",
    "load",
]

Operation = Literal[
    "definition",
    "references",
    "hover",
    "documentSymbols",
    "workspaceSymbols",
    "documentDiagnostics",
    "workspaceDiagnostics",
]
OPERATIONS: tuple[Operation, ...] = (
    "definition",
    "references",
    "hover",
    "documentSymbols",
    "workspaceSymbols",
    "documentDiagnostics",
    "workspaceDiagnostics",
)


class BadRegistry(ValueError):
    """A server entry that cannot be used. The text names it."""


class Language(Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    title: str
    extensions: tuple[str, ...]
    #: Whole file names, for files without a telling extension.
    names: tuple[str, ...] = ()
    #: The protocol's language id, where it is not the language's own name.
    id: str | None = None
    #: Files with a language id of their own, by a pattern for their name.
    ids: dict[str, str] = {}
    #: Whether its files define symbols that other files use. Data formats do not.
    symbols: bool = True
    #: Languages whose symbols its files use. Their servers do not look into these files.
    uses: tuple[str, ...] = ()
    #: Programs that the first line of a script in it names, without their versions. A file without
    #: an extension is known by that.
    interpreters: tuple[str, ...] = ()
    #: Programs, and endings, of scripts that use its symbols and are not quite written in it.
    dialects: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()

    def id_of(self, name: str, default: str) -> str:
        """The protocol's language id of a file."""
        lowered = name.lower()
        for matches, own in self._patterns:
            if matches(lowered):
                return own
        return self.id or default

    @cached_property
    def _patterns(self) -> list[tuple[Callable[[str], object], str]]:
        return [(re.compile(translate(pattern)).match, own) for pattern, own in self.ids.items()]


class Package(Struct, frozen=True, forbid_unknown_fields=True):
    """Something ``sightline servers install`` can get. What exactly is in its lock file."""

    kind: Literal["npm", "pip"]
    version: str
    licence: str


class Trouble(Struct, frozen=True, forbid_unknown_fields=True):
    """What a server says when it could not load all of a project."""

    #: A pattern for its status or for a line of its log.
    says: str
    #: What callers are told, and the step that helps.
    means: str
    fix: str = ""
    #: Whether it then knows nothing at all of what it speaks of.
    blind: bool = False


class ServerSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    languages: tuple[str, ...]
    #: Whether it comes before the other servers of its languages, or after them. Unless a user
    #: says so, a server of theirs comes first and a known one stays where it is.
    prefer: bool | None = None
    #: The program and its arguments. ``{server}`` is the folder of the installed package,
    #: ``{node}`` the user's Node, ``{cache}`` a folder of this server for this project outside the
    #: workspace, ``{platform}`` such as linux-x64.
    command: tuple[str, ...]
    #: Where the program comes from: this installation, ``sightline servers install``, or PATH.
    found: Literal["bundled", "installed", "path"]
    package: str = ""
    version: str = ""
    licence: str = ""
    #: For servers from PATH: how a user gets one.
    get: str = ""
    #: A server that calls itself older is ended before it reads a project, and why.
    oldest: str = ""
    oldest_why: str = ""
    #: Files that mark a project of its own inside a root.
    root_markers: tuple[str, ...] = ()
    #: The server's folder: always the root, or the nearest folder with a marker that also has a
    #: language environment of its own.
    folder: Literal["root", "environment"] = "root"
    #: What must be open for the server to see the whole workspace.
    opens: Literal["nothing", "any", "tsconfig", "gomod"] = "nothing"
    #: Whether a script that only its first line tells counts as one of the project while it is
    #: open: its uses are found, and after it was closed they are not, or the server starts over.
    #: Then scripts are held open. Without it nobody is asked about one.
    reads_scripts: bool = False
    #: Whether a project can make it open a file of any name: by an include, or a script that is
    #: sourced.
    opens_any_name: bool = False
    #: Questions about the whole workspace in whose answers they are missing nevertheless.
    scripts_missing_in: tuple[Operation, ...] = ()
    #: A file that is open counts as one of the project, even if the project leaves it out. So that
    #: answers do not depend on what was asked before, others are closed before wide questions.
    opened_join: bool = False
    #: It does not always see that a module's name stands for another file (``a.ts``, ``a.d.ts``)
    #: when one of them comes or goes, nor that it came with a folder where no project has the
    #: file that imports it. Then it starts over.
    resolves_once: bool = False
    #: Whether it knows ``baseUrl`` of a ``tsconfig.json``. To one that does not, such a file is
    #: shown with ``paths`` that say the same, in memory only.
    knows_base_url: bool = True
    #: When answers are complete. ``answers-block``: the server itself waits instead of guessing;
    #: ``documents``: it knows nothing beyond the document it is asked about.
    readiness: Literal[
        "answers-block", "documents", "log", "progress", "status", "notification"
    ] = "answers-block"
    #: What the readiness signal looks like: a log pattern, a progress token or title, a method.
    ready_signal: str = ""
    #: What makes the server see an edit, and how it is known that it did.
    after_change: Literal["told", "rescan", "reload", "quiesce", "reindex", "reveal", "restart"] = (
        "told"
    )
    #: It takes a file of the same size and modification time for the same file, even after it was
    #: shown another text. An edit that keeps both makes it start over.
    trusts_times: bool = False
    #: The command behind ``reload``.
    reload_command: str = ""
    #: Files whose change makes the server start over: patterns for the end of their paths. Those
    #: that end with a slash are for folders that come or go, from the project's folder (``./``).
    restart_on: tuple[str, ...] = ()
    diagnostics: Literal["pull", "push", "push-unversioned", "tsserver", "none"] = "pull"
    #: ``pull``: it reports all files in one answer. ``sweep``: it is asked about each document.
    workspace_diagnostics: Literal["pull", "sweep", "none"] = "sweep"
    #: A sweep need not open the documents: the server reads the disk.
    sweeps_unopened: bool = False
    #: How many documents a sweep asks about at once: many where the server waits before it looks.
    sweeps_at_once: Annotated[int, Meta(ge=1, le=256)] = 4
    #: Silent limits inside the server that cannot be lifted: an answer that long is refused.
    caps: dict[Operation, int] = {}
    #: Silent limits that the settings or arguments here lift, for people.
    caps_lifted: str = ""
    not_offered: tuple[Operation, ...] = ()
    #: Operations whose answers are not repeatable; offered only with ``allow_unstable_hover``.
    unstable: tuple[Operation, ...] = ()
    #: What is left out where a caller wants no declarations: what the server leaves out, or, where
    #: that is more or something else, the places that its ``definition`` names.
    declarations: Literal["server", "definition"] = "server"
    #: Whether no definition may mean that it was busy: then it is asked once more.
    doubts_nothing: bool = False
    #: What is said of members on values whose type it cannot tell: nothing, how often their name
    #: stands in the text, or that of the places which its ``definition`` cannot name. It must
    #: answer that for documents that are not open.
    unknown_members: Literal["", "text", "definition"] = ""
    #: A pattern for the error it gives where there is no symbol: that is an answer, and empty.
    no_symbol: str = ""
    #: What it says when something is missing. With ``status`` anything but good health counts.
    troubles: tuple[Trouble, ...] = ()
    #: Folders outside the workspace whose change may end a trouble, as patterns: then it starts
    #: over. ``~`` is the user's home, ``$NAME`` a variable of the environment.
    outside: tuple[str, ...] = ()
    #: A text that shows that an answer was made before the project was loaded.
    unfinished: str = ""
    #: What of a workspace the server runs, for people.
    executes: str = "unknown"
    #: Whether its user must have trusted a root first. This alone decides: a text is not read as
    #: leave to run somebody's code.
    needs_trust: bool = True
    #: What it needs to read, where the kernel can hold it to that and the root is not trusted:
    #: what the workspace and the system have; or anything that may be code, but not what a home
    #: folder keeps hidden; or anything.
    reads: Literal["anything", "code", "workspace"] = "anything"
    #: Where it runs. What a server writes by a name alone, or leaves when it crashes, lies there.
    runs_in: Literal["project", "cache"] = "project"
    #: What it would send over the network, and how that is off.
    network: str = "unknown"
    settings: dict[str, Any] = {}
    initialization_options: dict[str, Any] = {}
    environment: dict[str, str] = {}
    #: Variables of the user's environment that it gets besides the few that every server gets,
    #: unless they name something in a root.
    passes: tuple[str, ...] = ()
    #: Notifications sent once after ``initialized``.
    announce: tuple[str, ...] = ()
    python_environment: Literal["ty", "pyright", ""] = ""
    #: A compilation database is made outside the workspace.
    compile_database: bool = False
    #: A file below the user's folder of configurations; it is given a copy with more in it.
    configuration_file: str = ""
    configuration_adds: str = ""
    #: What makes it read no configuration at all, neither the user's nor the project's. It is told
    #: so where a project that nobody trusted says more than what is known to do no harm.
    configuration_off: tuple[str, ...] = ()
    #: How its languages mark code that belongs to some builds only, of which it reads one.
    conditional: Literal["", "preprocessor"] = ""
    #: Requests that differ from the protocol's plain ones.
    dialect: Literal["", "clangd", "tsserver"] = ""
    #: What of a project it does not read, for people.
    leaves_out: str = ""
    #: Why it is treated so, for people.
    notes: str = ""

    @property
    def forgets_closed(self) -> bool:
        """Whether what it was shown is gone from its answers once it is closed."""
        return self.after_change != "reveal"

    @property
    def starts_ahead(self) -> bool:
        """Whether it can be started, and asked, before anything is known of the workspace."""
        return self.readiness == "answers-block" and self.opens == "nothing"


class Registry(Struct, frozen=True, dict=True):
    languages: dict[str, Language]
    servers: dict[str, ServerSpec]
    packages: dict[str, Package] = {}

    def language_of(self, name: str) -> str | None:
        """The language of a file by its name."""
        lowered = name.lower()
        for language in self._by_ending.get(lowered.rpartition(".")[2], ()):
            spec = self.languages[language]
            if name in spec.names or lowered.endswith(spec.extensions):
                return language
        return None

    def language_of_program(self, program: str) -> str | None:
        """The language of a script by the program that its first line names."""
        return self._by_program.get(program)

    def servers_for(self, language: str) -> list[str]:
        """The servers that know a language, best first."""
        return self._by_language.get(language, [])

    @cached_property
    def _by_ending(self) -> dict[str, list[str]]:
        """The languages that a file may be written in, by what follows the last dot of its name."""
        found: dict[str, list[str]] = {}
        for language, spec in self.languages.items():
            for ending in {e.lower().rpartition(".")[2] for e in (*spec.extensions, *spec.names)}:
                found.setdefault(ending, []).append(language)
        return found

    @cached_property
    def _by_program(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for language, spec in self.languages.items():
            for program in spec.interpreters:
                found.setdefault(program, language)
        return found

    @cached_property
    def _by_language(self) -> dict[str, list[str]]:
        return {
            language: [name for name, spec in self.servers.items() if language in spec.languages]
            for language in self.languages
        }

    def version_of(self, name: str) -> str:
        """The version of a server that is meant, or nothing where the user's own is taken."""
        spec = self.servers[name]
        package = self.packages.get(spec.package)
        return package.version if package is not None else spec.version

    def licence_of(self, name: str) -> str:
        spec = self.servers[name]
        package = self.packages.get(spec.package)
        return package.licence if package is not None else spec.licence


@cache
def builtin() -> Registry:
    """The registry that ships with Sightline."""
    return load(msgspec.json.decode(Path(__file__).with_name("registry.json").read_bytes()))


def load(tables: Mapping[str, Any], base: Registry | None = None) -> Registry:
    """A registry from parsed TOML, on top of ``base``, which keeps what the tables do not name."""
    known = base or Registry({}, {})
    languages, packages = dict(known.languages), dict(known.packages)
    first: list[str] = []
    for name, table in tables.get("languages", {}).items():
        spec = _convert(f"languages.{name}", _on_top(languages.get(name), table), Language)
        languages[name] = spec
        if table.keys() & {"extensions", "names"}:
            first.append(name)
    # A language whose files the user names has them, whatever they were taken for.
    languages = {name: languages[name] for name in dict.fromkeys([*first, *languages])}
    for name, table in tables.get("packages", {}).items():
        packages[name] = _convert(f"packages.{name}", table, Package)
    own: dict[str, ServerSpec] = {}
    for name, table in tables.get("servers", {}).items():
        entry = _on_top(known.servers.get(name), table)
        own[name] = _convert(f"servers.{name}", entry, ServerSpec)
    servers = _in_order(known.servers, own)
    for name, spec in servers.items():
        _check(name, spec, languages, packages)
    return Registry(languages, servers, packages)


def _on_top(inherited: Struct | None, table: Mapping[str, Any]) -> Mapping[str, Any]:
    """An entry with what is changed in it."""
    return table if inherited is None else _merged(msgspec.to_builtins(inherited), table)


def _merged(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Tables become one, at every depth; of anything else, lists too, the upper one counts."""
    merged = {**below, **above}
    for key in below.keys() & above.keys():
        if isinstance(below[key], dict) and isinstance(above[key], dict):
            merged[key] = _merged(below[key], above[key])
    return merged


def _in_order(
    known: Mapping[str, ServerSpec], own: Mapping[str, ServerSpec]
) -> dict[str, ServerSpec]:
    """Best first. To change a value of a server is not to want it instead of another."""
    ranks = {
        name: 0 if spec.prefer or (spec.prefer is None and name not in known) else 1
        for name, spec in own.items()
    }
    ranks |= {name: 2 for name, spec in own.items() if spec.prefer is False}
    together = {**known, **own}
    return {name: together[name] for name in sorted(together, key=lambda n: ranks.get(n, 1))}


def _check(
    name: str,
    spec: ServerSpec,
    languages: Mapping[str, Language],
    packages: Mapping[str, Package],
) -> None:
    for language in spec.languages:
        if language not in languages:
            raise BadRegistry(f"servers.{name}: there is no language {language!r}")
    if not spec.command or not spec.command[0]:
        raise BadRegistry(f"servers.{name}: command must name a program")
    if spec.found == "installed" and spec.package not in packages:
        raise BadRegistry(f"servers.{name}: there is no package {spec.package!r}")
    if spec.readiness in ("log", "progress", "notification") and not spec.ready_signal:
        raise BadRegistry(f"servers.{name}: readiness {spec.readiness!r} needs a ready_signal")
    for pattern in (
        spec.ready_signal,
        spec.no_symbol,
        *(each.says for each in spec.troubles),
    ):
        try:
            re.compile(pattern)
        except re.error:
            text = f"servers.{name}: {pattern!r} is not a regular expression"
            raise BadRegistry(text) from None
    if spec.after_change in ("reload", "quiesce") and not spec.reload_command:
        raise BadRegistry(f"servers.{name}: after_change needs a reload_command")


def _convert(where: str, table: object, kind: type[Any]) -> Any:  # noqa: ANN401
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        from sightline.lsp.registry_errors import in_plain_words  # which most users never need

        raise BadRegistry(in_plain_words(where, str(error), kind)) from None
