"""The clients, as data: where each keeps its servers, what an entry looks like, what it needs.

``tested`` tells what was seen from what is only believed. The settings follow from what each
client shows to its model: ``content = mirror`` where structured content alone would not be shown
or is not known to be, underscores where a dot in a tool's name is refused or was in versions that
are still about.
"""

from pathlib import Path

from sightline.cli.clients.client import Client, Entry, Http, Places

__all__ = ["CLIENTS", "TOKEN_INPUT"]

#: VS Code asks for the token once and keeps it in the system's key ring.
TOKEN_INPUT = {
    "type": "promptString",
    "id": "sightline-token",
    "description": "Sightline token (sightline token show)",
    "password": True,
}
_CAREFUL = {"tool_names": "underscore", "content": "mirror"}


def _plain(command: list[str]) -> Entry:
    return {"command": command[0], "args": command[1:]}


def _typed(kind: str, **more: object) -> "_Maker":
    return _Maker(kind, more)


class _Maker:
    """Entries that begin with their type."""

    def __init__(self, kind: str, more: dict[str, object]) -> None:
        self._kind, self._more = kind, more

    def __call__(self, command: list[str]) -> Entry:
        return {"type": self._kind, **_plain(command), **self._more}


def _headers(http: Http) -> Entry:
    return {"url": http.url, "headers": {"Authorization": http.authorization}}


def _claude_code(places: Places) -> Path:
    return places.variable("CLAUDE_CONFIG_DIR", places.home) / ".claude.json"


def _opencode(places: Places) -> Path:
    folder = places.config / "opencode"
    names = ("opencode.jsonc", "opencode.json", "config.json")
    return next((folder / n for n in names if (folder / n).exists()), folder / "opencode.json")


def _zed(places: Places) -> Path:
    if places.platform == "win32":
        return places.applications / "Zed" / "settings.json"
    return places.config / "zed" / "settings.json"


_ALL = (
    Client(
        key="claude-code",
        title="Claude Code",
        name="claude-code",
        file=_claude_code,
        path=("mcpServers",),
        stdio=_typed("stdio"),
        http=lambda http: {"type": "http", "url": http.url, "headersHelper": http.helper},
        credential="helper",
        check=("claude", "mcp", "get", "NAME"),
        check_connects=True,
        tested="turns",
        next_step="start claude in your project; /mcp lists sightline",
    ),
    Client(
        key="claude-desktop",
        title="Claude Desktop",
        name="claude-ai",
        file=lambda places: places.applications / "Claude" / "claude_desktop_config.json",
        path=("mcpServers",),
        stdio=_plain,
        http=None,
        no_http="Claude Desktop starts its local servers itself; leave --http out",
        settings=_CAREFUL,
        starts_in="anywhere",
        next_step="quit Claude Desktop and start it again",
    ),
    Client(
        key="codex",
        title="Codex",
        name="codex-mcp-client",
        file=lambda places: places.variable("CODEX_HOME", places.home / ".codex") / "config.toml",
        path=("mcp_servers",),
        form="toml",
        stdio=_plain,
        http=lambda http: {"url": http.url, "http_headers_helper": http.helper},
        credential="helper",
        check=("codex", "mcp", "get", "NAME"),
        revision="2025-06-18",
        tested="turns",
        next_step="start codex in your project; /mcp lists sightline",
    ),
    Client(
        key="gemini",
        title="Gemini CLI",
        name="gemini-cli-mcp-client",
        file=lambda places: (
            places.variable("GEMINI_CLI_HOME", places.home) / ".gemini" / "settings.json"
        ),
        path=("mcpServers",),
        form="jsonc",
        stdio=_plain,
        http=None,
        no_http="Gemini CLI does not speak the revision of MCP that serve speaks; leave --http out",
        settings={"content": "mirror"},
        check=("gemini", "mcp", "list"),
        check_connects=True,
        revision="2025-06-18",
        tested="turns",
        next_step="start gemini in your project and trust the folder; /mcp lists sightline",
    ),
    Client(
        key="cursor",
        title="Cursor",
        name="cursor-vscode",
        file=lambda places: places.home / ".cursor" / "mcp.json",
        path=("mcpServers",),
        stdio=_typed("stdio"),
        http=_headers,
        settings=_CAREFUL,
        starts_in="anywhere",
        next_step="in Cursor, under Customize (older: Settings, MCP), switch sightline on",
    ),
    Client(
        key="vscode",
        title="VS Code",
        name="Visual Studio Code",
        file=lambda places: places.applications / "Code" / "User" / "mcp.json",
        path=("servers",),
        form="jsonc",
        stdio=_typed("stdio"),
        http=lambda http: {
            "type": "http",
            "url": http.url,
            "headers": {"Authorization": f"Bearer ${{input:{TOKEN_INPUT['id']}}}"},
        },
        settings=_CAREFUL,
        # It has a variable for the open folder, but not in the file of its user.
        starts_in="anywhere",
        credential="prompt",
        sends_revision=False,
        tested="calls",
        next_step="in VS Code run 'MCP: List Servers' and start sightline",
    ),
    Client(
        key="copilot-cli",
        title="Copilot CLI",
        name="copilot-cli",
        file=lambda places: (
            places.variable("COPILOT_HOME", places.home / ".copilot") / "mcp-config.json"
        ),
        path=("mcpServers",),
        stdio=_typed("local", tools=["*"]),
        http=lambda http: {"type": "http", **_headers(http), "tools": ["*"]},
        settings={"tool_names": "underscore"},
        check=("copilot", "mcp", "get", "NAME"),
        tested="turns",
        next_step="start copilot in your project; /mcp lists sightline",
    ),
    Client(
        key="opencode",
        title="opencode",
        name="opencode",
        file=_opencode,
        path=("mcp",),
        form="jsonc",
        stdio=lambda command: {"type": "local", "command": command, "enabled": True},
        http=lambda http: {"type": "remote", **_headers(http), "enabled": True},
        check=("opencode", "mcp", "list"),
        check_connects=True,
        tested="turns",
        next_step="start opencode in your project",
    ),
    Client(
        key="zed",
        title="Zed",
        name="Zed",
        file=_zed,
        path=("context_servers",),
        form="jsonc",
        stdio=lambda command: {"source": "custom", **_plain(command)},
        http=lambda http: {"source": "custom", **_headers(http)},
        settings=_CAREFUL,
        next_step="Zed reads its settings at once; Settings, AI, MCP Servers shows a green dot",
    ),
    Client(
        key="json",
        title="another client",
        name="another-client",
        file=lambda _: None,
        path=("mcpServers",),
        stdio=_plain,
        http=lambda http: {"type": "http", **_headers(http)},
        next_step="start the client again",
    ),
)
CLIENTS = {client.key: client for client in _ALL}
