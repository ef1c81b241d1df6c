"""The rules of the HTTP transport that need no connection: headers in, a status out.

The order of the checks is part of the contract (docs/PROTOCOL.md): path, method, Host, Origin,
token, media types, size. Every refusal has an empty body.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.server.tokens import Tokens, bearer

__all__ = ["CLOSE", "Door", "Heads", "Refusal", "read_heads"]

#: What a refusal adds when the connection cannot be used any more.
CLOSE = (b"connection", b"close")

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_LOOKED_AT = frozenset(
    b"""
    host origin authorization content-type accept content-length mcp-protocol-version mcp-session-id
    """.split()
)
_NEEDED = ("application/json", "text/event-stream")


class Refusal(Exception):
    """A request that is answered with a status and no body."""

    def __init__(self, status: int, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(status)
        self.status = status
        self.headers = list(headers)


class Heads(NamedTuple):
    """The headers that are looked at. A repeated list header is joined, as HTTP says."""

    host: str | None
    origin: str
    authorization: str
    content_type: str
    accept: str
    content_length: str
    protocol_version: str | None
    session: str | None


def read_heads(headers: Iterable[tuple[bytes, bytes]]) -> Heads:
    found: dict[bytes, str] = {}
    for name, raw in headers:
        if name not in _LOOKED_AT:
            continue
        value = raw.decode("latin-1")
        if name not in found:
            found[name] = value
        elif name == b"host":
            raise Refusal(400)
        elif name != b"authorization":
            found[name] += "," + value
    return Heads(
        host=found.get(b"host"),
        origin=found.get(b"origin", ""),
        authorization=found.get(b"authorization", ""),
        content_type=found.get(b"content-type", ""),
        accept=found.get(b"accept", ""),
        content_length=found.get(b"content-length", ""),
        protocol_version=found.get(b"mcp-protocol-version"),
        session=found.get(b"mcp-session-id"),
    )


class Door:
    """Who may come in, and how they must knock."""

    def __init__(
        self, path: str, allowed_hosts: frozenset[str], allowed_origins: frozenset[str]
    ) -> None:
        self._path = path.encode()
        self._hosts = allowed_hosts
        self._names = allowed_hosts | _LOOPBACK
        self._origins = allowed_origins

    def check(self, target: bytes, method: str, heads: Heads, tokens: Tokens) -> None:
        """Raises the first refusal that applies."""
        if target.partition(b"?")[0] != self._path:
            raise Refusal(404)
        if method != "POST":
            raise Refusal(405, (b"allow", b"POST"))
        if not self._host_allowed(heads.host):
            raise Refusal(403)
        if heads.origin and heads.origin not in self._origins:
            raise Refusal(403)
        if not tokens.accepts(bearer(heads.authorization)):
            raise Refusal(401, (b"www-authenticate", b"Bearer"))
        if not _is_json(heads.content_type):
            raise Refusal(415)
        if not _accepts_both(heads.accept):
            raise Refusal(406)
        if _is_number(heads.content_length) and int(heads.content_length) > MAX_REQUEST_BYTES:
            raise Refusal(413, CLOSE)

    def _host_allowed(self, host: str | None) -> bool:
        if host is None:
            return False
        host = host.lower()
        name, port = _split_port(host)
        return host in self._hosts or (port and name in self._names)


@lru_cache(maxsize=64)
def _split_port(host: str) -> tuple[str, bool]:
    """The name, and whether what follows it is a port or nothing."""
    if host.startswith("["):
        name, bracket, rest = host.partition("]")
        return name + bracket, rest == "" or (rest[0] == ":" and _is_number(rest[1:]))
    name, colon, port = host.partition(":")
    return name, not colon or _is_number(port)


def _is_number(text: str) -> bool:
    """Digits of ASCII only: headers are read as Latin-1, which has others."""
    return text.isascii() and text.isdigit()


@lru_cache(maxsize=64)
def _is_json(content_type: str) -> bool:
    media, *parameters = (part.strip().lower() for part in content_type.split(";"))
    charsets = [p.partition("=")[2].strip('" ') for p in parameters if p.startswith("charset")]
    return media == "application/json" and all(charset == "utf-8" for charset in charsets)


@lru_cache(maxsize=64)
def _accepts_both(accept: str) -> bool:
    named = set()
    for entry in accept.split(","):
        media, *parameters = (part.strip().lower() for part in entry.split(";"))
        if not any(p.startswith("q=") and _is_zero(p[2:]) for p in parameters):
            named.add(media)
    return all(media in named for media in _NEEDED)


def _is_zero(quality: str) -> bool:
    try:
        return float(quality) == 0
    except ValueError:
        return False
