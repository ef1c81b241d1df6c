"""What each client gets from a running ``serve``: the tables ``[clients."NAME"]``, as they are now.

``sightline config`` writes them beside a server that runs. They are read again whenever the file
changes, for sessions that begin later; everything else in the file waits for the next start. A file
that cannot be read changes nothing. Where it is a link, it is the file behind it that changes.
"""

import os
from collections.abc import Callable

from msgspec import structs

from sightline.cli.configuration import Configuration
from sightline.cli.exits import CommandError
from sightline.cli.folders import Folders
from sightline.contract.settings import Settings
from sightline.protocol.surface import ClientOptions
from sightline.server.compose import options_of
from sightline.workspace.tree import stamp_of

__all__ = ["ClientTables"]


class ClientTables:
    def __init__(
        self, folders: Folders, settings: Settings, read: Callable[[], Configuration]
    ) -> None:
        self._path = str(folders.settings)
        self._read = read
        self._settings = settings
        self._seen: object = None

    def settings(self) -> Settings:
        """The settings of the start, with the tables of now."""
        seen = stamp_of(self._path), stamp_of(os.path.realpath(self._path))
        if seen != self._seen:
            self._seen = seen
            try:
                clients = self._read().settings.clients
            except CommandError:
                return self._settings
            self._settings = structs.replace(self._settings, clients=clients)
        return self._settings

    def options_for(self, client: str) -> ClientOptions:
        return options_of(self.settings(), client)
