"""The documents a server has open, kept equal to what calls have read from disk.

A document is opened with the text of the call that needs it. When its file changes it is closed
again, so that the server's memory never hides the disk. The least recently used are closed first.
"""

from collections import OrderedDict

from sightline.contract.source import SourceFile
from sightline.lsp.client import Client

__all__ = ["Documents"]

MAX_OPEN = 64


class Documents:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._open: OrderedDict[str, tuple[int, str]] = OrderedDict()
        self._versions = 0

    def __contains__(self, uri: str) -> bool:
        return uri in self._open

    def show(self, file: SourceFile, language: str) -> int:
        """Makes the server see ``file`` with exactly this text; its version."""
        known = self._open.get(file.uri)
        if known is not None:
            self._open.move_to_end(file.uri)
            version, text = known
            if text == file.text:
                return version
        self._versions += 1
        self._open[file.uri] = (self._versions, file.text)
        if known is None:
            document = {
                "uri": file.uri,
                "languageId": language,
                "version": self._versions,
                "text": file.text,
            }
            self._client.notify("textDocument/didOpen", {"textDocument": document})
            if len(self._open) > MAX_OPEN:
                self._close(next(iter(self._open)))
        else:
            self._client.notify(
                "textDocument/didChange",
                {
                    "textDocument": {"uri": file.uri, "version": self._versions},
                    "contentChanges": [{"text": file.text}],
                },
            )
        return self._versions

    def forget(self, uri: str) -> None:
        """Closes a document whose file has changed."""
        if uri in self._open:
            self._close(uri)

    def reveal(self, file: SourceFile, language: str) -> None:
        """Makes the server read a file again whose stamp does not show that it changed.

        Some servers compare the modification time and think they know the file already. Opening
        and closing it tells them otherwise.
        """
        self.show(file, language)
        self._close(file.uri)

    def _close(self, uri: str) -> None:
        del self._open[uri]
        self._client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
