"""What the environment says about context caches: where they are, and how long a call may take."""

from collections.abc import Mapping
from pathlib import Path

from sightline.cli.exits import CommandError
from sightline.cli.folders import Folders, private
from sightline.cli.numbers import unsigned_64
from sightline.contract.limits import CONTEXT_TIMEOUT_MS, MAX_CONTEXT_TIMEOUT_S

__all__ = ["context_root", "context_timeout_ms", "unsigned_seconds"]

_ROOT = "CONTEXT_CACHE_ROOT"
_TIMEOUT = "CONTEXT_TOOL_TIMEOUT_SECS"


def context_root(environment: Mapping[str, str], folders: Folders) -> str:
    """The folder of caches: the one that is set, else the user's own, made when it is missing."""
    root = environment.get(_ROOT)
    if root is None:
        return str(private(folders.data / "context"))
    if not Path(root).is_absolute():
        raise CommandError(f"{_ROOT} must be an absolute path; unset it for the per-user folder")
    return root


def context_timeout_ms(environment: Mapping[str, str]) -> int:
    """The time limit of a context call."""
    seconds = unsigned_seconds(environment.get(_TIMEOUT))
    if seconds is None:
        raise CommandError(f"{_TIMEOUT} must be a whole number of seconds, such as 30")
    return min(seconds, MAX_CONTEXT_TIMEOUT_S) * 1000


def unsigned_seconds(text: str | None) -> int | None:
    """A number of seconds, the default for no text, ``None`` for one that is not a number."""
    if text is None:
        return CONTEXT_TIMEOUT_MS // 1000
    digits = text.removeprefix("+")
    return unsigned_64(digits) if digits.isascii() and digits.isdigit() else None
