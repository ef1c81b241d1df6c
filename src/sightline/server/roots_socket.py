"""Roots that come and go while a program runs, told over a local socket by its own user.

One line of JSON is read, ``{"add": [...], "remove": [...]}``, and one is answered: the roots from
now on, or why nothing was changed. Clients cannot reach it: what they may read is not theirs to
decide.
"""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from sightline.contract.failures import Failure
from sightline.contract.uris import normalise
from sightline.server.private_socket import PrivateSocket, short
from sightline.workspace.roots import BadRoot, Root
from sightline.workspace.workspace import Workspace

__all__ = ["RootsRequest", "RootsSocket", "change_roots"]

_READ_S = 5.0
#: A new root is scanned before the answer.
_SCAN_S = 300.0


class RootsRequest(msgspec.Struct, forbid_unknown_fields=True):
    add: list[str] = []
    remove: list[str] = []


def _path(folder: Path, pid: int) -> Path:
    return folder / f"{pid}.roots"


class RootsSocket(PrivateSocket):
    def __init__(
        self,
        folder: Path,
        workspace: Workspace,
        opened: Callable[[str], Root],
        changed: Callable[[], None],
    ) -> None:
        """``opened`` makes a root of a path or raises ``BadRoot``; ``changed`` comes after."""
        super().__init__(_path(folder, os.getpid()), self._reply)
        self._workspace = workspace
        self._opened = opened
        self._changed = changed
        self._turn = asyncio.Lock()

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_READ_S):
                line = await reader.readline()
            request = msgspec.json.decode(line, type=RootsRequest)
            async with self._turn:
                await self._workspace.set_roots(self._changed_roots(request))
                self._changed()
            now = [root.given for root in self._workspace.roots.roots]
            answer: dict[str, Any] = {"roots": now}
        except (BadRoot, Failure) as problem:
            answer = {"error": str(problem)}
        except (TimeoutError, ValueError):
            answer = {"error": "this is not a request about roots"}
        writer.write(json.dumps(answer).encode() + b"\n")

    def _changed_roots(self, request: RootsRequest) -> list[Root]:
        roots = {root.real: root for root in self._workspace.roots.roots}
        for path in request.remove:
            # Where one is listed there may be a link by now, and what it leads to is another one.
            listed = [real for real, root in roots.items() if root.given == normalise(path)]
            for real in listed or [os.path.realpath(path)]:
                if roots.pop(real, None) is None:
                    raise BadRoot(f"{path} is not a root; sightline roots lists them")
        for path in request.add:
            root = self._opened(path)
            roots.setdefault(root.real, root)
        if not roots:
            raise BadRoot("the last root stays; stop the server instead")
        return list(roots.values())


async def change_roots(folder: Path, pid: int, request: RootsRequest) -> list[str]:
    """The roots of a running program after a change. ``BadRoot`` says why there was none."""
    try:
        with short(_path(folder, pid)) as path:
            reader, writer = await asyncio.open_unix_connection(path)
        writer.write(msgspec.json.encode(request) + b"\n")
        async with asyncio.timeout(_SCAN_S):
            answer = json.loads(await reader.readline())
        writer.close()
    except (OSError, ValueError):
        raise BadRoot("the server has roots that cannot be changed from here") from None
    except TimeoutError:
        raise BadRoot("the new root takes long to scan; sightline status shows it") from None
    if "error" in answer:
        raise BadRoot(answer["error"])
    return list(answer["roots"])
