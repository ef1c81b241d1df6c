"""Public code bases to measure on, brought from the package registry when a bench needs them.

Nothing of them is committed. Each is pinned by version and checked by hash.
"""

import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

__all__ = ["django", "ripgrep", "scripts", "thirty_thousand"]

_CACHE = Path(__file__).parent.parent / ".cache" / "corpora"
_DJANGO = ("django", "5.2.8", "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f")


def django() -> Path:
    """The source release of django, with its tests: about 2,800 Python files."""
    return _sdist(*_DJANGO)


_RIPGREP = (
    "ripgrep-14.1.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
    "2048f2b64a0bfe8c425df0dea6729d9795f2d8df6cda77bf76cf718439c41453",
)
_ANSIBLE = (
    "ansible-9.5.1-py3-none-any.whl",
    "aed2f4208a75836a27c13555ec5d8d942fe3b089a8b1fc44e8234fadd9e649fd",
)
_HOMEASSISTANT = (
    "homeassistant-2024.3.3-py3-none-any.whl",
    "6e1ec2c07441d63fdcfb8acd2c4bbb6f68bc97330855784d3623d10c38fe3577",
)
_SCRIPTS = {
    "rxjs-7.8.1": "c532167725ab7d085123209156c93cef22f2479cb9c8527060f1cd903aa9d149",
    "effect-3.11.0": "71357e8b3d76a27533f593cb85fb792a94afd9e1d9b4fd2a8d9ae54d4658e5d0",
    "ol-10.2.1": "3aaa9ea766b65f46ad208bbd16bd775e0b04997a1649603b2cd2e2db1dabaa0e",
}


def ripgrep() -> Path:
    """The ripgrep program, from its wheel."""
    program = _CACHE / "ripgrep-14.1.0" / "rg"
    if not program.exists():
        with zipfile.ZipFile(_wheel(*_RIPGREP)) as wheel:
            (name,) = [name for name in wheel.namelist() if name.endswith("/scripts/rg")]
            program.parent.mkdir(parents=True, exist_ok=True)
            program.write_bytes(wheel.read(name))
        program.chmod(0o755)
    return program


def thirty_thousand() -> Path:
    """A tree of more than 30,000 text files: django, ansible, and homeassistant without its texts.

    homeassistant's 29,000 little translation files are left out; they are nobody's source code.
    """
    folder = _CACHE / "thirty-thousand"
    if not folder.is_dir():
        made = _CACHE / "thirty-thousand.part"
        shutil.rmtree(made, ignore_errors=True)
        shutil.copytree(django(), made / "django")
        for pin in (_ANSIBLE, _HOMEASSISTANT):
            with zipfile.ZipFile(_wheel(*pin)) as wheel:
                names = [name for name in wheel.namelist() if "/translations/" not in name]
                wheel.extractall(made / pin[0].partition("-")[0], names)
        made.rename(folder)
    return folder


def scripts() -> Path:
    """TypeScript and JavaScript sources with documentation comments: rxjs, effect, OpenLayers."""
    folder = _CACHE / "scripts"
    if not folder.is_dir():
        made = _CACHE / "scripts.part"
        shutil.rmtree(made, ignore_errors=True)
        made.mkdir(parents=True)
        for pin, sha256 in _SCRIPTS.items():
            name, _, version = pin.rpartition("-")
            command = ["npm", "pack", "--silent", f"{name}@{version}"]
            subprocess.run(command, cwd=_CACHE, check=True, capture_output=True)
            archive = _CACHE / f"{pin}.tgz"
            _check(archive, sha256)
            with tarfile.open(archive) as tar:
                tar.extractall(made / name, filter="data")
            # Only what people wrote, not what was compiled from it.
            for compiled in ("dist", "cjs", "dts"):
                shutil.rmtree(made / name / "package" / compiled, ignore_errors=True)
        for declarations in made.rglob("*.d.ts"):
            declarations.unlink()
        made.rename(folder)
    return folder


def _wheel(file: str, sha256: str) -> Path:
    target = _CACHE / file
    if not target.exists():
        name, version, *_ = file.split("-")
        _CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--only-binary", ":all:", "--python-version", "3.13"),
                *(f"{name}=={version}", "--dest", str(_CACHE)),
            ],
            check=True,
            stderr=subprocess.DEVNULL,
        )
    _check(target, sha256)
    return target


def _check(archive: Path, sha256: str) -> None:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        archive.unlink()
        raise SystemExit(f"{archive.name} is not what was pinned: {found}")


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
    _check(archive, sha256)
    with tarfile.open(archive) as tar:
        tar.extractall(_CACHE, filter="data")
    return folder
