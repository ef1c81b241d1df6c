"""The calls of a running program without a transport: what tests of engines drive."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from sightline.calls.calls import Caller
from sightline.contract.failures import Failure, NotReady
from sightline.contract.settings import Family, Settings
from sightline.lsp.registry import Registry, builtin
from sightline.protocol.revisions import NEWEST
from sightline.protocol.surface import ClientOptions
from sightline.server.compose import Program
from sightline.server.headless import Headless
from sightline.server.logs import Log
from sightline.workspace.roots import open_root
from tests.support.fake_server import logged

__all__ = ["Engine", "engine", "fake_registry"]

#: Where ``make test`` installs the language servers the tests use.
INSTALLED = Path(__file__).parent.parent.parent / ".cache/share/sightline/servers"
_FAKE = Path(__file__).with_name("fake_server.py")


@dataclass
class Engine:
    program: Program
    root: Path
    options: ClientOptions = field(default_factory=ClientOptions)

    def uri(self, name: str) -> str:
        return (self.root / name).as_uri()

    async def ready(self, name: str) -> None:
        """Waits until the server of a file may be asked."""
        await self.program.workspace.begin()
        async with asyncio.timeout(60):
            while True:
                try:
                    await self.program.pool.ready(str(self.root / name))
                except NotReady:  # it ended just now and starts again
                    await asyncio.sleep(0)
                else:
                    return

    async def once(self, tool: str, **arguments: Any) -> Any:
        """One call: its structured content, or the failure it ended in, raised."""
        caller = Caller(self.options, NEWEST)
        finished = await self.program.calls.run(tool, arguments, caller, arrived=time.monotonic())
        if finished.failure is not None:
            raise finished.failure
        assert isinstance(finished.outcome, msgspec.Raw)
        return json.loads(bytes(finished.outcome))["structuredContent"]

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Like ``once``, but waits while the failure is retryable."""
        async with asyncio.timeout(60):
            while True:
                try:
                    return await self.once(tool, **arguments)
                except Failure as failure:
                    if not failure.retryable:
                        raise
                    await asyncio.sleep(0)


@asynccontextmanager
async def engine(
    root: Path,
    *more: Path,
    cache: Path,
    registry: Registry | None = None,
    settings: Settings | None = None,
    environment: dict[str, str] | None = None,
    servers: Path | None = None,
    trusted: Callable[[str], bool] = lambda root: False,
    families: tuple[Family, ...] = ("lsp",),
    decisive: tuple[str, ...] = (),
) -> AsyncIterator[Engine]:
    """A program on one root, or on several."""
    environment = environment or {"PATH": "/usr/bin:/bin"}
    engines = Headless.build(
        msgspec.structs.replace(settings or Settings(), families=families),
        [open_root(str(each), home=None) for each in (root, *more)],
        registry=registry or builtin(),
        environment=environment,
        cache=cache,
        servers=servers or INSTALLED,
        trusted=trusted,
        decisive=decisive,
    )
    program = Program.of(
        *engines, engines.workspace, environment=environment, cache=cache, log=Log()
    )
    try:
        yield Engine(program, root)
    finally:
        await program.close()


def fake_registry(
    folder: Path, script: dict[str, Any], *others: str, name: str = "fake", **overrides: Any
) -> Registry:
    """A registry whose only Python server is the scripted one; ``others`` are real servers."""
    import sys

    folder.mkdir(exist_ok=True)
    file = folder / "script.json"
    file.write_text(json.dumps(script))
    known = builtin()
    command = (sys.executable, str(_FAKE), str(file))
    plain = {"declarations": "server", "unknown_members": "", "doubts_nothing": False}
    given = {"python_environment": "", "folder": "root", "restart_on": ()} | plain | overrides
    fake = msgspec.structs.replace(known.servers["ty"], command=command, found="path", **given)
    servers = {name: fake} | {other: known.servers[other] for other in others}
    return Registry(known.languages, servers, known.packages)


def received(folder: Path) -> list[dict[str, Any]]:
    """What the scripted server was told so far."""
    return logged(folder)


Check = Callable[[], bool]
