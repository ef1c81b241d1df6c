"""The files that a compiler's server was shown though the project compiles them only with others.

While a file is open, and after it was closed, what the server makes of it by itself counts instead
of what its index has of it. A header that needs what stands before its include loses uses that way,
and a source that nobody compiles turns up in answers. One that a source surely includes, that has
no errors by itself, loses no type and has no condition that the project decides elsewhere, is the
same either way.
"""

from sightline.contract.uris import uri_of
from sightline.lsp.c.by_itself import has_errors, loses_types
from sightline.lsp.c.compile_database import Database
from sightline.lsp.server.documents import Documents
from sightline.lsp.server.published import Overtaken, Published
from sightline.lsp.wire.client import Illegible
from sightline.lsp.wire.messages import LspDiagnostic

__all__ = ["Uncompiled"]


class Uncompiled:
    def __init__(self) -> None:
        #: The version in which each was shown.
        self._shown: dict[str, int] = {}
        #: Whether files of the project changed since the server started. Shown one of them, it
        #: tells of what others defined before.
        self.touched = False

    def __contains__(self, path: object) -> bool:
        return path in self._shown

    def __len__(self) -> int:
        return len(self._shown)

    def add(self, path: str, version: int) -> None:
        self._shown[path] = version

    def clear(self) -> None:
        self._shown.clear()
        self.touched = False

    async def matter(
        self, path: str | None, database: Database, documents: Documents, published: Published
    ) -> bool:
        """Whether one of them may change the answer to a question about a file."""
        for each, version in list(self._shown.items()):
            if each == path:
                continue
            uri = uri_of(each)
            if self.touched or each not in database.plain or uri not in documents:
                return True
            try:
                said = await published.of(uri, version)
            except (Overtaken, Illegible):
                return True
            if not _is_alike(said):
                return True
        return False


def _is_alike(said: list[LspDiagnostic]) -> bool:
    """Whether a file says the same by itself, by what the server says of it."""
    return not has_errors(said) and not loses_types(said)
