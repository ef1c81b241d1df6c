"""The head start: servers that start, and may be asked, while the workspace is still being scanned.

Only servers that need nothing of the tree have one. What they are asked early is what somebody
already waits for, so no work is done twice. If anything changed between the start and the watch,
what they read and answered counts no longer.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence

from sightline.contract.failures import Failure
from sightline.contract.source import Expected
from sightline.contract.values import Location
from sightline.lsp.asking import questions
from sightline.lsp.routing.routes import Route, Routes
from sightline.lsp.server.server import Server
from sightline.workspace.changes import Change
from sightline.workspace.workspace import Workspace

__all__ = ["HeadStart"]

_MAX_QUESTIONS = 8

_Key = tuple[Server, Expected]


class HeadStart:
    def __init__(
        self, workspace: Workspace, routes: Routes, server: Callable[[Route], Server]
    ) -> None:
        self._workspace = workspace
        self._routes = routes
        self._server = server
        self._begun = False
        #: Who answers for a language in a root until the tree is known.
        self._servers: dict[tuple[str, str], Server] = {}
        self._asked: dict[_Key, asyncio.Task[Sequence[Location]]] = {}
        workspace.listen(self._changed)

    def begin(self) -> None:
        """Starts what can be started before the first scan, once."""
        if self._begun or self._workspace.tree_state() is not None:
            return
        self._begun = True
        self._workspace.head_start(self._overtaken)
        for language, route in self._routes.ahead():
            server = self._servers[language, route.project.folder] = self._server(route)
            server.start()

    def expect(self, question: Expected) -> None:
        """Asks now what will be asked as soon as there is a view."""
        path = question.file.path
        root = self._workspace.roots.containing(path)
        language = self._routes.language(path)
        if root is None or language is None or len(self._asked) >= _MAX_QUESTIONS:
            return
        server = self._servers.get((language, root.real))
        if server is not None and (server, question) not in self._asked:
            task = asyncio.create_task(self._ask(server, question), name="asked ahead")
            # Whoever waits for the answer is told; nobody may be left who does.
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
            self._asked[server, question] = task

    def expects(self, server: Server) -> bool:
        """Whether somebody waits for an answer of this server."""
        return any(asked is server for asked, _ in self._asked)

    async def references(self, server: Server, question: Expected) -> Sequence[Location]:
        """The answer of a server: the one that was asked for ahead, or a new one."""
        early = self._asked.pop((server, question), None) if self._asked else None
        if early is not None and not early.cancelled() and not await self._is_late(server):
            with contextlib.suppress(Failure):
                return await asyncio.shield(early)
        return await self._ask(server, question)

    async def _is_late(self, server: Server) -> bool:
        """Whether the server was shown scripts since: an answer from before has no uses in them."""
        with contextlib.suppress(Failure):
            await server.ready()
        return bool(server.scripts)

    def close(self) -> None:
        self._forget()

    async def _ask(self, server: Server, question: Expected) -> Sequence[Location]:
        file, position, include = question
        language = self._routes.language_id(file.path)
        return await questions.references(
            server, file, language, position, include_declaration=include
        )

    def _overtaken(self) -> None:
        """Something changed between a server's start and the watch: it reads everything again."""
        self._forget()
        for server in self._servers.values():
            server.start_over()

    def _changed(self, changes: Sequence[Change]) -> None:
        self._forget()

    def _forget(self) -> None:
        for task in self._asked.values():
            task.cancel()
        self._asked.clear()
