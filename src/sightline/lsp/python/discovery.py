"""Which environment a Python project uses, found without running anything.

It lies in the project's folder or above it, or Poetry or Pipenv keep it elsewhere, under a name
that is made from the folder's path. Otherwise it is the environment that was active where Sightline
was started. No file of a workspace can point at an environment, so none can make servers read one
that is not its own.

>>> digest_of("/srv/app")
'2uZo5AhP'
"""

import base64
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from sightline.contract.uris import above, is_under
from sightline.lsp.files.reading import names_in, read_toml, table
from sightline.lsp.python.environments import find_environment, is_environment, package_folders
from sightline.workspace.beside import Stamp, Stamps, stamp

__all__ = ["Environments", "digest_of"]

_MAX_ENVIRONMENTS = 4_096


class Environments(Struct, frozen=True):
    """The environments outside of workspaces, as they were at one look."""

    #: Where Poetry keeps environments, their names, and what was chosen among them.
    poetry: str = ""
    poetry_names: Sequence[str] = ()
    chosen: Mapping[str, object] = {}
    #: Where Pipenv keeps environments, and their names.
    pipenv: str = ""
    pipenv_names: Sequence[str] = ()
    #: The one that was active where Sightline was started.
    active: str | None = None
    #: What was looked at, as it was before.
    stamps: Stamps = {}

    @classmethod
    def look(cls, variables: Mapping[str, str]) -> "Environments":
        """What there is now, by the user's own environment variables."""
        poetry, pipenv = _poetry_store(variables), _pipenv_store(variables)
        chosen = os.path.join(poetry, "envs.toml") if poetry else ""
        stamps = {path: stamp(path) for path in (poetry, pipenv, chosen) if path}
        return cls(
            poetry,
            _names(poetry),
            read_toml(chosen) if chosen else {},
            pipenv,
            _names(pipenv),
            _active(variables),
            stamps,
        )

    def own(self, folder: str) -> str | None:
        """The environment of exactly this folder."""
        inside = find_environment(folder)
        if inside is not None:
            return inside
        return next(filter(is_environment, self._kept_for(folder)), None)

    def of(self, folder: str, top: str) -> str | None:
        """The environment of a project: its own, or the nearest above it up to ``top``."""
        found = map(self.own, above(folder, top))
        return next((each for each in found if each is not None), self.active)

    def relied_on(self, folder: str, top: str) -> dict[str, Stamp]:
        """What decides that outside of ``top``, and shows an install there, as it was before."""
        kept = (path for place in above(folder, top) for path in self._kept_for(place))
        stamps = {**self.stamps, **{path: stamp(path) for path in kept}}
        found = self.of(folder, top)
        if found is not None and not is_under(found, top):
            stamps |= {path: stamp(path) for path in (found, *package_folders(found))}
        return stamps

    def _kept_for(self, folder: str) -> Iterator[str]:
        """What tools keep for a folder, finished or not, the best first."""
        if self.poetry_names:
            yield from self._kept_by_poetry(f"-{digest_of(folder)}-py")
        if self.pipenv_names:
            mark = "-" + digest_of(f"{folder}/Pipfile")
            for name in self.pipenv_names:
                if name.endswith(mark) or f"{mark}-" in name:
                    yield os.path.join(self.pipenv, name)

    def _kept_by_poetry(self, mark: str) -> Iterator[str]:
        """One for each Python: first the one that was chosen, then the newest."""

        def rank(name: str) -> tuple[bool, list[int], str]:
            project, _, version = name.rpartition("-py")
            is_chosen = table(self.chosen, project).get("minor") == version
            numbers = [int(part) for part in version.split(".") if part.isdecimal()]
            return is_chosen, numbers, name

        names = [name for name in self.poetry_names if mark in name]
        for name in sorted(names, key=rank, reverse=True):
            yield os.path.join(self.poetry, name)


def digest_of(path: str) -> str:
    """What Poetry knows a folder by, and Pipenv a Pipfile, given the real path."""
    digest = hashlib.sha256(os.path.normcase(path).encode(errors="surrogateescape")).digest()
    return base64.urlsafe_b64encode(digest).decode()[:8]


def _active(variables: Mapping[str, str]) -> str | None:
    environment = variables.get("VIRTUAL_ENV", "")
    if os.path.isabs(environment) and is_environment(environment):
        return environment
    prefix = variables.get("CONDA_PREFIX", "")
    # The base environment is active all the time, and nobody's.
    is_base = variables.get("CONDA_DEFAULT_ENV", "base") == "base"
    if os.path.isabs(prefix) and not is_base and os.path.isdir(os.path.join(prefix, "conda-meta")):
        return prefix
    return None


def _poetry_store(variables: Mapping[str, str]) -> str:
    """Where Poetry keeps environments: by its variables, its user's settings, or as it does."""
    mac = sys.platform == "darwin"
    folder = variables.get("POETRY_CONFIG_DIR") or _under(
        variables,
        "XDG_CONFIG_HOME",
        "Library/Application Support" if mac else ".config",
        "pypoetry",
    )
    settings = read_toml(os.path.join(folder, "config.toml")) if folder else {}
    own = table(settings, "virtualenvs").get("path")
    path = variables.get("POETRY_VIRTUALENVS_PATH") or own
    cache = variables.get("POETRY_CACHE_DIR") or settings.get("cache-dir")
    if not isinstance(cache, str):
        usual = "Library/Caches" if mac else ".cache"
        cache = _under(variables, "XDG_CACHE_HOME", usual, "pypoetry")
    spelled = path if isinstance(path, str) else os.path.join("{cache-dir}", "virtualenvs")
    if "{cache-dir}" in spelled and not cache:
        return ""
    return _absolute(variables, spelled.replace("{cache-dir}", cache))


def _pipenv_store(variables: Mapping[str, str]) -> str:
    own = variables.get("WORKON_HOME")
    return _absolute(
        variables, own or _under(variables, "XDG_DATA_HOME", ".local/share", "virtualenvs")
    )


def _under(variables: Mapping[str, str], variable: str, usual: str, name: str) -> str:
    """A folder of the user's: below the one that a variable names, else below the home folder."""
    home = variables.get("HOME", "")
    base = variables.get(variable) or (os.path.join(home, usual) if home else "")
    return os.path.join(base, name) if base else ""


def _absolute(variables: Mapping[str, str], path: str) -> str:
    """A path with the home folder for its tilde, or nothing where it is not absolute."""
    if path.startswith("~/"):
        path = variables.get("HOME", "") + path[1:]
    return os.path.normpath(path) if os.path.isabs(path) else ""


def _names(store: str) -> tuple[str, ...]:
    return tuple(names_in(store)[:_MAX_ENVIRONMENTS]) if store else ()
