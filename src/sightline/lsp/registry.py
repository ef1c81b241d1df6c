"""Which language servers exist and how each has to be treated: data, read once.

The data are in ``registry.toml`` beside this file; a user's configuration may override or add
servers with the same keys. Nothing in a workspace can.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

import msgspec
from msgspec import Struct

__all__ = ["BadRegistry", "Language", "Registry", "ServerSpec", "builtin", "load"]

Operation = Literal[
    "definition",
    "references",
    "hover",
    "documentSymbols",
    "workspaceSymbols",
    "documentDiagnostics",
    "workspaceDiagnostics",
]


class BadRegistry(ValueError):
    """A server entry that cannot be used. The text names it."""


class Language(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    extensions: tuple[str, ...]
    #: Whole file names, for files without a telling extension.
    names: tuple[str, ...] = ()
    #: The protocol's language id, where it is not the language's own name.
    id: str | None = None


class ServerSpec(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    languages: tuple[str, ...]
    command: tuple[str, ...]
    #: Where the program comes from: this installation, ``sightline servers install``, or PATH.
    found: Literal["bundled", "installed", "path"]
    version: str = ""
    licence: str = ""
    #: When answers are complete. ``answers-block``: the server itself waits instead of guessing.
    readiness: Literal["answers-block", "log", "progress", "status"] = "answers-block"
    #: What the readiness signal looks like: a log pattern or a progress title.
    ready_signal: str = ""
    diagnostics: Literal["pull", "push", "none"] = "pull"
    workspace_diagnostics: Literal["pull", "sweep", "none"] = "none"
    not_offered: tuple[Operation, ...] = ()
    #: What of a workspace the server runs. Empty or "nothing...": it needs no trust.
    executes: str = "unknown"
    network: str = "unknown"
    settings: dict[str, Any] = {}
    initialization_options: dict[str, Any] = {}
    environment: dict[str, str] = {}
    python_environment: Literal["ty", "pyright", ""] = ""

    @property
    def needs_trust(self) -> bool:
        return not self.executes.startswith("nothing")


class Registry(Struct, frozen=True):
    languages: dict[str, Language]
    servers: dict[str, ServerSpec]

    def language_of(self, name: str) -> str | None:
        """The language of a file by its name."""
        lowered = name.lower()
        for language, spec in self.languages.items():
            if name in spec.names or lowered.endswith(spec.extensions):
                return language
        return None

    def servers_for(self, language: str) -> list[str]:
        """The servers that know a language, best first."""
        return [name for name, spec in self.servers.items() if language in spec.languages]


@cache
def builtin() -> Registry:
    """The registry that ships with Sightline."""
    text = files("sightline.lsp").joinpath("registry.toml").read_text(encoding="utf-8")
    return load(tomllib.loads(text))


def load(tables: Mapping[str, Any], base: Registry | None = None) -> Registry:
    """A registry from parsed TOML, on top of ``base``."""
    languages = dict(base.languages) if base else {}
    servers = dict(base.servers) if base else {}
    for name, table in tables.get("languages", {}).items():
        languages[name] = _convert(f"languages.{name}", table, Language)
    for name, table in tables.get("servers", {}).items():
        inherited = msgspec.to_builtins(servers[name]) if name in servers else {}
        servers[name] = _convert(f"servers.{name}", {**inherited, **table}, ServerSpec)
    for name, spec in servers.items():
        for language in spec.languages:
            if language not in languages:
                raise BadRegistry(f"servers.{name}: there is no language {language!r}")
    return Registry(languages, servers)


def _convert(where: str, table: object, kind: type[Any]) -> Any:  # noqa: ANN401
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as error:
        raise BadRegistry(f"{where}: {error}") from None
