"""Calls that run on behalf of a session: started, cancelled, reported, answered.

Both transports use this to carry out the effects of the protocol. A call is one task; its progress
is throttled to four messages a second and stops with it.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sightline.calls.calls import Caller, Calls
from sightline.contract.limits import PROGRESS_BYTES_PER_CALL, PROGRESS_INTERVAL_MS
from sightline.protocol.jsonrpc import id_key
from sightline.protocol.session import Call, Session

__all__ = ["Runner"]

Deliver = Callable[[bytes], None]


class Runner:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: dict[Call, asyncio.Task[bytes | None]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def now(self, session: Session, call: Call, *, arrived: float) -> bytes | None:
        """The terminal answer of a call that was just made in the same words, else ``None``."""
        caller = Caller(call.options, call.revision)
        finished = self._calls.now(call.tool, call.arguments, caller, arrived=arrived)
        return None if finished is None else session.finish(call, finished.outcome)

    def start(
        self,
        session: Session,
        call: Call,
        *,
        arrived: float,
        progress: Deliver,
        answer: Deliver | None = None,
    ) -> asyncio.Task[bytes | None]:
        """Runs a call. The task's result is its one terminal answer, or ``None`` for none.

        ``answer`` is told of it without waiting for the end of the task.
        """

        async def run() -> bytes | None:
            try:
                body = await self._run(session, call, arrived, progress)
            finally:
                self._tasks.pop(call, None)
            if answer is not None and body is not None:
                answer(body)
            return body

        task = asyncio.create_task(run(), name=call.tool)
        self._tasks[call] = task
        return task

    async def run(self, session: Session, call: Call, *, arrived: float) -> bytes | None:
        """Runs a call without progress in the task that waits for it, which costs no second one."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks[call] = task
        try:
            return await self._run(session, call, arrived, None)
        finally:
            del self._tasks[call]
            if task.cancelling():
                task.uncancel()  # the call was cancelled; the task still has to tell

    def cancel(self, call: Call) -> None:
        """Stops the work. The call still ends in exactly one outcome.

        A task that is cancelled before its first step never runs, and so never answers. Its first
        step is already scheduled, so the cancel is put behind it.
        """
        task = self._tasks.get(call)
        if task is not None:
            asyncio.get_running_loop().call_soon(task.cancel)

    async def drain(self, seconds: float) -> None:
        """Waits for running calls, then cancels what is left and waits for their outcomes."""
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=seconds)
        for task in list(self._tasks.values()):
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        self._tasks.clear()  # one that was cancelled before its first step took nothing away

    async def _run(
        self, session: Session, call: Call, arrived: float, deliver: Deliver | None
    ) -> bytes | None:
        caller = Caller(call.options, call.revision)
        if call.cancelled:  # before there was a task to cancel
            return session.finish(call, self._calls.cancelled(call.tool, caller).outcome)
        reporter: Reporter | None = None
        if deliver is not None and call.progress_token is not None:
            reporter = Reporter(session, call, deliver)
            caller = caller._replace(progress=reporter.report)
        try:
            finished = await self._calls.run(call.tool, call.arguments, caller, arrived=arrived)
        except asyncio.CancelledError:
            finished = self._calls.cancelled(call.tool, caller)
        finally:
            if reporter is not None:
                reporter.stop()
        return session.finish(call, finished.outcome)


class Reporter:
    """Progress of one call: the first message at once, then the latest every quarter second."""

    def __init__(self, session: Session, call: Call, deliver: Deliver) -> None:
        self._session = session
        self._call = call
        self._deliver = deliver
        self._timer: asyncio.TimerHandle | None = None
        self._latest: dict[str, Any] | None = None
        self._progress = 0.0
        self._room = PROGRESS_BYTES_PER_CALL
        self._loop = asyncio.get_running_loop()

    def report(
        self, message: str, *, phase: str, done: int | None = None, total: int | None = None
    ) -> None:
        """May be called from any thread."""
        params: dict[str, Any] = {
            "progress": done,
            "total": total,
            "message": message,
            "phase": phase,
        }
        self._loop.call_soon_threadsafe(self._take, params)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._latest = None
        self._room = 0

    def _take(self, params: dict[str, Any]) -> None:
        self._latest = params
        if self._timer is None:
            self._flush()

    def _flush(self) -> None:
        self._timer = None
        if self._latest is None or self._room <= 0:
            return
        params, self._latest = self._latest, None
        body = self._session.progress(self._call, self._members(params))
        if body is not None and len(body) <= self._room:
            self._room -= len(body)
            self._deliver(body)
        self._timer = self._loop.call_later(PROGRESS_INTERVAL_MS / 1000, self._flush)

    def _members(self, params: dict[str, Any]) -> dict[str, Any]:
        """MCP's members, and the stability contract's beside them. ``progress`` always rises."""
        done = params["progress"]
        rising = done if done is not None and done > self._progress else self._progress + 0.001
        self._progress = round(rising, 3)
        members: dict[str, Any] = {"progress": self._progress}
        if params["total"] is not None:
            members["total"] = params["total"]
        stamp = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return members | {
            "message": params["message"],
            "id": id_key(self._call.id),
            "tool": self._call.tool,
            "stream": "info",
            "phase": params["phase"],
            "ts": stamp,
        }
