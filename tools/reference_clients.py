"""The page of the clients: what each gets, and how far it was seen to work."""

from pathlib import Path

from sightline.cli.clients.client import Client, Places
from sightline.cli.clients.table import CLIENTS

__all__ = ["clients_page"]

_STARTS = {
    "project": "the project it runs in",
    "anywhere": "one project, named in the entry",
}
_TESTED = {
    "turns": "whole turns",
    "calls": "its own calls",
    "file": "configuration only, not run",
}
_CREDENTIALS = {
    "helper": "by a command, so it is not in the file",
    "prompt": "VS Code asks for it once and keeps it",
    "file": "in the file, which is made readable by you alone",
}


def clients_page() -> str:
    rows = [_row(client) for client in CLIENTS.values()]
    needs = [_needs(client) for client in CLIENTS.values()]
    return f"""\
# Clients

What `sightline config` knows about each client. *Whole turns*: the real client, pinned, was configured by `sightline config`, started offline, and its model, a stand-in, called every tool; what
the model would have seen was compared with what the server answered (`make test-clients`). *Its own calls*: the real program, here VS Code's server without a desktop, read the entry, connected and called a tool of every family
over stdio and HTTP, without a model (`make test-vscode`). *Configuration only, not run*: the file is written as the client's documentation asks for (Zed: as its source reads it); nobody has seen the client use it.

| client | `config` name | file on Linux | serves | tested by |
|---|---|---|---|---|
{chr(10).join(rows)}

What each gets beside the entry:

| client | token over HTTP | settings | its own check |
|---|---|---|---|
{chr(10).join(needs)}
"""


def _row(client: Client) -> str:
    path = client.file(Places(Path("~"), {}, "linux"))
    tested = _TESTED[client.tested]
    if client.key == "json":
        tested = "the official Python and TypeScript clients and MCP Inspector use such entries"
    where = f"`{path}`" if path else "you name it: `--file`"
    cells = [client.title, f"`{client.key}`", where, _STARTS[client.starts_in], tested]
    return "| " + " | ".join(cells) + " |"


def _needs(client: Client) -> str:
    token = _CREDENTIALS[client.credential] if client.http else f"no HTTP: {client.no_http}"
    settings = ", ".join(f"`{key} = {value}`" for key, value in client.settings.items()) or "none"
    if client.http and not client.sends_revision:
        settings += "; over HTTP `protocol_header = session`"
    check = f"`{' '.join(client.check).replace('NAME', 'sightline')}`" if client.check else "none"
    check += " (connects)" if client.check_connects else ""
    return f"| {client.title} | {token} | {settings} | {check} |"
