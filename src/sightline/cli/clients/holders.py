"""Which clients hold a token in their files: they must be told when it changes."""

from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from sightline.cli.clients.client import Client, Places, endpoint_of
from sightline.cli.clients.files import UserFile
from sightline.cli.clients.stanza import CannotChange, entries
from sightline.cli.clients.table import CLIENTS
from sightline.cli.exits import CommandError

__all__ = ["holders"]


class Holder(NamedTuple):
    client: Client
    #: The name of its entry.
    name: str
    url: str


def holders(tokens: Collection[str], places: Places) -> list[Holder]:
    """Every client with an entry that sends one of the tokens."""
    sent = {f"Bearer {token}" for token in tokens}
    return [
        Holder(client, name, url)
        for client in CLIENTS.values()
        for name, url in _names(client, client.file(places), sent)
    ]


def _names(client: Client, path: Path | None, sent: Collection[str]) -> list[tuple[str, str]]:
    if path is None:
        return []
    try:
        found = entries(UserFile(path).read(), client)
    except (CannotChange, CommandError):
        return []  # what we cannot read we did not write
    ends = {name: endpoint_of(entry) for name, entry in found.items()}
    return [
        (name, end.url) for name, end in ends.items() if end.headers.get("Authorization") in sent
    ]
