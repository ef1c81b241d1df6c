"""Every client in a row: its file, and whether Sightline is in it. For a person who just came."""

import os
from pathlib import Path

from sightline.cli.clients.client import Client, Places, endpoint_of
from sightline.cli.clients.files import UserFile
from sightline.cli.clients.stanza import CannotChange, entries
from sightline.cli.clients.table import CLIENTS
from sightline.cli.exits import CommandError

__all__ = ["overview"]


def overview(places: Places) -> str:
    """A table without its rule, and the next step."""
    rows = [("CLIENT", "file of your user", "sightline in it")]
    rows += [_row(client, places) for client in CLIENTS.values()]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"{key:<{widths[0]}}  {file:<{widths[1]}}  {state}" for key, file, state in rows]
    return "\n".join([*lines, "", "connect one:  sightline config CLIENT --write --check"])


def _row(client: Client, places: Places) -> tuple[str, str, str]:
    path = client.file(places)
    if path is None:
        return client.key, "named by --file", "shown, to be pasted"
    home = f"{places.home}{os.sep}"
    shown = str(path)
    shown = "~/" + shown.removeprefix(home) if shown.startswith(home) else shown
    return client.key, shown, _state(client, path)


def _state(client: Client, path: Path) -> str:
    try:
        found = entries(UserFile(path).read(), client)
    except (CannotChange, CommandError):
        return "the file cannot be read"
    here = [endpoint_of(entry) for name, entry in found.items() if name == "sightline"]
    return f"yes, over {here[0].transport}" if here else "no"
