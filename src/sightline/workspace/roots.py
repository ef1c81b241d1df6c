"""The roots: the folders whose content may be read and named.

A root is kept as it was given and as the real path behind it, because both spellings may arrive in
a URI. Folders that would open the whole machine are refused.
"""

import os
import stat
from collections.abc import Iterable

from msgspec import Struct

from sightline.contract.keys import roots_key
from sightline.contract.uris import above, is_under, is_unicode, normalise

__all__ = [
    "BadRoot",
    "NoProject",
    "Root",
    "RootSet",
    "default_root",
    "open_root",
    "projects_around",
]

_FORBIDDEN = ("/proc", "/sys", "/dev")


class BadRoot(ValueError):
    """A folder that cannot be a root. The text says why and what to do."""


class NoProject(BadRoot):
    """A folder that is nobody's project, such as a home or the whole machine."""


class Root(Struct, frozen=True):
    """One allowed folder. ``given`` is lexical, ``real`` has every link resolved."""

    given: str
    real: str
    #: The repository that it is a part of, if it is not all of one. It is not in the workspace, but
    #: language servers read it, so what changes there changes answers.
    around: str = ""
    #: What the user's settings keep out of it, and what they let in although Git ignores it: globs.
    exclude: tuple[str, ...] = ()
    include_ignored: tuple[str, ...] = ()

    @property
    def outermost(self) -> str:
        """How far up a project in the root may reach."""
        return self.around or self.real

    @property
    def name(self) -> str:
        """The folder's own name, for people."""
        return os.path.basename(self.given) or self.given


class RootSet(Struct, frozen=True):
    """All allowed folders, sorted and without duplicates."""

    roots: tuple[Root, ...]

    @classmethod
    def of(cls, roots: Iterable[Root]) -> "RootSet":
        unique = {root.real: root for root in reversed(list(roots))}
        return cls(tuple(unique[real] for real in sorted(unique)))

    @property
    def closed(self) -> list[str]:
        """Where nothing is run from before a user allows it: also the rest of each repository."""
        return [root.outermost for root in self.roots]

    def key(self) -> str:
        """What the roots contribute to a snapshot key."""
        return roots_key([root.real for root in self.roots])

    def containing(self, real_path: str) -> Root | None:
        """The innermost root that a real path lies in."""
        found: Root | None = None
        for root in self.roots:  # sorted, so that what lies inside another comes after it
            if is_under(real_path, root.real):
                found = root
        return found


def open_root(path: str, *, home: str | None) -> Root:
    """The root at ``path``, an absolute path of an existing folder."""
    given = normalise(path)
    real = os.path.realpath(given)
    shown = os.fsencode(path).decode(errors="backslashreplace")
    why = _why_no_folder(real)
    if why:
        raise BadRoot(f"{shown} {why}; pass the folder of your project")
    if not os.access(real, os.R_OK | os.X_OK):
        raise BadRoot(
            f"{shown} cannot be looked into; run chmod u+rx on it, or pass another folder"
        )
    if not is_unicode(real):
        raise BadRoot(f"{shown} cannot be a root: its path is not UTF-8; rename the folder")
    if not is_unicode(given):
        raise BadRoot(f"{shown} cannot be a root: its path is not UTF-8; pass what it leads to")
    if real == "/" or any(is_under(real, forbidden) for forbidden in _FORBIDDEN):
        raise NoProject(f"{path} cannot be a root; pass the folder of your project")
    if home is not None and real == os.path.realpath(home):
        raise NoProject(f"{path} is the home folder and cannot be a root; pass a folder in it")
    return Root(given, real, _around(real, home))


def _why_no_folder(real: str) -> str:
    try:
        return "" if stat.S_ISDIR(os.stat(real).st_mode) else "is not a folder"
    except (FileNotFoundError, NotADirectoryError):
        return "does not exist"
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        return f"cannot be reached ({reason})"


def _around(real: str, home: str | None) -> str:
    """The repository that a folder lies in, unless that is somebody's home, or the folder's own."""
    top = default_root(real)
    if top == real or top == "/" or (home is not None and is_under(os.path.realpath(home), top)):
        return ""
    return top


def default_root(start: str, *, home: str | None = None) -> str:
    """The nearest folder from ``start`` upward that holds ``.git``, else ``start``.

    Some keep the settings in their home, or all of a machine, in Git. Neither is a project.
    """
    first = normalise(start)
    no_project = {"/"} if home is None else {"/", os.path.realpath(home)}
    tops = (folder for folder in above(first) if os.path.lexists(os.path.join(folder, ".git")))
    return next((top for top in tops if os.path.realpath(top) not in no_project), first)


def projects_around(start: str, *, home: str) -> tuple[str, ...]:
    """``start`` and the folders above it that are a repository or hold packages of npm, which puts
    the programs of all of them on the search path. None of them is a home, or holds one.
    """
    own = os.path.realpath(home)
    first = normalise(start)
    found = [
        folder
        for folder in above(first)
        if folder == first
        or any(os.path.lexists(os.path.join(folder, name)) for name in (".git", "node_modules"))
    ]
    return tuple(folder for folder in found if not is_under(own, os.path.realpath(folder)))
