"""The code bases that search quality is measured on, brought from package registries when needed.

Nothing of them is committed and nothing of them was trained on. Each is pinned by version.
"""

import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

from bench.corpora import django

__all__ = ["CORPORA", "corpus"]

_CACHE = Path(__file__).parent.parent.parent / ".cache" / "quality"


def _npm(package: str, inner: str) -> Callable[[Path], None]:
    def bring(into: Path) -> None:
        subprocess.run(
            ["npm", "pack", "--silent", package, "--pack-destination", str(into.parent)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        archive = into.parent / (package.replace("@", "-").lstrip("-") + ".tgz")
        with tarfile.open(archive) as tar:
            tar.extractall(into.parent / "unpacked", filter="data")
        shutil.move(into.parent / "unpacked" / "package" / inner, into)

    return bring


def _debian(package: str, inner: str) -> Callable[[Path], None]:
    def bring(into: Path) -> None:
        subprocess.run(
            ["apt-get", "download", package], check=True, cwd=into.parent, capture_output=True
        )
        [archive] = into.parent.glob("*.deb")
        unpacked = into.parent / "unpacked"
        subprocess.run(["dpkg-deb", "-x", str(archive), str(unpacked)], check=True)
        [found] = unpacked.glob(inner)
        if found.suffix == ".zip":
            _unzip_java(found, into)
        else:
            shutil.move(found, into)

    return bring


def _unzip_java(archive: Path, into: Path) -> None:
    """The packages of the class library that programs use most."""
    wanted = tuple(
        f"java.base/java/{name}/"
        for name in ("io", "lang", "math", "net", "nio", "text", "time", "util")
    )
    with zipfile.ZipFile(archive) as file:
        for name in file.namelist():
            if name.startswith(wanted) and ".." not in name:
                file.extract(name, into)


def _django(into: Path) -> None:
    shutil.copytree(django() / "django", into)


#: Language to (name, how it is brought).
CORPORA: dict[str, tuple[str, Callable[[Path], None]]] = {
    "python": ("django 5.2.8", _django),
    "go": (
        "docker engine 20.10.24",
        _debian(
            "golang-github-docker-docker-dev=20.10.24+dfsg1-1+deb12u1",
            "usr/share/gocode/src/github.com/docker/docker",
        ),
    ),
    "typescript": ("rxjs 7.8.2", _npm("rxjs@7.8.2", "src")),
    "java": (
        "openjdk 17, java.base",
        _debian("openjdk-17-source", "usr/lib/jvm/openjdk-17/lib/src.zip"),
    ),
    "rust": (
        "tokio 1.24.2",
        _debian("librust-tokio-dev=1.24.2-1", "usr/share/cargo/registry/tokio-*"),
    ),
}


def corpus(language: str) -> Path:
    """The folder of a code base."""
    folder = _CACHE / language / "source"
    if not folder.is_dir():
        shutil.rmtree(folder.parent, ignore_errors=True)
        folder.parent.mkdir(parents=True)
        CORPORA[language][1](folder)
        shutil.rmtree(folder.parent / "unpacked", ignore_errors=True)
    return folder
