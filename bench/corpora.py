"""Public code bases to measure on, brought from the package registry when a bench needs them.

Nothing of them is committed. Each is pinned by version and checked by hash.
"""

import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path

__all__ = ["django"]

_CACHE = Path(__file__).parent.parent / ".cache" / "corpora"
_DJANGO = ("django", "5.2.8", "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f")


def django() -> Path:
    """The source release of django, with its tests: about 2,800 Python files."""
    return _sdist(*_DJANGO)


def _sdist(name: str, version: str, sha256: str) -> Path:
    folder = _CACHE / f"{name}-{version}"
    if folder.is_dir():
        return folder
    _CACHE.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--no-binary", ":all:", f"{name}=={version}", "--dest", str(_CACHE)),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )
    archive = _CACHE / f"{name}-{version}.tar.gz"
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        archive.unlink()
        raise SystemExit(f"{name} {version} is not what was pinned: {found}")
    with tarfile.open(archive) as tar:
        tar.extractall(_CACHE, filter="data")
    return folder
