"""Python environments, read without running anything.

An environment is a folder with ``pyvenv.cfg``. If a project has none (discovery.py says which
one it has), servers are pointed at an empty one of ours: otherwise they would pick up whatever they
find, and answers would depend on that. A server that wants to ask an interpreter gets a stand-in
that knows what ``pyvenv.cfg`` says.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from sightline.contract.canonical import sha256_hex
from sightline.lsp.files.reading import names_in, read_text
from sightline.workspace.private_files import write_private

__all__ = [
    "empty_configuration",
    "empty_environment",
    "find_environment",
    "installed",
    "interpreter_stand_in",
    "is_environment",
    "may_be_left_out",
    "modules_in",
    "package_folders",
    "site_packages",
]

_NAMES = (".venv", "venv", "env", ".env")
_MAX_CONFIGURATION = 1 << 16
_MAX_PROJECT = 1 << 20
_VERSION = "3.13.0"
#: What Python itself takes for a number is more: other scripts' digits, and superscripts not even.
_NUMBER = re.compile("[0-9]{1,4}")

#: Asked with ``-c CODE``; the code it is given says which of the two answers is wanted.
_STAND_IN = """\
#!{python} -IS
import json, sys
code = sys.argv[-1]
if "version_info" in code:
    print(json.dumps({version}))
else:
    print(json.dumps({{"path": {paths}, "prefix": {prefix}}}))
"""


def find_environment(folder: str) -> str | None:
    """The environment directly inside a project's folder."""
    for name in _NAMES:
        environment = os.path.join(folder, name)
        if is_environment(environment):
            return environment
    return None


def is_environment(folder: str) -> bool:
    return "home" in _configuration(folder)


def empty_configuration(cache: Path) -> str:
    """A ty.toml that says nothing, made once in the per-user cache."""
    file = cache / "empty-ty.toml"
    if not file.exists():
        file.touch()
    return str(file)


def empty_environment(cache: Path) -> str:
    """An environment without packages, made once in the per-user cache.

    What says that it is one is looked at each time: with half of it, as a full disk leaves it, a
    server takes the environment of some Python of this machine instead.
    """
    folder = cache / "empty-python-environment"
    (folder / "lib" / "python3.13" / "site-packages").mkdir(parents=True, exist_ok=True)
    marker = folder / "pyvenv.cfg"
    says = f"home = /nonexistent\nversion = {_VERSION}\n"
    if read_text(str(marker), _MAX_PROJECT) != says:
        write_private(marker, says.encode())
    return str(folder)


def interpreter_stand_in(environment: str, cache: Path) -> str:
    """A program that answers for an environment's interpreter; nothing of the project is run."""
    configuration = _configuration(environment)
    version = configuration.get("version_info") or configuration.get("version")
    version = version or _version_by_folder(environment) or _VERSION
    numbers = [int(part) for part in version.split(".", 3)[:3] if _NUMBER.fullmatch(part)] + [0] * 3
    text = _STAND_IN.format(
        python=sys.executable,
        version=json.dumps([*numbers[:3], "final", 0]),
        paths=json.dumps(site_packages(environment)),
        prefix=json.dumps(environment),
    )
    file = cache / f"python-{sha256_hex(text)[:16]}"
    if not file.exists():
        fresh = file.with_suffix(f".{os.getpid()}")
        fresh.write_text(text, encoding="utf-8")
        fresh.chmod(0o700)
        fresh.replace(file)
    return str(file)


def may_be_left_out(folder: str) -> Callable[[str], bool]:
    """Which files of a project pyright may leave out of it, as its settings are now.

    Without settings it leaves out hidden folders, environments and those of other tools.
    """
    own = read_text(f"{folder}/pyproject.toml", _MAX_PROJECT) or ""
    if os.path.lexists(f"{folder}/pyrightconfig.json") or "pyright" in own:
        return lambda path: True
    usual = re.compile(r"/(?:\.|node_modules/|__pycache__/|venv/|env/)").search
    return lambda path: usual(path[len(folder) :]) is not None


def _version_by_folder(environment: str) -> str:
    """The version of an environment that does not say it, as those of Conda."""
    found = (re.fullmatch(r"python(\d+\.\d+)", name) for name in _libraries(environment))
    return next((match[1] for match in found if match), "")


def package_folders(environment: str) -> list[str]:
    """The folders in which packages are installed, and those in which such a folder may come."""
    library = os.path.join(environment, "lib")
    found = [os.path.join(library, name) for name in _libraries(environment)]
    return [library, *found, *(os.path.join(folder, "site-packages") for folder in found)]


def _libraries(environment: str) -> list[str]:
    names = names_in(os.path.join(environment, "lib"))
    return [name for name in names if name.startswith("python")]


def site_packages(environment: str) -> list[str]:
    """The folders in which an environment looks for modules, in this order."""
    folders = [f for f in package_folders(environment) if f.endswith("/site-packages")]
    return [
        path for folder in folders if os.path.isdir(folder) for path in (folder, *_added(folder))
    ]


def _added(folder: str) -> list[str]:
    """What the ``.pth`` files of a folder add to where modules are looked for; no code is run."""
    lines = [
        line.strip()
        for name in names_in(folder)
        if name.endswith(".pth")
        for line in (read_text(os.path.join(folder, name), _MAX_CONFIGURATION) or "").splitlines()
    ]
    paths = [os.path.normpath(os.path.join(folder, line)) for line in lines if line]
    return [path for path in paths if os.path.isdir(path)]


def installed(environment: str) -> Iterator[str]:
    """The names of what is installed in an environment, as its folders spell them."""
    for folder in site_packages(environment):
        for name in names_in(folder):
            if name.endswith(".dist-info"):
                yield name.partition("-")[0]


def modules_in(folder: str) -> set[str]:
    """The names of the modules in a folder, and of what else lies beside them."""
    return {name.partition(".")[0].removesuffix("-stubs") for name in names_in(folder)}


def _configuration(environment: str) -> dict[str, str]:
    """What ``pyvenv.cfg`` says; a damaged one would make servers refuse the whole project."""
    text = read_text(os.path.join(environment, "pyvenv.cfg"), _MAX_CONFIGURATION) or ""
    pairs = (line.partition("=") for line in text.splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}
