"""HTTP sessions: at most 64, the least recently used goes first, idle ones expire.

A session is a conversation, not a credential: every request carries its token.
"""

import secrets
from collections import OrderedDict
from collections.abc import Callable

from sightline.protocol.session import Session

__all__ = ["Sessions"]


class Sessions:
    def __init__(self, limit: int, idle_s: float, clock: Callable[[], float]) -> None:
        self._limit = limit
        self._idle_s = idle_s
        self._clock = clock
        self._sessions: OrderedDict[str, tuple[Session, float]] = OrderedDict()

    def __len__(self) -> int:
        self._expire()
        return len(self._sessions)

    def clients(self) -> list[str]:
        """The names the clients gave, most recent last."""
        self._expire()
        return [session.client for session, _ in self._sessions.values()]

    def add(self, session: Session) -> str:
        """Keeps a session and returns its new id."""
        self._expire()
        while len(self._sessions) >= self._limit:
            self._sessions.popitem(last=False)
        key = secrets.token_urlsafe(16)
        self._sessions[key] = (session, self._clock())
        return key

    def find(self, key: str) -> Session | None:
        """The session of this id, which counts as used now."""
        self._expire()
        found = self._sessions.get(key)
        if found is None:
            return None
        self._sessions[key] = (found[0], self._clock())
        self._sessions.move_to_end(key)
        return found[0]

    def _expire(self) -> None:
        oldest = self._clock() - self._idle_s
        while self._sessions:
            key, (session, used) = next(iter(self._sessions.items()))
            if used > oldest or session.calls:
                return
            del self._sessions[key]
