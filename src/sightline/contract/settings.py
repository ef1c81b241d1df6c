"""Every setting, its default and its bounds; ``sightline settings`` and docs/reference list them.

Where a value comes from (flags, environment, file) is the command line's business. Here a value
above its maximum is clamped with a warning, and one that is too small or of a wrong type is
refused: a server that starts with a setting its user did not mean is worse than one that does not
start.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from sightline.contract import limits
from sightline.contract.texts import did_you_mean

__all__ = [
    "BadSetting",
    "ClientSettings",
    "Content",
    "Family",
    "LISTED",
    "Profile",
    "SHOWN_BYTES",
    "ProtocolHeader",
    "RootSettings",
    "Settings",
    "ToolNames",
]

Family = Literal["code", "lsp", "index", "context"]
#: Which families ``tools/list`` names. The others that are served answer by their exact names.
Profile = Literal["agent", "contract", "all"]
LISTED: Mapping[Profile, tuple[Family, ...]] = {
    "agent": ("code",),
    "contract": ("lsp", "index", "context"),
    "all": ("code", "lsp", "index", "context"),
}
ToolNames = Literal["dotted", "underscore"]
Content = Literal["empty", "summary", "mirror"]
ProtocolHeader = Literal["required", "session"]
ChangeDetection = Literal["auto", "sweep"]
Tokenizer = Literal["bytes/4", "cl100k_base", "o200k_base"]

#: What clients were seen to show their models whole, by the names they give themselves. Longer
#: answers they cut. Codex shows more with models it knows. docs/evidence/tokens.md has the rest.
SHOWN_BYTES: Mapping[str, int] = {
    "claude-code": 30_000,
    "codex-mcp-client": 11_000,
    "copilot-cli": 18_000,
    "gemini-cli-mcp-client": 30_000,
    "opencode": 30_000,
}

_MAX_LIST = 64
_MAX_TEXT = 4_096
_MAX_DIGITS = 20


class BadSetting(ValueError):
    """A setting that cannot be used. The text names the key and what it takes."""

    #: Which setting it is, so that whoever gave it can be told where it stands.
    key: str = ""


class ClientSettings(Struct, frozen=True):
    """What ``[clients."<clientInfo.name>"]`` may set; ``None`` means the general setting."""

    tool_names: ToolNames | None = None
    content: Content | None = None
    protocol_header: ProtocolHeader | None = None
    answer_bytes: int | None = None


class RootSettings(Struct, frozen=True):
    """What ``[roots."/path"]`` adds for one root."""

    exclude: tuple[str, ...] = ()
    include_ignored: tuple[str, ...] = ()


class Settings(Struct, frozen=True):
    port: int = 3939
    bind_address: str = "127.0.0.1"
    endpoint_path: str = "/mcp"
    allowed_origins: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    additional_allowed_roots: tuple[str, ...] = ()
    #: Globs, relative to each root, of what is not there for any tool.
    exclude: tuple[str, ...] = ()
    #: Globs of what is indexed although Git ignores it.
    include_ignored: tuple[str, ...] = ()
    enable_sessions: bool = True
    max_sessions: int = limits.MAX_SESSIONS
    session_idle_s: int = limits.SESSION_IDLE_S
    max_items_per_page: int = limits.MAX_PAGE_SIZE
    max_response_bytes: int = limits.MAX_RESPONSE_BYTES
    #: What clients show their models without cutting it. Lists are made shorter to fit.
    answer_bytes: int = limits.MAX_RESPONSE_BYTES
    request_timeout_ms: int = limits.REQUEST_TIMEOUT_MS
    debug_logging: bool = False
    families: tuple[Family, ...] = ("code", "lsp", "index", "context")
    profile: Profile = "all"
    tool_names: ToolNames = "dotted"
    content: Content = "empty"
    protocol_header: ProtocolHeader = "required"
    change_detection: ChangeDetection = "auto"
    dense: bool = True
    tokenizer: Tokenizer = "bytes/4"
    max_servers: int = limits.MAX_SERVERS
    server_memory_mb: int = limits.SERVER_MEMORY_MB
    server_idle_s: int = limits.SERVER_IDLE_S
    allow_unstable_hover: bool = False
    clients: Mapping[str, ClientSettings] = {}
    roots: Mapping[str, RootSettings] = {}

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> tuple["Settings", list[str]]:
        """Settings from plain values (JSON or TOML types, or strings), and the warnings."""
        warnings: list[str] = []
        known = cls.__struct_fields__
        parsed: dict[str, Any] = {}
        for key, value in values.items():
            try:
                if key not in known:
                    hint = did_you_mean(key, known) or "see sightline settings"
                    raise BadSetting(f"there is no setting {key!r}; {hint}")
                if key == "clients":
                    parsed[key] = _clients(value, warnings)
                elif key == "roots":
                    parsed[key] = _root_tables(value)
                elif key in _RANGES:
                    parsed[key] = _bounded(key, value, warnings)
                else:
                    parsed[key] = _PARSERS[key](key, value)
            except BadSetting as bad:
                bad.key = key
                raise
        return cls(**parsed), warnings

    def lists(self, family: Family) -> bool:
        """Whether ``tools/list`` names the tools of a family."""
        return family in self.families and family in LISTED[self.profile]

    @property
    def asks_servers(self) -> bool:
        """Whether a family is served that puts questions to language servers."""
        return "lsp" in self.families or "code" in self.families

    def for_client(self, name: str) -> ClientSettings:
        """The options a client of this name gets."""
        own = self.clients.get(name, ClientSettings())
        shown = SHOWN_BYTES.get(name, limits.MAX_RESPONSE_BYTES)
        return ClientSettings(
            tool_names=own.tool_names or self.tool_names,
            content=own.content or self.content,
            protocol_header=own.protocol_header or self.protocol_header,
            answer_bytes=own.answer_bytes or min(self.answer_bytes, shown),
        )


#: The smallest and the largest value of each number.
_RANGES: dict[str, tuple[int, int]] = {
    "port": (1024, 65_535),
    "max_sessions": (1, limits.MAX_SESSIONS),
    "session_idle_s": (1, 24 * 3600),
    "max_items_per_page": (1, limits.MAX_PAGE_SIZE),
    "max_response_bytes": (limits.MIN_RESPONSE_BYTES_SETTING, limits.MAX_RESPONSE_BYTES),
    "answer_bytes": (limits.MIN_ANSWER_BYTES_SETTING, limits.MAX_RESPONSE_BYTES),
    "request_timeout_ms": (limits.MIN_REQUEST_TIMEOUT_MS, limits.REQUEST_TIMEOUT_MS),
    "max_servers": (1, 4 * limits.MAX_SERVERS),
    "server_memory_mb": (256, 64 * 1024),
    "server_idle_s": (10, 24 * 3600),
}
#: A number that names something is not a cap: one that is too large is a mistake, not a wish.
_NOT_CLAMPED = {"port"}


def _bounded(key: str, value: object, warnings: list[str]) -> int:
    lowest, highest = _RANGES[key]
    if isinstance(value, str) and value.isascii() and value.isdigit():
        # So many digits say all there is to say: it is too large. Python reads only 4,300.
        value = int(value.lstrip("0")[:_MAX_DIGITS] or "0")
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadSetting(f"{key} must be a whole number from {lowest} to {highest}")
    if value < lowest or (value > highest and key in _NOT_CLAMPED):
        raise BadSetting(f"{key} must be from {lowest} to {highest}")
    if value > highest:
        told = f" from {value}" if value < 10 ** (_MAX_DIGITS - 1) else ""
        warnings.append(f"{key} was lowered{told} to its maximum, {highest}")
        return highest
    return value


def _flag(key: str, value: object) -> bool:
    words = {"true": True, "false": False}
    if isinstance(value, str):
        value = words.get(value)
    if not isinstance(value, bool):
        raise BadSetting(f"{key} must be true or false")
    return value


def _texts(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise BadSetting(f"{key} must be a list of strings")
    if len(value) > _MAX_LIST or any(len(item) > _MAX_TEXT for item in value):
        raise BadSetting(f"{key} is too long")
    return tuple(value)


def _roots(key: str, value: object) -> tuple[str, ...]:
    roots = _texts(key, value)
    if not all(map(_is_absolute, roots)):
        raise BadSetting(f"{key} takes absolute paths only")
    return roots


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or path[1:3] in (":\\", ":/")


def _globs(key: str, value: object) -> tuple[str, ...]:
    globs = _texts(key, value)
    for glob in globs:
        if glob[:1] in ("", "!", "#") or not glob.isprintable() or glob != glob.strip():
            raise BadSetting(
                f"{key} takes globs as in .gitignore, such as build/ or *.gen.py, and none with !"
            )
    return globs


def _families(key: str, value: object) -> tuple[Family, ...]:
    names = _texts(key, value)
    chosen = tuple(family for family in get_args(Family) if family in names)
    if not names or set(names) != set(chosen):
        raise BadSetting(f"{key} takes one or more of code, lsp, index, context")
    return chosen


def _choice(*options: str) -> Any:  # noqa: ANN401 - a parser for one of several literal types
    def parse(key: str, value: object) -> str:
        if value not in options:
            raise BadSetting(f"{key} must be {' or '.join(options)}")
        return str(value)

    return parse


_PARSERS: dict[str, Any] = {
    "bind_address": _choice("127.0.0.1"),
    "endpoint_path": _choice("/mcp"),
    "allowed_origins": _texts,
    "allowed_hosts": _texts,
    "additional_allowed_roots": _roots,
    "exclude": _globs,
    "include_ignored": _globs,
    "enable_sessions": _flag,
    "debug_logging": _flag,
    "dense": _flag,
    "tokenizer": _choice(*get_args(Tokenizer)),
    "allow_unstable_hover": _flag,
    "families": _families,
    "profile": _choice(*get_args(Profile)),
    "tool_names": _choice(*get_args(ToolNames)),
    "content": _choice(*get_args(Content)),
    "protocol_header": _choice(*get_args(ProtocolHeader)),
    "change_detection": _choice(*get_args(ChangeDetection)),
}
_ROOT_KEYS = RootSettings.__struct_fields__
_CLIENT_KEYS = ("tool_names", "content", "protocol_header", "answer_bytes")


def _root_tables(value: object) -> dict[str, RootSettings]:
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        raise BadSetting('roots takes tables, such as [roots."/home/me/project"]')
    roots: dict[str, RootSettings] = {}
    for path, table in value.items():
        if not _is_absolute(path):
            raise BadSetting(f"roots.{path!r} must be the absolute path of a root")
        for key in table:
            if key not in _ROOT_KEYS:
                hint = did_you_mean(key, _ROOT_KEYS)
                wrong = f"not {key!r}" + (f"; {hint}" if hint else "")
                raise BadSetting(f"roots.{path!r} may set {', '.join(_ROOT_KEYS)}; {wrong}")
        given = {key: _globs(f"roots.{path!r}.{key}", each) for key, each in table.items()}
        roots[path] = RootSettings(**given)
    return roots


def _clients(value: object, warnings: list[str]) -> dict[str, ClientSettings]:
    if not isinstance(value, Mapping) or not all(isinstance(v, Mapping) for v in value.values()):
        raise BadSetting('clients takes tables, such as [clients."gemini-cli-mcp-client"]')
    clients: dict[str, ClientSettings] = {}
    for name, table in value.items():
        for key in table:
            if key not in _CLIENT_KEYS:
                hint = did_you_mean(key, _CLIENT_KEYS)
                wrong = f"not {key!r}" + (f"; {hint}" if hint else "")
                raise BadSetting(f"clients.{name!r} may set {', '.join(_CLIENT_KEYS)}; {wrong}")
        parsed: dict[str, Any] = {}
        for key, given in table.items():
            if key in _RANGES:
                parsed[key] = _bounded(key, given, warnings)
            else:
                parsed[key] = _PARSERS[key](f"clients.{name!r}.{key}", given)
        clients[name] = ClientSettings(**parsed)
    return clients
