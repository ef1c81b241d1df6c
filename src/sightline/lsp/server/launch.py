"""How to start one server: everything about it that is not in the registry.

Whoever owns the servers makes one for each; a server knows the workspace, the other servers and its
program by this alone.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from sightline.contract.source import SourceFile
from sightline.lsp.project.projects import Project
from sightline.lsp.registry import ServerSpec
from sightline.lsp.server.settling import Read
from sightline.lsp.start.launcher import Start
from sightline.process.child import Child
from sightline.workspace.beside import Stamps
from sightline.workspace.tree import Tree

if TYPE_CHECKING:
    from sightline.lsp.server.server import Server

__all__ = ["Exhausted", "Launch", "Trees"]

#: What is observed, each tree with its top.
Trees = Sequence[tuple[str, Tree]]


class Exhausted(NamedTuple):
    """Why a server was ended that took more memory than it may."""

    reason: str
    #: The next step, and the file that is probably the cause, if there is one.
    step: str
    file: str = ""


class Launch(Struct, frozen=True):
    name: str
    spec: ServerSpec
    folder: str
    #: The version that Sightline installed; nothing where the program is the user's own.
    version: str
    #: The project as it is now; its files come and go.
    project: Callable[[], Project]
    #: Everything that is observed, by its top: this root, the others, and what is around them.
    trees: Callable[[], Trees]
    #: What a start needs now, or ``None`` if the server is not installed any more. It is told
    #: whether the last run has read the parts that had to be read first.
    prepare: Callable[[bool], Awaitable[Start | None]]
    #: Told that ``spawn`` is to come, which is quicker then.
    ahead: Callable[[], None]
    spawn: Callable[[Start], Awaitable[Child]]
    read: Read
    #: Whether a file that was read before is as it is on disk now.
    is_current: Callable[[SourceFile], bool]
    #: Waits until one more server may run.
    admit: Callable[["Server"], Awaitable[None]]
    #: Called when a server that had answered is gone: older answers may no longer hold.
    ended: Callable[[], None]
    #: Told of what lies outside of the workspace and decides what the server knows.
    relies_on: Callable[[Stamps], None]
    #: What to say of one that took more memory than it may.
    exhausted: Callable[[], Exhausted]
