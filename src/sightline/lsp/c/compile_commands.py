"""Reading the ``compile_commands.json`` files of a project within bounds.

Those of large projects have tens of megabytes, and a value of JSON may take twenty times its text
in memory. So entries are read into a type of their own, which other JSON fails at once, and a file
with more in it than any build writes is not read; which ones that were is told. So is which are no
JSON, as a merge leaves them, and how many entries make no sense: those alone are left out.
"""

import os

import msgspec

from sightline.lsp.files.reading import read_text

__all__ = ["Command", "CommandFiles"]

#: All files of a project together.
_MAX_BYTES = 64 << 20
#: In one file. Each entry has a brace, each text two quotes.
_MAX_ENTRIES = 400_000
_MAX_TEXTS = 4_000_000


class Command(msgspec.Struct):
    """How one file is compiled."""

    file: str
    directory: str = ""
    arguments: list[str] | None = None
    command: str | None = None


class CommandFiles:
    def __init__(self) -> None:
        self._left = _MAX_BYTES
        #: Those that are too large, and those that are no list of entries.
        self.unread: list[str] = []
        self.broken: list[str] = []
        #: How many entries of the others make no sense.
        self.senseless = 0

    def read(self, path: str) -> list[Command]:
        """The entries of a file that make sense; none if it cannot be read."""
        try:
            size = os.stat(path).st_size
        except OSError:  # also where a link leads nowhere yet
            self.broken.append(path)
            return []
        if size > self._left:
            self.unread.append(path)
            return []
        self._left -= size
        data = (read_text(path, size) or "").encode("utf-8", "replace")
        if data.count(b"{") > _MAX_ENTRIES or data.count(b'"') > 2 * _MAX_TEXTS:
            self.unread.append(path)
            return []
        try:
            return msgspec.json.decode(data, type=list[Command])
        except msgspec.ValidationError:  # mostly there is none that is wrong
            return self._one_by_one(path, data)
        except (msgspec.DecodeError, RecursionError):
            self.broken.append(path)
            return []

    def _one_by_one(self, path: str, data: bytes) -> list[Command]:
        if data.count(b",") > _MAX_TEXTS:
            self.unread.append(path)
            return []
        try:
            items = msgspec.json.decode(data, type=list[msgspec.Raw])
        except (msgspec.DecodeError, RecursionError):
            self.broken.append(path)
            return []
        commands: list[Command] = []
        for item in items:
            try:
                commands.append(msgspec.json.decode(item, type=Command))
            except (msgspec.DecodeError, RecursionError):
                self.senseless += 1
        return commands
