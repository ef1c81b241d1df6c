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

__all__ = [
    "QUALITY",
    "ansible",
    "django",
    "hiredis",
    "quality",
    "ripgrep",
    "rxjs",
    "scripts",
    "thirty_thousand",
]

_CACHE = Path(__file__).parent.parent / ".cache" / "corpora"
_DJANGO = ("django", "5.2.8", "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f")

#: What the quality of context is measured on, and what it was tuned on.
QUALITY = {
    "aiohttp": ("3.14.5", "5558a7f5a05af9ecf744af91e5baefc436f93c9333e656c27ec253f9a6bbe178"),
    "click": ("8.5.1", "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4"),
    "networkx": ("3.6.1", "26b7c357accc0c8cde558ad486283728b65b6a95d85ee1cd66bafab4c8168509"),
    "scrapy": ("2.19.0", "34130726582b64c91531162ab277c4053e558876d49ba219cb43679e71d80a87"),
    "werkzeug": ("3.1.9", "55ca7c70a75689be937aa27f8ff4b018f06ff4838fc73045560bf0f5a1291060"),
}


def quality(name: str) -> Path:
    """One of the source releases that quality is measured on."""
    return _sdist(name, *QUALITY[name])


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
    return _repository(folder / "package")


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
        shutil.copytree(django(), made / "django", ignore=shutil.ignore_patterns(".git"))
        for pin in (_ANSIBLE, _HOMEASSISTANT):
            with zipfile.ZipFile(_wheel(*pin)) as wheel:
                names = [name for name in wheel.namelist() if "/translations/" not in name]
                wheel.extractall(made / pin[0].partition("-")[0], names)
        made.rename(folder)
    return _repository(folder)


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
            _checked(archive, sha256)
            with tarfile.open(archive) as tar:
                tar.extractall(made / name, filter="data")
            # Only what people wrote, not what was compiled from it.
            for compiled in ("dist", "cjs", "dts"):
                shutil.rmtree(made / name / "package" / compiled, ignore_errors=True)
        for declarations in made.rglob("*.d.ts"):
            declarations.unlink()
        made.rename(folder)
    return _repository(folder)


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
    return _checked(target, sha256)


def _checked(archive: Path, sha256: str) -> Path:
    found = hashlib.sha256(archive.read_bytes()).hexdigest()
    if found != sha256:
        archive.unlink()
        raise SystemExit(f"{archive.name} is not what was pinned: {found}")
    return archive


def _sdist(name: str, version: str, sha256: str) -> Path:
    folder = _CACHE / f"{name}-{version}"
    if folder.is_dir():
        return _repository(folder)
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
    return _repository(folder)


def _repository(folder: Path) -> Path:
    """The folder as one that stands for itself, and is no part of this repository."""
    (folder / ".git").mkdir(exist_ok=True)
    return folder
