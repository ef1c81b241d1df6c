"""The gate: which files may be read, and which names may be shown.

In: a URI is first compared with the roots by text; what lies outside is denied without touching
the disk, so that nobody can ask what exists there. Inside, the path is resolved one component at a
time and the first step that leaves the roots is denied. A file is opened without following a link
in its last step, must be a regular file, and the open descriptor must still lie inside the roots
before a byte is read, so that a link swapped during the call gains nothing.

Out: a location is shown only if its real path lies inside the roots, under its canonical URI. For
one that is not shown the gate says why, so that an answer can count it as what it is.
"""

import enum
import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sightline.contract.failures import NotFound, UriInvalid, WorkspaceDenied
from sightline.contract.limits import MAX_DOCUMENT_BYTES
from sightline.contract.uris import is_under, path_of, uri_of
from sightline.workspace.exclusions import excludes
from sightline.workspace.roots import RootSet

__all__ = ["Gate", "GatedFile", "Hidden"]

_MAX_LINKS = 40
_CHUNK = 1 << 16
_HIDDEN = ".git"
_EXCLUDED = "the setting exclude keeps this out; sightline doctor shows what it takes"
_DOTS = frozenset({".", ".."})
_HAS_PROC = os.path.isdir("/proc/self/fd")
_OPEN_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)


class GatedFile(NamedTuple):
    """A real path inside the roots and its canonical URI."""

    path: str
    uri: str


class Hidden(enum.Enum):
    """Why a location is not shown."""

    OUTSIDE = "outside the workspace"
    #: In a version-control folder of a root.
    PRIVATE = "in .git folders"
    #: In what the user's settings keep out of a root.
    EXCLUDED = "in excluded files"
    #: Gone, or behind a folder that cannot be entered.
    MISSING = "in files that cannot be found"
    #: A document that was never saved, a text that a server makes up, or a folder.
    NO_FILE = "in unsaved or virtual documents"


