"""Which clients hold a token in their files: they must be told when it changes."""

from collections.abc import Collection
from pathlib import Path

from sightline.cli.clients.client import Client, Places, endpoint_of
from sightline.cli.clients.files import UserFile
from sightline.cli.clients.stanza import CannotChange, entries
from sightline.cli.clients.table import CLIENTS
from sightline.cli.exits import CommandError

__all__ = ["holders"]


def holders(tokens: Collection[str], places: Places) -> list[tuple[Client, str]]:
    """Every client with an entry that sends one of the tokens, and the entry's name."""
    sent = {f"Bearer {token}" for token in tokens}
    return [
        (client, name)
        for client in CLIENTS.values()
        for name in _names(client, client.file(places), sent)
    ]


def _names(client: Client, path: Path | None, sent: Collection[str]) -> list[str]:
    if path is None:
        return []
    try:
        found = entries(UserFile(path).read(), client)
    except (CannotChange, CommandError):
        return []  # what we cannot read we did not write
    headers = {name: endpoint_of(entry).headers for name, entry in found.items()}
    return [name for name, each in headers.items() if each.get("Authorization") in sent]
