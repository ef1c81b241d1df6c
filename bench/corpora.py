"""Public code bases to measure on, brought from the package registry when a bench needs them.

Nothing of them is committed. Each is pinned by version and checked by hash.
"""

import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path

__all__ = ["ansible", "django", "hiredis", "rxjs"]

_CACHE = Path(__file__).parent.parent / ".cache" / "corpora"
_DJANGO = ("django", "5.2.8", "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f")


def django() -> Path:
    """The source release of django, with its tests: about 2,800 Python files."""
    return _sdist(*_DJANGO)


def ansible() -> Path:
    """The source release of ansible-core: 1,900 YAML files and 230 shell scripts."""
    version, sha256 = "2.19.0", "ca4730837fdd50c8f8ab2fa17c04c448d74c5a27f3d5be7e602d9e3feb9430bc"
    return _sdist("ansible_core", version, sha256)


def hiredis() -> Path:
    """The source release of the Python binding of hiredis: 30 C files, without a build database."""
    version, sha256 = "3.2.1", "5a5f64479bf04dd829fe7029fad0ea043eac4023abc6e946668cbbec3493a78d"
    return _sdist("hiredis", version, sha256)


def rxjs() -> Path:
    """The TypeScript sources in the npm package of rxjs, without what is built from them."""
    sha256 = "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82"
    folder = _CACHE / "rxjs-7.8.2"
    if not folder.is_dir():
        _CACHE.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", "--ignore-scripts", "rxjs@7.8.2"]
        subprocess.run(command, check=True, cwd=_CACHE, stdout=subprocess.DEVNULL)
        archive = _checked(_CACHE / "rxjs-7.8.2.tgz", sha256)
        with tarfile.open(archive) as tar:
            sources = [m for m in tar if m.name.startswith(("package/src/", "package/tsconfig"))]
            tar.extractall(folder, members=sources, filter="data")
    return folder / "package"


def _checked(archive: Path, sha256: str) -> Path:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        archive.unlink()
        raise SystemExit(f"{archive.name} is not what was pinned: {found}")
    return archive


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
    archive = _checked(_CACHE / f"{name}-{version}.tar.gz", sha256)
    with tarfile.open(archive) as tar:
        tar.extractall(_CACHE, filter="data")
    return folder