class Gate:
    """The gate of one root set, in one state of the file system.

    What it learns about folders is remembered, so a gate must not outlive the view it belongs to.
    """

    def __init__(self, roots: RootSet) -> None:
        self.roots = roots
        self._folders: dict[str, str | Hidden] = {}
        #: Real folders inside the roots that were walked through.
        self._walked: set[str] = set()
        self._shown: dict[str, str | Hidden] = {}

    def admit(self, uri: str) -> GatedFile:
        """The existing file or folder a client's URI names."""
        return self.admit_path(path_of(uri))

    def admit_path(self, path: str) -> GatedFile:
        """The existing file or folder at an absolute, normalised path."""
        if not self.roots.roots:
            raise WorkspaceDenied("no folder is open; start Sightline with a root")
        if not self._lexically_inside(path.rstrip("/") or "/"):
            raise WorkspaceDenied
        real = self._resolve(path.rstrip("/") or "/")
        if path.endswith("/") and not os.path.isdir(real):
            raise UriInvalid("no such folder; drop the trailing slash")
        if self._is_excluded(real):
            raise WorkspaceDenied(_EXCLUDED)
        return GatedFile(real, uri_of(real))

    def shown_uri(self, uri: str) -> str | None:
        """The canonical URI under which an answer may name a location, or ``None``."""
        shown = self.look_at(uri)
        return None if isinstance(shown, Hidden) else shown

    def look_at(self, uri: str) -> str | Hidden:
        """The canonical URI under which an answer may name a location, or why it may not."""
        if uri not in self._shown:
            self._shown[uri] = self._show(uri)
        return self._shown[uri]

    def allows(self, path: str) -> bool:
        """Whether a path may appear in a text, judged by its spelling alone."""
        plain = os.path.normpath(path)
        if not self._lexically_inside(plain):
            return False
        return not excludes(self.roots, self._unlinked(plain), folder=True)

    @contextmanager
    def open(self, file: GatedFile) -> Iterator[int]:
        """A descriptor of a regular file that lies inside the roots at this moment."""
        descriptor, _ = _opened(file.path, self._is_shown)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def open_again(self, path: str) -> int:
        """A descriptor of the regular file at a real path that was admitted before.

        Whoever opens a file by its real path and finds the descriptor at that path has walked
        through no link, so nothing needs to be resolved again. The caller closes it.
        """
        descriptor, _ = _opened(path, path.__eq__)
        return descriptor

    def read(self, file: GatedFile, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
        """The bytes of a document. One larger than ``limit`` cannot be opened."""
        descriptor, size = _opened(file.path, self._is_shown)
        try:
            raw = os.read(descriptor, min(size, limit) + 1)
            while len(raw) <= limit and (more := os.read(descriptor, _CHUNK)):
                raw += more
        finally:
            os.close(descriptor)
        if len(raw) > limit:
            raise NotFound("the document is too large to open")
        return raw

    def still_holds(self, file: GatedFile, raw: bytes) -> bool:
        """Whether an admitted file lies where it lay and has these bytes, all of it and no more.

        Whoever opens it again by its real path and finds the descriptor at that path has walked
        through no link, so nothing needs to be resolved again.
        """
        return self._compare(file, raw, place=True)

    def has_bytes(self, file: GatedFile, raw: bytes) -> bool:
        """Whether there are these bytes at the path of an admitted file, however it is reached.

        Enough to say an answer again: a folder exchanged for a link was announced, which ends the
        view and its gate, and one exchanged this moment shows nothing that was not known.
        """
        return self._compare(file, raw, place=False)

    def _compare(self, file: GatedFile, raw: bytes, *, place: bool) -> bool:
        try:
            descriptor = os.open(file.path, _OPEN_FLAGS)
        except OSError:
            return False
        try:
            if place and _descriptor_path(descriptor, file.path) != file.path:
                return False
            return os.read(descriptor, len(raw) + 1) == raw
        except OSError:
            return False
        finally:
            os.close(descriptor)

    def _is_shown(self, real: str) -> bool:
        """Whether a real path lies in a root and in no version-control folder of it."""
        root = self.roots.containing(real)
        if root is None or _HIDDEN in real[len(root.real) :].split("/"):
            return False
        return not self._is_excluded(real)

    def _is_excluded(self, real: str) -> bool:
        """Whether the user's settings keep a real path out of its root."""
        if not any(root.exclude for root in self.roots.roots):
            return False
        return excludes(self.roots, real, folder=os.path.isdir(real))

    def _unlinked(self, path: str) -> str:
        """A path inside the roots, as it is spelled from the real path of its root."""
        real, rest = self._start(path)
        return "/".join([real, *rest])

    # Resolution

    def _lexically_inside(self, path: str) -> bool:
        for root in self.roots.roots:
            if is_under(path, root.real) or is_under(path, root.given):
                return True
        return False

    def _resolve(self, path: str) -> str:
        """The real path of ``path``, every step of which must lie inside the roots."""
        links = 0
        current, rest = self._start(path)
        while rest:
            name = rest.pop(0)
            if name in _DOTS:
                if name == "..":
                    current, rest = self._up(current, rest)
                continue
            if name == _HIDDEN:
                raise WorkspaceDenied("version-control folders are not shown")
            step = f"{current}/{name}"
            if rest and step in self._walked:
                current = step
                continue
            try:
                mode = os.lstat(step).st_mode
                target = os.readlink(step) if stat.S_ISLNK(mode) else None
            except (OSError, ValueError) as error:
                raise _not_reached(error) from None
            if target is None:
                if rest:
                    if not stat.S_ISDIR(mode):
                        raise UriInvalid("no such file in the workspace")
                    self._walked.add(step)
                current = step
                continue
            links += 1
            if links > _MAX_LINKS:
                raise UriInvalid("too many links")
            rest = _components(target) + rest
            if target.startswith("/"):
                current, rest = self._enter("", rest)
        return current

    def _up(self, folder: str, rest: list[str]) -> tuple[str, list[str]]:
        """Where one goes on from the folder above a real folder inside the roots."""
        parent = folder.rpartition("/")[0]
        if any(is_under(parent, root.real) for root in self.roots.roots):
            return parent, rest
        return self._enter(parent, rest)

    def _enter(self, folder: str, rest: list[str]) -> tuple[str, list[str]]:
        """The root that is entered from a folder above it, and the components left to walk.

        By text alone: outside, only folders above a root may be walked through, and only upward
        from a real one, whose parent is what its path says.
        """
        for number, name in enumerate(rest):
            if name == "..":
                if not any(is_under(root.real, folder or "/") for root in self.roots.roots):
                    raise WorkspaceDenied
                folder = folder.rpartition("/")[0]
            elif name != ".":
                folder = f"{folder}/{name}"
            for root in self.roots.roots:
                if folder in (root.real, root.given):
                    return root.real, rest[number + 1 :]
            if not any(
                is_under(path, folder or "/")
                for root in self.roots.roots
                for path in (root.real, root.given)
            ):
                break
        raise WorkspaceDenied

    def _start(self, path: str) -> tuple[str, list[str]]:
        """The innermost root that ``path`` is spelled under, and the components left to walk."""
        longest, real = "", ""
        for root in self.roots.roots:
            for prefix in (root.given, root.real):
                if len(prefix) >= len(longest) and is_under(path, prefix):
                    longest, real = prefix, root.real
        return real, [part for part in path[len(longest) :].split("/") if part]

    def _show(self, uri: str) -> str | Hidden:
        try:
            path = path_of(uri)
        except UriInvalid:
            return Hidden.NO_FILE
        if not self._lexically_inside(path.rstrip("/")):
            return Hidden.OUTSIDE
        if path.endswith("/"):
            return Hidden.NO_FILE
        folder, _, name = path.rpartition("/")
        real_folder = self._real_folder(folder or "/")
        if isinstance(real_folder, Hidden):
            return real_folder
        if name == _HIDDEN:
            return Hidden.PRIVATE
        real = f"{real_folder}/{name}"
        try:
            if stat.S_ISLNK(os.lstat(real).st_mode):
                real = self._resolve(path)
        except WorkspaceDenied:
            return Hidden.OUTSIDE
        except (OSError, ValueError, UriInvalid):
            return Hidden.MISSING
        return Hidden.EXCLUDED if self._is_excluded(real) else uri_of(real)

    def _real_folder(self, folder: str) -> str | Hidden:
        if folder not in self._folders:
            self._folders[folder] = self._walk_to(folder)
        return self._folders[folder]

    def _walk_to(self, folder: str) -> str | Hidden:
        if not self._lexically_inside(folder):
            return Hidden.OUTSIDE
        try:
            return self._resolve(folder)
        except WorkspaceDenied:
            return Hidden.PRIVATE if _HIDDEN in self._start(folder)[1] else Hidden.OUTSIDE
        except UriInvalid:
            return Hidden.MISSING


def _components(target: str) -> list[str]:
    """The steps of a link's target. A slash at its end says that it must be a folder."""
    return [part for part in target.split("/") if part] + (["."] if target.endswith("/") else [])


def _opened(path: str, may_be: Callable[[str], bool]) -> tuple[int, int]:
    """A descriptor of a regular file, which the caller closes, and its size. Where it really lies
    decides whether it may be read."""
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        raise _open_failure(error) from None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise NotFound("not a regular file; pass a document")
        if not may_be(_descriptor_path(descriptor, path)):
            raise WorkspaceDenied
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, status.st_size


def _descriptor_path(descriptor: int, path: str) -> str:
    """Where an open descriptor really lies now."""
    if _HAS_PROC:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    import fcntl

    if hasattr(fcntl, "F_GETPATH"):
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
    return os.path.realpath(path)


def _not_reached(error: Exception) -> UriInvalid:
    if isinstance(error, PermissionError):
        return UriInvalid(
            "the file cannot be reached; check the permissions of the folders above it"
        )
    return UriInvalid("no such file in the workspace")


def _open_failure(error: OSError) -> NotFound | UriInvalid | WorkspaceDenied:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return UriInvalid("no such file in the workspace")
    if error.errno in (errno.ELOOP, errno.EMLINK):
        return WorkspaceDenied("the file turned into a link while it was opened")
    return NotFound("the document cannot be opened; check its permissions")
