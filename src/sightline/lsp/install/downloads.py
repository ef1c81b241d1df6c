"""Fetching the files of a lock with the user's own pip and npm.

Both run as children with a bounded time, in an empty folder, with the user's index settings and
proxies, and without scripts: ``pip download`` of wheels only, ``npm pack`` of published tarballs.
Neither is run out of a project that its user stands in. What they bring is not believed; the
installer compares the hashes. What they put aside meanwhile is in that folder, too.
"""

import asyncio
import contextlib
import errno
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sightline.contract.failures import DownloadUnverified, Unavailable
from sightline.lsp.install.locks import LockedFile
from sightline.lsp.together import together
from sightline.process.child import StartFailed, spawn
from sightline.process.environment import child_environment, find_program, safe_path

__all__ = ["Downloader", "Tools"]

_LIMIT_S = 900.0
#: npm packs several tarballs per run; fewer at a time shows progress.
_BATCH = 8
_AT_ONCE = 3
#: What an installation may see of the environment besides the usual: index settings and proxies.
_PREFIXES = ("PIP_", "NPM_CONFIG_", "SSL_CERT_")
_NAMES = frozenset({"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "NODE_EXTRA_CA_CERTS"})
#: What Debian calls them.
_PACKAGES = {"pip": "python3-pip", "npm": "npm"}
_HASH_WORDS = ("DO NOT MATCH THE HASHES", "EINTEGRITY")
#: What pip and npm say of a disk that takes nothing more; npm by its name.
_DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG)

Report = Callable[[int, int], None]


def _bundled() -> list[Path]:
    """Where Python, or Debian's, keeps a pip that can be run as it is."""
    own = find_spec("ensurepip")
    inside = [Path(own.origin).with_name("_bundled")] if own is not None and own.origin else []
    return [*inside, Path("/usr/share/python-wheels")]


@dataclass(frozen=True)
class Tools:
    """Where pip and npm are, and the environment they run in."""

    environment: Mapping[str, str]
    #: Folders whose programs are not run: they are the code of a project, and not of its user.
    roots: tuple[str, ...]

    def pip(self) -> list[str]:
        """The one of this installation, or the one that Python has to make others with: not every
        installer leaves one (uv does not).
        """
        if find_spec("pip") is not None:
            return [sys.executable, "-I", "-m", "pip"]
        for folder in _bundled():
            wheel = next(iter(sorted(folder.glob("pip-*.whl"), reverse=True)), None)
            if wheel is not None:
                return [sys.executable, "-I", str(wheel / "pip")]
        return [self._program("pip3", "pip")]

    def npm(self) -> list[str]:
        return [self._program("npm")]

    def child_environment(self) -> dict[str, str]:
        allowed = {
            key: value
            for key, value in self.environment.items()
            if key.upper().startswith(_PREFIXES) or key.upper() in _NAMES
        }
        return child_environment(self.environment, self.roots, allowed)

    def _program(self, *names: str) -> str:
        found = self._first(names, self.roots)
        if found is not None:
            return found
        tool = names[-1]
        if self._first(names, ()) is not None:
            where = "lies in the project around the current folder, and no program of it is run"
            raise Unavailable(f"{tool} {where}; change to another folder")
        package = _PACKAGES[tool]
        raise Unavailable(f"{tool} is missing; install it (Debian: apt-get install {package})")

    def _first(self, names: Sequence[str], roots: tuple[str, ...]) -> str | None:
        path = safe_path(self.environment.get("PATH", ""), roots)
        found = (find_program(name, path, roots) for name in names)
        return next((program for program in found if program is not None), None)


@dataclass(frozen=True)
class Downloader:
    tools: Tools
    #: An empty folder to work in; downloads appear in it.
    folder: Path

    async def fetch(self, kind: str, files: Sequence[LockedFile], report: Report) -> list[Path]:
        """The archives of these files, in the same order."""
        if kind == "pip":
            return [await self._wheel(file) for file in files]
        done = 0
        turns = asyncio.Semaphore(_AT_ONCE)

        async def batch(part: Sequence[LockedFile]) -> list[Path]:
            nonlocal done
            async with turns:
                found = await self._tarballs(part)
            done += len(part)
            report(done, len(files))
            return found

        parts = [files[start : start + _BATCH] for start in range(0, len(files), _BATCH)]
        found = await together(*(batch(part) for part in parts))
        return [archive for part in found for archive in part]

    async def _wheel(self, file: LockedFile) -> Path:
        hashes = " ".join(f"--hash=sha256:{digest}" for digest in file.hashes)
        wanted = self.folder / "requirements.txt"
        wanted.write_text(f"{file.package}=={file.version} {hashes}\n", encoding="utf-8")
        out = self.folder / "wheels"
        arguments = ["download", "--require-hashes", "--no-deps", "--only-binary=:all:"]
        arguments += ["--no-cache-dir", "--no-input", "--disable-pip-version-check", "--quiet"]
        await self._run([*self.tools.pip(), *arguments, "--dest", str(out), "-r", str(wanted)])
        found = sorted(out.glob("*.whl"))
        if len(found) != 1:
            raise DownloadUnverified("pip brought something else than one wheel")
        return found[0]

    async def _tarballs(self, files: Sequence[LockedFile]) -> list[Path]:
        out = self.folder / "tarballs"
        out.mkdir(exist_ok=True)
        specs = [f"{file.package}@{file.version}" for file in files]
        arguments = ["pack", "--ignore-scripts", "--loglevel=error", f"--pack-destination={out}"]
        arguments += [f"--cache={self.folder / 'npm-cache'}"]
        await self._run([*self.tools.npm(), *arguments, *specs])
        archives = [out / _tarball_name(file) for file in files]
        for archive, file in zip(archives, files, strict=True):
            if not archive.is_file():
                raise DownloadUnverified(f"npm brought no tarball of {file.package}")
        return archives

    async def _run(self, command: list[str]) -> None:
        """One child to its end; its output is shown when it fails."""
        environment = self.tools.child_environment() | {"TMPDIR": str(self.folder)}
        try:
            child = await spawn(command, cwd=str(self.folder), env=environment)
        except StartFailed as failed:
            raise Unavailable(f"{os.path.basename(command[0])}: {failed}") from None
        try:
            child.stdin.close()
            async with asyncio.timeout(_LIMIT_S):
                said = await child.stdout.read(1 << 16)
                while await child.stdout.read(1 << 16):
                    pass
                code = await child.wait()
        except TimeoutError:
            raise Unavailable("the download did not end in 15 minutes; try again") from None
        finally:
            with contextlib.suppress(asyncio.CancelledError):
                await child.end()
        if code != 0:
            raise _failure(command, child.stderr_tail() + said.decode(errors="replace"))


def _tarball_name(file: LockedFile) -> str:
    """npm's own name for a packed package: a scope becomes a prefix."""
    return f"{file.package.removeprefix('@').replace('/', '-')}-{file.version}.tgz"


def _failure(command: Sequence[str], said: str) -> Unavailable | DownloadUnverified | OSError:
    if any(word in said for word in _HASH_WORDS):
        return DownloadUnverified()
    for number in _DISK_ERRORS:
        if f"[Errno {number}]" in said or errno.errorcode[number] in said:
            return OSError(number, os.strerror(number))
    tool = "npm" if os.path.basename(command[0]).startswith("npm") else "pip"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    first = next((line for line in lines if "rror" in line or "ERR" in line), "nothing")
    return Unavailable(f"{tool} could not fetch it; is its index reachable? It said: {first[:300]}")
