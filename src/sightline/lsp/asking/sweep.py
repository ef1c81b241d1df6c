"""Workspace diagnostics by asking about every document, all of them or none.

A few documents are asked about at a time. A document that cannot be read as text has nothing to
say; any other failure ends the sweep, because a part of the answer is no answer.
"""

from collections.abc import Callable, Sequence

from sightline.contract.source import RawDiagnostic, SourceFile
from sightline.lsp.asking import questions
from sightline.lsp.server.server import Server
from sightline.lsp.together import together

__all__ = ["Counter", "sweep"]


class Counter:
    """How many documents of how many servers are done, told to one listener."""

    def __init__(self, tell: Callable[[int, int], None]) -> None:
        self._tell = tell
        self._done = 0
        self._total = 0

    def expect(self, documents: int) -> None:
        self._total += documents
        self._tell(self._done, self._total)

    def one_done(self) -> None:
        self._done += 1
        self._tell(self._done, self._total)


async def sweep(
    server: Server,
    paths: Sequence[str],
    read: Callable[[str], tuple[SourceFile, str] | None],
    counter: Counter,
) -> dict[str, Sequence[RawDiagnostic]]:
    """The diagnostics of every one of these documents."""
    counter.expect(len(paths))
    found: dict[str, Sequence[RawDiagnostic]] = {}
    waiting = iter(paths)
    opened = not server.spec.sweeps_unopened

    async def work() -> None:
        for path in waiting:
            document = read(path)
            if document is not None:
                file, language = document
                found[file.uri] = await questions.document_diagnostics(
                    server, file, language, opened=opened
                )
            counter.one_done()

    await together(*(work() for _ in range(server.spec.sweeps_at_once)))
    return found
