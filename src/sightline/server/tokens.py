"""Bearer tokens: the file they live in and how a request's token is compared.

The file lies in the user's data folder (0700), is made exclusively with mode 0600, is checked on
the open descriptor, and is replaced atomically. It is read again whenever it changes, so rotation
and removal take effect on the next request. A file that is not exactly as it should be closes the
door: no token in it is accepted.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

import msgspec

from sightline.contract.limits import MAX_TOKENS
from sightline.workspace.private_files import NotPrivate, read_private, write_private

__all__ = ["BadTokenFile", "TokenFile", "Tokens", "bearer"]

_MAX_FILE_BYTES = 64 * 1024
_TOKEN_BYTES = 32


class BadTokenFile(Exception):
    """The token file cannot be trusted. The text says why and what to do, without its path."""


def bearer(header: str) -> str | None:
    """The token of an ``Authorization`` header, or ``None``."""
    scheme, _, rest = header.strip(" \t").partition(" ")
    if "\t" in scheme:
        scheme, _, tail = scheme.partition("\t")
        rest = f"{tail} {rest}"
    token = rest.strip(" \t")
    return token if scheme.lower() == "bearer" and token else None


class Tokens:
    """A set of valid tokens, kept as digests."""

    def __init__(self, tokens: list[str]) -> None:
        self._digests = [_digest(token) for token in dict.fromkeys(tokens)][:MAX_TOKENS]

    def __len__(self) -> int:
        return len(self._digests)

    def accepts(self, token: str | None) -> bool:
        """Compares with every token, in constant time, without stopping at a match."""
        offered = _digest(token or "")
        matches = [hmac.compare_digest(offered, digest) for digest in self._digests]
        return token is not None and any(matches)


class TokenFile:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._spelled = str(path)
        self._seen: tuple[int, int, int] | None = None
        self._tokens = Tokens([])

    def current(self) -> Tokens:
        """The tokens that are valid now. Any doubt about the file means none."""
        try:
            status = os.stat(self._spelled, follow_symlinks=False)
            seen = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns)
            if seen != self._seen:
                self._tokens = Tokens(self.read())
                self._seen = seen
        except (OSError, BadTokenFile):
            self._tokens, self._seen = Tokens([]), None
        return self._tokens

    def read(self) -> list[str]:
        """The tokens in the file, checked."""
        try:
            raw = read_private(self.path, _MAX_FILE_BYTES)
        except FileNotFoundError:
            raise BadTokenFile("there is no token file; run sightline token rotate") from None
        except NotPrivate as problem:
            raise BadTokenFile(
                f"the token file {problem}, then run sightline token rotate"
            ) from None
        return parse_tokens(raw)

    def provision(self) -> list[str]:
        """The tokens in the file; a first one is made if there is no file yet."""
        if not os.path.lexists(self.path):
            with contextlib.suppress(FileExistsError):  # somebody was quicker; theirs counts
                self._write([secrets.token_urlsafe(_TOKEN_BYTES)], exclusive=True)
        return self.read()

    def rotate(self) -> str:
        """Replaces every token by a new one and returns it."""
        token = secrets.token_urlsafe(_TOKEN_BYTES)
        self._write([token], exclusive=False)
        return token

    def _write(self, tokens: list[str], *, exclusive: bool) -> None:
        write_private(self.path, msgspec.json.encode(tokens) + b"\n", exclusive=exclusive)


def parse_tokens(raw: bytes) -> list[str]:
    """A JSON array of 1 to 32 non-blank strings; anything else is refused whole."""
    problem = BadTokenFile("the token file is malformed; run sightline token rotate")
    if len(raw) > _MAX_FILE_BYTES:
        raise problem
    try:
        tokens = msgspec.json.decode(raw, type=list[str])
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise problem from None
    clean = [token.strip() for token in tokens]
    if not clean or len(clean) > MAX_TOKENS or not all(clean):
        raise problem
    return clean


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()
