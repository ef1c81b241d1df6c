"""Tokens that somebody else keeps: an editor's extension, in its secret storage.

They live in memory only. What replaces them is valid with the next request, and what they replace
is not; a replacement that is not as it should be closes the door.
"""

from collections.abc import Sequence

from sightline.contract.limits import MAX_TOKENS
from sightline.server.tokens import Tokens

__all__ = ["HeldTokens", "usable"]

_MAX_TOKEN_CHARS = 4_096


class HeldTokens:
    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = Tokens(usable(tokens) or [])

    def current(self) -> Tokens:
        return self._tokens

    def replace(self, tokens: Sequence[str]) -> None:
        self._tokens = Tokens(usable(tokens) or [])


def usable(tokens: Sequence[str]) -> list[str] | None:
    """1 to 32 tokens without blanks around them, or ``None`` for anything else."""
    clean = [token.strip() for token in tokens]
    if not clean or len(clean) > MAX_TOKENS:
        return None
    return clean if all(0 < len(token) <= _MAX_TOKEN_CHARS for token in clean) else None
