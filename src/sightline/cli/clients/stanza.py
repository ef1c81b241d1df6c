"""The entry for Sightline in a client's file: made, put into the text, found again."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sightline.cli.clients import jsonc, toml
from sightline.cli.clients.client import (
    TRANSPORT,
    Client,
    Endpoint,
    Entry,
    Http,
    endpoint_of,
    merged,
)
from sightline.cli.clients.table import TOKEN_INPUT

__all__ = ["CannotChange", "Wish", "doubles", "entries", "holds_ours", "printed", "with_entry"]


class CannotChange(Exception):
    """The file cannot take the entry without a loss. The text says why."""


@dataclass(frozen=True)
class Wish:
    """What the user wants a client to have."""

    client: Client
    name: str
    #: The absolute command of this installation.
    program: Sequence[str]
    #: Absolute folders; none means the folder the client starts the server in.
    roots: Sequence[str] = ()
    #: Flags to pass on.
    flags: Sequence[str] = ()
    #: The address of the running server, if the client shall use that.
    url: str = ""
    #: The value of the Authorization header.
    authorization: str = ""

    def entry(self) -> Entry:
        client = self.client
        if self.url:
            assert client.http is not None
            helper = shlex.join([*self.program, "token", "show", "--headers"])
            return client.http(Http(self.url, helper, self.authorization))
        settings = [f"--set={key}={value}" for key, value in client.settings.items()]
        return client.stdio([*self.program, "stdio", *self.roots, *settings, *self.flags])

    @property
    def needs_input(self) -> bool:
        """Whether the file must also say how the client asks for the token."""
        return bool(self.url) and self.client.credential == "prompt"


#: What a token of ours looks like, today's or one that was replaced since.
_BEARER = re.compile(r"Bearer [A-Za-z0-9_-]{43}")
#: What only a program that is started can have.
_OF_STDIO = frozenset({"env", "env_vars", "cwd"})


def with_entry(text: str, wish: Wish) -> str:
    """The client's file with the entry in it, and nothing else changed."""
    client = wish.client
    path = [*client.path, wish.name]
    try:
        if client.form == "toml":
            # Its client reads no part of a file in which an address has an environment.
            return toml.put(
                text, path, wish.entry(), drop=TRANSPORT | (_OF_STDIO if wish.url else set())
            )
        if client.form == "json" and jsonc.has_comments(text):
            raise CannotChange(f"it has comments, which {client.title} may not read")
        old = entries(text, client).get(wish.name, {})
        text = jsonc.put(text, path, merged(old, wish.entry()))
        if wish.needs_input and TOKEN_INPUT["id"] not in _inputs(text):
            text = jsonc.append(text, "inputs", TOKEN_INPUT)
        return text
    except (jsonc.BadJson, toml.BadToml) as problem:
        raise CannotChange(str(problem)) from None


def entries(text: str, client: Client) -> dict[str, Entry]:
    """Every server in a client's file, by name."""
    try:
        whole: Any = toml.value(text) if client.form == "toml" else jsonc.value(text)
    except (jsonc.BadJson, toml.BadToml) as problem:
        raise CannotChange(str(problem)) from None
    found = toml.member(whole, client.path) if isinstance(whole, Mapping) else None
    if not isinstance(found, Mapping):
        return {}
    return {name: entry for name, entry in found.items() if isinstance(entry, dict)}


def doubles(text: str, wish: Wish) -> list[str]:
    """Other entries that lead to Sightline too: a model would see every tool twice."""
    found: list[str] = []
    for name, entry in entries(text, wish.client).items():
        there = endpoint_of(entry)
        same = bool(wish.url) and there.url == wish.url
        if name != wish.name and (_starts_us(there) or same):
            found.append(name)
    return found


def holds_ours(text: str, wish: Wish) -> bool:
    """Whether a client's file has an entry of Sightline: any name, transport, port and token."""
    found = entries(text, wish.client)
    ends = map(endpoint_of, found.values())
    return wish.name in found or any(_starts_us(end) or _has_our_token(end) for end in ends)


def _starts_us(there: Endpoint) -> bool:
    return bool(there.command) and os.path.basename(there.command[0]) == "sightline"


def _has_our_token(there: Endpoint) -> bool:
    try:
        address = urlsplit(there.url)
    except ValueError:
        return False
    ours = address.hostname in ("127.0.0.1", "localhost", "::1") and address.path == "/mcp"
    return ours and any(_BEARER.fullmatch(value) for value in there.headers.values())


def printed(wish: Wish) -> str:
    """The entry as it would stand in an empty file."""
    if wish.client.form == "toml":
        return toml.table([*wish.client.path, wish.name], wish.entry())
    text = jsonc.put("", [*wish.client.path, wish.name], wish.entry())
    return jsonc.append(text, "inputs", TOKEN_INPUT) if wish.needs_input else text


def _inputs(text: str) -> list[object]:
    listed = jsonc.value(text).get("inputs", [])
    return [each.get("id", "") for each in listed if isinstance(each, dict)]
