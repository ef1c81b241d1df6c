"""Which roots their user has trusted, kept per user and by real path.

Without trust nothing that lies in a workspace, or is named by it, is ever run. Trust is for exactly
one folder: not for what is above it or below it, and not for a link to somewhere else. A file that
cannot be believed trusts nothing.
"""

from pathlib import Path

import msgspec

from sightline.workspace.private_files import NotPrivate, read_private, write_private

__all__ = ["BadTrustFile", "TrustStore"]

_MAX_BYTES = 1 << 20
_MAX_ROOTS = 1_000


class BadTrustFile(Exception):
    """The file of trusted roots cannot be used. The text says why and what to do."""


class TrustStore:
    def __init__(self, path: Path) -> None:
        self.path = path

    def roots(self) -> frozenset[str]:
        """The real paths of every trusted root."""
        try:
            raw = read_private(self.path, _MAX_BYTES)
        except FileNotFoundError:
            return frozenset()
        except NotPrivate as problem:
            raise BadTrustFile(f"the file of trusted roots {problem}") from None
        try:
            roots = msgspec.json.decode(raw, type=list[str])
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise BadTrustFile("the file of trusted roots is malformed; remove it") from None
        if len(roots) > _MAX_ROOTS or not all(root.startswith("/") for root in roots):
            raise BadTrustFile("the file of trusted roots is malformed; remove it")
        return frozenset(roots)

    def trusts(self, real: str) -> bool:
        """Whether a root, by its real path, was trusted. Any doubt about the file means no."""
        try:
            return real in self.roots()
        except BadTrustFile:
            return False

    def add(self, real: str) -> bool:
        """Whether this is new."""
        roots = self.roots()
        if len(roots) >= _MAX_ROOTS:
            raise BadTrustFile(f"{_MAX_ROOTS} roots are trusted already; untrust some")
        return self._keep(roots | {real}, roots)

    def remove(self, real: str) -> bool:
        """Whether it had been trusted."""
        roots = self.roots()
        return self._keep(roots - {real}, roots)

    def _keep(self, roots: frozenset[str], before: frozenset[str]) -> bool:
        if roots != before:
            write_private(self.path, msgspec.json.encode(sorted(roots)) + b"\n")
        return roots != before
