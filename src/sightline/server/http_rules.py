"""The rules of the HTTP transport that need no connection: headers in, a status out.

The order of the checks is part of the contract (docs/PROTOCOL.md): path, method, Host, Origin,
token, media types, size. Every refusal has an empty body.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.server.tokens import Tokens, bearer

__all__ = ["CLOSE", "Door", "Header", "Heads", "Refusal", "join", "read_heads", "refused_coding"]

Header = tuple[bytes, bytes]

#: What a refusal adds when the connection cannot be used any more.
CLOSE: Header = (b"connection", b"close")

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
#: What a 64-bit number needs; the parser refuses a greater one.
_MAX_SIZE_DIGITS = 20
_NEEDED = ("application/json", "text/event-stream")


class Refusal(Exception):
    """A request that is answered with a status and no body."""

    def __init__(self, status: int, *headers: Header) -> None:
        super().__init__(status)
        self.status = status
        self.headers = headers


class Heads(NamedTuple):
    """The headers that are looked at, read as Latin-1."""

    host: str | None
    origin: str
    authorization: str
    content_type: str
    accept: str
    content_encoding: str
    content_length: str
    protocol_version: str | None
    session: str | None


def join(name: bytes, first: bytes, second: bytes) -> bytes:
    """A header said twice: the first token counts, anything else is a list, as HTTP says."""
    return first if name == b"authorization" else first + b"," + second


def refused_coding(version: str, headers: Mapping[bytes, bytes]) -> int | None:
    """The status for a body that is sent in a way that is not read; ``None`` if it is read.

    A body is plain or chunked. The parser finds out where one ends that was chunked last, whatever
    was done to it before, and what was done would then be taken for its text.

    >>> refused_coding("1.1", {b"transfer-encoding": b"gzip, chunked"})
    501
    """
    value = headers.get(b"transfer-encoding")
    if value is None:
        return None
    codings = [word for part in value.split(b",") if (word := part.strip(b" \t").lower())]
    if version == "1.0" or codings[-1:] != [b"chunked"] or codings.count(b"chunked") > 1:
        return 400
    return None if len(codings) == 1 else 501


def read_heads(headers: Mapping[bytes, bytes]) -> Heads:
    host = headers.get(b"host")
    version = headers.get(b"mcp-protocol-version")
    session = headers.get(b"mcp-session-id")
    return Heads(
        None if host is None else host.decode("latin-1"),
        headers.get(b"origin", b"").decode("latin-1"),
        headers.get(b"authorization", b"").decode("latin-1"),
        headers.get(b"content-type", b"").decode("latin-1"),
        headers.get(b"accept", b"").decode("latin-1"),
        headers.get(b"content-encoding", b"").decode("latin-1"),
        headers.get(b"content-length", b"").decode("latin-1"),
        None if version is None else version.decode("latin-1"),
        None if session is None else session.decode("latin-1"),
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

    def check(self, target: bytes, method: bytes, heads: Heads, tokens: Tokens) -> None:
        """Raises the first refusal that applies."""
        if target.partition(b"?")[0] != self._path:
            raise Refusal(404)
        if method != b"POST":
            raise Refusal(405, (b"allow", b"POST"))
        if not self._host_allowed(heads.host):
            raise Refusal(403)
        if heads.origin and heads.origin not in self._origins:
            raise Refusal(403)
        if not tokens.accepts(bearer(heads.authorization)):
            raise Refusal(401, (b"www-authenticate", b"Bearer"))
        if not _is_json(heads.content_type) or not _is_plain(heads.content_encoding):
            raise Refusal(415)
        if not _accepts_both(heads.accept):
            raise Refusal(406)
        size = heads.content_length
        if len(size) > _MAX_SIZE_DIGITS:  # zeros, of which Python reads only so many
            raise Refusal(400, CLOSE)
        if _is_number(size) and int(size) > MAX_REQUEST_BYTES:
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


def _is_plain(content_encoding: str) -> bool:
    return content_encoding.lower() in ("", "identity")


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
