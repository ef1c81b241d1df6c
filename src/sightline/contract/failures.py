"""Everything that can go wrong with a call, drawn once.

    Failure
    ├── InvalidArguments      the arguments do not fit the tool's schema
    │   └── UnknownTool       no such tool in the catalogue that was listed
    ├── UriInvalid            not a file: URI, malformed, or no such file inside the roots
    ├── WorkspaceDenied       outside the allowed roots
    ├── NotFound              the document cannot be opened, or the position or item is not in it
    ├── NotReady              the answer cannot be complete yet; a retry helps
    ├── NoIndex               there is no usable index yet
    ├── TimedOut              past the time limit; a retry helps where the work goes on
    ├── Cancelled             the client asked to stop
    ├── Overloaded            too many calls in flight; a retry helps
    ├── TooLarge              the answer does not fit the byte cap
    ├── TooMany               the full result set is over its cap
    ├── CursorFailure
    │   ├── CursorInvalid     cannot be read, or belongs to another question
    │   ├── CursorStale       the workspace changed since the cursor was made
    │   ├── CursorExpired     the retained results are gone
    │   └── SnapshotTooLarge  the results cannot be retained for paging
    ├── Unavailable           no language server, provider, model or dependency can answer
    ├── CacheFailure          a context cache
    │   ├── CacheMissing      is not there
    │   ├── CacheInvalid      is damaged
    │   └── CacheUnreadable   cannot be read
    ├── InvalidBudget         the token budget cannot be used
    ├── InstallFailure
    │   ├── DownloadUnverified, ArchiveUnsafe, ArchiveTooLarge
    └── Bug                   ours; what happened is logged, never shown

A failure says *what happened* in the caller's terms. How a family spells it on the wire (codes,
envelopes, messages) is the business of ``calls/families.py`` alone. Texts never hold a path
outside the roots, a secret, or a time; ``advice`` names the next step.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from sightline.contract.canonical import JsonValue

__all__ = [
    "ArchiveTooLarge",
    "ArchiveUnsafe",
    "Bug",
    "CacheFailure",
    "CacheInvalid",
    "CacheMissing",
    "CacheUnreadable",
    "Cancelled",
    "CursorExpired",
    "CursorFailure",
    "CursorInvalid",
    "CursorStale",
    "DownloadUnverified",
    "Failure",
    "InstallFailure",
    "InvalidArguments",
    "InvalidBudget",
    "NoIndex",
    "NotFound",
    "NotReady",
    "Overloaded",
    "SnapshotTooLarge",
    "TimedOut",
    "TooLarge",
    "TooMany",
    "Unavailable",
    "UnknownTool",
    "UriInvalid",
    "WorkspaceDenied",
]


class Failure(Exception):
    """A call that ends without an answer. ``str(failure)`` is its advice."""

    #: What the caller should do, when the place that fails has nothing better to say.
    default_advice: ClassVar[str] = "see the error code in the documentation"
    #: Whether the same call can succeed later without anything else being changed.
    retryable: ClassVar[bool] = False

    def __init__(
        self, advice: str | None = None, *, details: Mapping[str, JsonValue] | None = None
    ) -> None:
        self.advice: str = advice or self.default_advice
        self.details: dict[str, JsonValue] = dict(details or {})
        if self.retryable:
            self.details["retryable"] = True
        super().__init__(self.advice)


class InvalidArguments(Failure):
    default_advice = "fix the arguments; the tool's inputSchema says what it takes"

    def __init__(
        self, advice: str | None = None, *, issues: Sequence[Mapping[str, JsonValue]] = ()
    ) -> None:
        super().__init__(advice, details={"issues": list(issues)} if issues else None)


class UnknownTool(InvalidArguments):
    default_advice = "there is no such tool; tools/list names them"


class UriInvalid(Failure):
    default_advice = "pass the file: URI of an existing file inside the workspace"


class WorkspaceDenied(Failure):
    default_advice = "pass a file inside the workspace roots, or add its folder as a root"


class NotFound(Failure):
    default_advice = "the position or document is not there; read the file again"


class NotReady(Failure):
    default_advice = "still loading; retry in a moment"
    retryable = True

    def __init__(
        self,
        advice: str | None = None,
        *,
        waiting_for: str,
        details: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(advice, details={"waitingFor": waiting_for, **(details or {})})
        self.waiting_for = waiting_for


class NoIndex(Failure):
    default_advice = "call index_build, or wait for the build that runs"


class TimedOut(Failure):
    default_advice = "the time limit passed; the work goes on, so retry in a moment"
    retryable = True

    def __init__(
        self,
        advice: str | None = None,
        *,
        timeout_ms: int,
        details: Mapping[str, JsonValue] | None = None,
    ) -> None:
        super().__init__(advice, details=details)
        self.timeout_ms = timeout_ms


class Cancelled(Failure):
    default_advice = "the request was cancelled by the client"


class Overloaded(Failure):
    default_advice = "too many calls at once; retry when some have ended"
    retryable = True


class TooLarge(Failure):
    default_advice = "the answer does not fit the size limit; ask for less"


class TooMany(Failure):
    default_advice = "too many results; narrow the question"


class CursorFailure(Failure):
    """A page that cannot be served. ``reason`` is its stable name in words."""

    reason: ClassVar[str] = "cursor_invalid"


class CursorInvalid(CursorFailure):
    default_advice = "drop the cursor and ask for the first page again"
    reason = "cursor_invalid"


class CursorStale(CursorFailure):
    default_advice = "the workspace changed; drop the cursor and ask for the first page again"
    reason = "cursor_stale"


class CursorExpired(CursorFailure):
    default_advice = "the results are no longer kept; ask for the first page again"
    reason = "cursor_expired"


class SnapshotTooLarge(CursorFailure):
    default_advice = "the results are too large to keep for paging; narrow the question"
    reason = "snapshot_too_large"


class Unavailable(Failure):
    default_advice = "nothing here can answer this; run sightline doctor"


class CacheFailure(Failure):
    """Something is wrong with a context cache."""


class CacheMissing(CacheFailure):
    default_advice = "there is no such cache"


class CacheInvalid(CacheFailure):
    default_advice = "the cache is damaged; build it again"


class CacheUnreadable(CacheFailure):
    default_advice = "the cache cannot be read; check its permissions"


class InvalidBudget(Failure):
    default_advice = "pass a budget of 0 tokens or more that the answer fits"


class InstallFailure(Failure):
    """A language server that was not installed; nothing is left behind."""


class DownloadUnverified(InstallFailure):
    default_advice = "what was downloaded is not what was pinned; try again or report it"


class ArchiveUnsafe(InstallFailure):
    default_advice = "the archive holds an entry that would leave its folder; it was not unpacked"


class ArchiveTooLarge(InstallFailure):
    default_advice = "the archive is larger than it may be; it was not unpacked"


class Bug(Failure):
    """An unexpected exception. Its text stays in the log."""

    default_advice = "Sightline hit a bug; the log has the details"
