"""What a client needs to know about Sightline, and what Sightline knows about a client."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from sightline.contract.settings import Settings

__all__ = [
    "TRANSPORT",
    "Client",
    "Endpoint",
    "Entry",
    "Http",
    "Places",
    "endpoint_of",
    "merged",
    "rewrite",
]

Entry = dict[str, Any]
#: Every member that says how to reach a server; the others are the user's own.
TRANSPORT = frozenset(
    "type command args url httpUrl headers headersHelper http_headers http_headers_helper "
    "env_http_headers bearer_token_env_var".split()
)


@dataclass(frozen=True)
class Places:
    """Where programs of this user keep their files."""

    home: Path
    environment: Mapping[str, str]
    platform: str

    def variable(self, name: str, default: Path) -> Path:
        """The folder a variable names, or the default."""
        given = self.environment.get(name, "")
        return Path(given) if os.path.isabs(given) else default

    @property
    def config(self) -> Path:
        return self.variable("XDG_CONFIG_HOME", self.home / ".config")

    @property
    def applications(self) -> Path:
        """Where desktop programs keep their settings."""
        if self.platform == "darwin":
            return self.home / "Library" / "Application Support"
        if self.platform == "win32":
            return self.variable("APPDATA", self.home / "AppData" / "Roaming")
        return self.config


@dataclass(frozen=True)
class Http:
    """What an entry for the running server is made of."""

    url: str
    #: A shell command that prints the headers as JSON.
    helper: str
    #: The value of the Authorization header.
    authorization: str


@dataclass(frozen=True)
class Client:
    """One client of the table."""

    key: str
    title: str
    #: The name it gives itself in ``initialize``; per-client settings go by it.
    name: str
    #: The file of its user, never one of a project.
    file: Callable[[Places], Path | None]
    #: Where in the file the servers stand.
    path: tuple[str, ...]
    stdio: Callable[[list[str]], Entry]
    http: Callable[[Http], Entry] | None
    form: Literal["json", "jsonc", "toml"] = "json"
    #: Settings without which its model sees too little, or nothing.
    settings: Mapping[str, str] = field(default_factory=dict)
    #: In which folder it starts a server: the project's, or any.
    starts_in: Literal["project", "anywhere"] = "project"
    #: How the token gets to the server: by a command, in the file, or typed in once.
    credential: Literal["helper", "file", "prompt"] = "file"
    #: Why there is no HTTP, and what to do.
    no_http: str = ""
    #: Its own check of a server, with ``NAME`` for the server's name.
    check: tuple[str, ...] = ()
    #: Whether that check connects to the server.
    check_connects: bool = False
    #: The revision it offers.
    revision: str = "2025-11-25"
    #: Whether it says the revision again with every request over HTTP, as MCP asks.
    sends_revision: bool = True
    #: What of it runs in the tests: whole turns, its own tool calls without a model, or nothing,
    #: and then its file is only believed to be right.
    tested: Literal["turns", "calls", "file"] = "file"
    #: What to do after the file was written.
    next_step: str = ""

    @property
    def http_settings(self) -> Mapping[str, str]:
        """What the running server must know about it."""
        header = {} if self.sends_revision else {"protocol_header": "session"}
        return {**self.settings, **header}

    @property
    def shows_structure(self) -> bool:
        """Whether its model gets ``structuredContent`` when there is no text."""
        return self.settings.get("content") != "mirror"


@dataclass(frozen=True)
class Endpoint:
    """How a client would reach the server, read back from its file."""

    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    helper: str = ""
    enabled: bool = True
    #: Variables and headers whose value is no text.
    wrong: tuple[str, ...] = ()

    @property
    def transport(self) -> str:
        return "HTTP" if self.url else "stdio"


def endpoint_of(entry: Entry) -> Endpoint:
    """What an entry says, whichever client's spelling it has."""
    command = entry.get("command") or []
    words = [command] if isinstance(command, str) else _listed(command)
    env = _table(entry.get("env") or entry.get("environment"))
    headers = _table(entry.get("headers") or entry.get("http_headers"))
    return Endpoint(
        command=tuple(map(str, [*words, *_listed(entry.get("args"))])),
        env=_texts(env),
        url=_text(entry.get("httpUrl") or entry.get("url")),
        headers=_texts(headers),
        helper=_text(entry.get("headersHelper") or entry.get("http_headers_helper")),
        enabled=entry.get("enabled", True) is not False and entry.get("disabled") is not True,
        wrong=tuple(
            name
            for table in (env, headers)
            for name, value in table.items()
            if not isinstance(value, str)
        ),
    )


# Other programs' entries are read, too, and may say anything.


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _texts(table: Mapping[str, object]) -> Mapping[str, str]:
    return {name: value for name, value in table.items() if isinstance(value, str)}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def rewrite(key: str, name: str, url: str) -> str:
    """The command that writes an entry over HTTP anew."""
    try:
        port = urlsplit(url).port
    except ValueError:  # no number, or none that a port has
        port = None
    words = ["sightline", "config", key, "--http", "--write"]
    words += ["--port", str(port)] if port not in (None, Settings().port) else []
    return " ".join(words + ([] if name == "sightline" else ["--name", name]))


def merged(old: Entry, new: Entry) -> Entry:
    """The new way to reach the server, and whatever else the user had set, in its order."""
    kept = {
        key: new.get(key, each) for key, each in old.items() if key in new or key not in TRANSPORT
    }
    return kept | new
