"""The revisions of MCP this program speaks, and what each of them has.

A later, stateless era (revision 2026-07-28: no handshake, no sessions) is not spoken yet; its
opening question, ``server/discover``, is answered with "method not found", which its clients take
as the sign to fall back to ``initialize``.
"""

from typing import NamedTuple

__all__ = ["HTTP_REVISIONS", "NEWEST", "STDIO_REVISIONS", "Revision", "negotiate"]


class Revision(NamedTuple):
    name: str
    annotations: bool
    structured: bool

    def __str__(self) -> str:
        return self.name


_ALL = (
    Revision("2024-11-05", annotations=False, structured=False),
    Revision("2025-03-26", annotations=True, structured=False),
    Revision("2025-06-18", annotations=True, structured=True),
    Revision("2025-11-25", annotations=True, structured=True),
)
NEWEST = _ALL[-1]
STDIO_REVISIONS = _ALL
HTTP_REVISIONS = (NEWEST,)


def negotiate(offered: str, spoken: tuple[Revision, ...]) -> Revision:
    """The offered revision if it is spoken, else the newest: a counter-offer, never a refusal."""
    return next((revision for revision in spoken if revision.name == offered), spoken[-1])
