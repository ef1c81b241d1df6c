"""Test tools from npm: installed once, pinned by a lock, without running their scripts.

A set is a folder of tests/*/npm with a package.json and a package-lock.json that has hashes
and no addresses. It is installed under .cache/npm, in a folder named after the lock, so that a
changed lock is a new installation and an unchanged one costs nothing.

    python -m tools.node protocol claude     install these sets
    python -m tools.node --lock protocol     resolve a set's lock again
"""

import fcntl
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["QUIET", "Missing", "install", "node", "npm", "run", "sets"]

_ROOT = Path(__file__).parent.parent
_SETS = {folder.name: folder for folder in (_ROOT / "tests").glob("*/npm/*") if folder.is_dir()}
_CACHE = _ROOT / ".cache/npm"
_INSTALL_S = 600
_OLDEST_NODE = 22
QUIET = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error")


class Missing(Exception):
    """Something the tests need cannot be had. The text says what to do about it."""


def sets() -> list[str]:
    return sorted(_SETS)


def install(name: str) -> Path:
    """The node_modules folder of a set, installed now if it is not there yet."""
    source = _SETS[name]
    lock = (source / "package-lock.json").read_bytes()
    manifest = (source / "package.json").read_bytes()
    target = _CACHE / f"{name}-{hashlib.sha256(manifest + lock).hexdigest()[:16]}"
    if not target.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        with (_CACHE / f".{name}.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not target.is_dir():
                _install(source, target)
    return target / "node_modules"


def node() -> Path:
    """A Node new enough for the tools: the pinned one, or the machine's where none is published."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    pinned = install("protocol") / f"node-{sys.platform}-{machine}/bin/node"
    if pinned.is_file():
        return pinned
    found = shutil.which("node")
    if found is None or _major(found) < _OLDEST_NODE:
        raise Missing(f"Node {_OLDEST_NODE} or newer is needed on the PATH: install nodejs")
    return Path(found)


def _install(source: Path, target: Path) -> None:
    """Installs next to the target and moves it into place, so that a half one is never used."""
    unfinished = target.with_suffix(".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir()
    try:
        for file in ("package.json", "package-lock.json"):
            shutil.copy(source / file, unfinished)
        run([npm(), "ci", *QUIET], unfinished)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _lock(name: str) -> None:
    folder = _SETS[name]
    resolve = ["install", "--package-lock-only", "--omit-lockfile-registry-resolved", *QUIET]
    run([npm(), *resolve], folder)
    file = folder / "package-lock.json"
    lock = json.loads(file.read_text(encoding="utf-8"))
    for package in lock["packages"].values():
        package.pop("resolved", None)
        package.pop("funding", None)
    file.write_text(json.dumps(lock, indent=2) + "\n", encoding="utf-8")


def npm() -> str:
    """The machine's npm."""
    found = shutil.which("npm")
    if found is None:
        raise Missing("npm is missing: install it (Debian: apt-get install npm)")
    return found


def run(command: Sequence[str], cwd: Path, environment: Mapping[str, str] | None = None) -> None:
    """Runs an installer to its end. What it said is in the error if it failed."""
    name = " ".join([Path(command[0]).name, *command[1:3]])
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_INSTALL_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise Missing(
            f"{name} did not finish in {_INSTALL_S} s: is its registry reachable?"
        ) from None
    if done.returncode != 0:
        said = "\n".join(done.stdout.strip().splitlines()[-12:])
        raise Missing(f"{name} failed: is its registry reachable? It said:\n{said}")


def _major(executable: str) -> int:
    said = subprocess.run(
        [executable, "--version"], capture_output=True, text=True, timeout=30, check=False
    )
    digits = said.stdout.strip().removeprefix("v").partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def main(arguments: list[str]) -> int:
    relock = arguments[:1] == ["--lock"]
    names = arguments[1:] if relock else arguments
    unknown = [name for name in names if name not in sets()]
    if unknown or not names:
        sys.stderr.write(
            f"usage: python -m tools.node [--lock] SET...; sets: {', '.join(sets())}\n"
        )
        return 2
    try:
        for name in names:
            if relock:
                _lock(name)
            sys.stdout.write(os.path.relpath(install(name), _ROOT) + "\n")
    except Missing as missing:
        sys.stderr.write(f"{missing}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
