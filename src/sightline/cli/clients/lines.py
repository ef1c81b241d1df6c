"""Ways to a server: started over stdio as a client does it, or reached on this machine.

Only loopback addresses are spoken to, over a plain socket.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

import msgspec

from sightline.cli.exits import CommandError, Exit
from sightline.process.child import Child, StartFailed, spawn

__all__ = ["HttpLine", "Line", "StdioLine"]

_MAX_BYTES = 8 << 20
_HEADER = re.compile(r"[!-9;-~]+: [\t -~\xa0-\xff]*")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class Line(Protocol):
    """A way to a server: one request, one answer. ``ValueError``: what came is no message."""

    async def say(self, message: dict[str, Any]) -> dict[str, Any] | None: ...

    async def close(self) -> None: ...


class StdioLine:
    """A server started the way the client starts it."""

    def __init__(self, child: Child) -> None:
        self._child = child

    @classmethod
    async def open(cls, command: tuple[str, ...], env: Mapping[str, str], cwd: str) -> "StdioLine":
        try:
            return cls(await spawn(command, cwd=cwd, env=env, limit=_MAX_BYTES))
        except StartFailed as failed:
            raise CommandError(
                f"{command[0]} cannot be started ({failed}); write the entry anew with --write",
                Exit.MISSING,
            ) from None

    async def say(self, message: dict[str, Any]) -> dict[str, Any] | None:
        self._child.stdin.write(json.dumps(message).encode() + b"\n")
        if "id" not in message:
            return None
        while line := await self._child.stdout.readline():
            answer = _message(line)
            if answer.get("id") == message["id"]:
                return answer
        await self._child.wait()
        said = self._child.stderr_tail().strip().splitlines()
        why = said[-1].removeprefix("sightline: ") if said else "it said nothing"
        raise CommandError(f"the server ended at once: {why}")

    async def close(self) -> None:
        await self._child.end()


class HttpLine:
    """A running server, spoken to over a plain socket to this machine."""

    def __init__(
        self, url: str, headers: Mapping[str, str], again: str, *, sends_revision: bool = True
    ) -> None:
        """``again`` is the command that writes the entry anew."""
        self._again = again
        self._sends_revision = sends_revision
        try:
            parts = urlsplit(url)
            port = parts.port or 80
            url.encode("ascii")
        except ValueError:  # half a bracket, a port that is none, or what must be spelled with %
            raise CommandError(f"the address {url} is not one; write it anew: {again}") from None
        if parts.scheme != "http" or parts.hostname not in _LOOPBACK:
            raise CommandError(f"{url} is not on this machine; sightline serve is http://127.0.0.1")
        self._url, self._host, self._port = url, parts.hostname, port
        self._path = parts.path or "/"
        for name, text in headers.items():
            if not _HEADER.fullmatch(f"{name}: {text}"):
                raise CommandError(f"the header {name} has what none may have; correct the entry")
        self._headers = dict(headers)

    async def say(self, message: dict[str, Any]) -> dict[str, Any] | None:
        status, headers, body = await self._post(json.dumps(message).encode())
        if status == 401:
            raise CommandError(
                "the server does not accept the token in the entry (was it rotated?); write it "
                f"anew: {self._again}"
            )
        if status == 400 and not self._sends_revision:
            raise CommandError(
                "the server wants to hear the revision with every request, which this client does "
                "not do; run sightline serve with the same settings file: --write put it in there"
            )
        if status not in (200, 202):
            raise CommandError(f"{self._url} answered with status {status}; is it sightline serve?")
        if session := headers.get("mcp-session-id"):
            self._headers["mcp-session-id"] = session
        if status == 202 or not body:
            return None
        answer = _message(body)
        result = answer.get("result")
        revision = result.get("protocolVersion") if isinstance(result, dict) else None
        if isinstance(revision, str) and self._sends_revision:
            self._headers["mcp-protocol-version"] = revision
        return answer

    async def _post(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        sent = {
            "host": f"{self._host}:{self._port}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "content-length": str(len(body)),
            "connection": "close",
        } | {name.lower(): text for name, text in self._headers.items()}
        head = [f"POST {self._path} HTTP/1.1", *(f"{name}: {text}" for name, text in sent.items())]
        data = "\r\n".join([*head, "", ""]).encode("latin-1") + body
        try:
            reader, writer = await asyncio.open_connection(self._host, self._port)
        except OSError:
            raise CommandError(
                f"nothing listens at {self._url}; start it: sightline serve --port {self._port}",
                Exit.NOT_FOUND,
            ) from None
        try:
            writer.write(data)
            answer = await reader.read(_MAX_BYTES)
            while not reader.at_eof() and len(answer) < _MAX_BYTES:
                answer += await reader.read(_MAX_BYTES)
        except OSError:  # it hung up
            answer = b""
        finally:
            writer.close()
        first, _, rest = answer.partition(b"\r\n")
        lines, _, content = rest.partition(b"\r\n\r\n")
        pairs = [line.partition(":") for line in lines.decode("latin-1").split("\r\n")]
        words = first.split(b" ")
        if len(words) < 2 or not (words[1].isdigit() and len(words[1]) == 3):
            raise CommandError(f"what listens at {self._url} is not sightline serve; use its port")
        return int(words[1]), {name.lower(): text.strip() for name, _, text in pairs}, content

    async def close(self) -> None:
        """Nothing is kept open."""


def _message(data: bytes) -> dict[str, Any]:
    return msgspec.convert(json.loads(data), dict[str, Any])
