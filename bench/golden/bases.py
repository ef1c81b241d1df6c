"""The code bases: each is a pinned package, or several that are put together in a known way."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from bench.golden.pins import CACHE, npm, sdist, wheel

__all__ = ["BASES", "Base"]


@dataclass(frozen=True)
class Base:
    name: str
    language: str
    #: What it stands for, for the page.
    about: str
    make: Callable[[Path], None]
    questions: int = 40
    seed: int = 25
    #: The folders whose identifiers are asked about; all without any.
    within: tuple[str, ...] = ()
    #: Whether scip can index it in a minute or two.
    scip: bool = True
    database: "Database | None" = None

    def folder(self) -> Path:
        """The code base on disk, made now if it is not there yet."""
        made = CACHE / "bases" / self.name
        if not made.is_dir():
            part = made.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir(parents=True)
            self.make(part)
            (part / ".git").mkdir()  # it stands for itself, and is no part of this repository
            part.rename(made)
        made = made.resolve()
        if self.database is not None:
            self.database.write(made)
        return made


def _release(pin: str) -> Callable[[Path], None]:
    return lambda root: sdist(pin, root)


def _with_environment(pin: str, *wheels: str) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        sdist(pin, root)
        packages = root / ".venv/lib/python3.11/site-packages"
        packages.mkdir(parents=True)
        for each in wheels:
            wheel(each, packages)
        (root / ".venv/bin").mkdir()
        (root / ".venv/bin/python").symlink_to("/usr/bin/python3")
        configuration = "home = /usr/bin\nversion = 3.11.7\n"
        (root / ".venv/pyvenv.cfg").write_text(configuration, encoding="utf-8")

    return make


def _several(*pins: str) -> Callable[[Path], None]:
    """Projects with a pyproject each, side by side, as in a repository of several packages."""

    def make(root: Path) -> None:
        for pin in pins:
            sdist(pin, root / "packages" / pin.rpartition("-")[0])

    return make


def _sources_of(pin: str) -> Callable[[Path], None]:
    """An npm package without what was built from its sources."""

    def make(root: Path) -> None:
        npm(pin, root)
        for built in [*root.rglob("dist"), *root.rglob("build")]:
            shutil.rmtree(built, ignore_errors=True)
        for bundle in [*root.rglob("*.min.js"), *root.rglob("*.map")]:
            bundle.unlink()

    return make


_TANSTACK = {
    "query-core": ("5.108.0", []),
    "query-persist-client-core": ("5.104.5", ["query-core"]),
    "query-sync-storage-persister": ("5.104.4", ["query-core", "query-persist-client-core"]),
    "query-async-storage-persister": ("5.104.5", ["query-core", "query-persist-client-core"]),
}


_OPTIONS = {
    "lib": ["es2022", "dom"],
    "module": "esnext",
    "moduleResolution": "bundler",
    "skipLibCheck": True,
    "strict": True,
    "target": "es2022",
    "types": [],
}


def _aliased(root: Path) -> None:
    """Packages that import each other by name, which one configuration leads to their sources."""
    for name, (version, _) in _TANSTACK.items():
        _sources_of(f"@tanstack/{name}@{version}")(root / "packages" / name)
    paths = {f"@tanstack/{name}": [f"./packages/{name}/src/index.ts"] for name in _TANSTACK}
    options = _OPTIONS | {"noEmit": True, "paths": paths}
    _write(root / "tsconfig.json", {"compilerOptions": options, "include": ["packages/*/src"]})


def _referring(root: Path) -> None:
    """Packages that import each other by name, over links, with project references."""
    for name, (version, needed) in _TANSTACK.items():
        folder = root / "packages" / name
        _sources_of(f"@tanstack/{name}@{version}")(folder)
        configuration = {
            "compilerOptions": _OPTIONS
            | {"composite": True, "outDir": "build/modern", "rootDir": "src"},
            "include": ["src"],
            "references": [{"path": f"../{each}"} for each in needed],
        }
        _write(folder / "tsconfig.json", configuration)
        link = root / "node_modules/@tanstack" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(Path("../../packages") / name)
    references = [{"path": f"packages/{name}"} for name in _TANSTACK]
    _write(root / "tsconfig.json", {"files": [], "references": references})
    _write(root / "package.json", {"private": True, "workspaces": ["packages/*"]})


class Database(NamedTuple):
    """A compile database for the sources in a folder, which names the folder by its whole path."""

    folder: str
    flags: tuple[str, ...] = ()

    def write(self, root: Path) -> None:
        """Writes the database again if the code base has moved."""
        place, file = root / self.folder, root / "compile_commands.json"
        entries = [
            {
                "arguments": ["cc", "-I.", *self.flags, "-c", source.name],
                "directory": str(place),
                "file": source.name,
            }
            for source in sorted(place.glob("*.c"))
        ]
        if not file.exists() or json.loads(file.read_text(encoding="utf-8")) != entries:
            file.unlink(missing_ok=True)  # it may be linked to that of another copy
            _write(file, entries)


def _write(file: Path, content: object) -> None:
    file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


_HTTPX = ("anyio-4.4.0", "certifi-2024.7.4", "h11-0.14.0", "httpcore-1.0.5", "idna-3.7")
_FLASK = ("blinker-1.9.0", "click-8.1.8", "itsdangerous-2.2.0", "jinja2-3.1.6", "werkzeug-3.1.3")
_PALLETS = ("click-8.5.1", "itsdangerous-2.2.0", "jinja2-3.1.6", "markupsafe-3.0.2")

BASES = {
    base.name: base
    for base in (
        Base("click", "python", "no environment", _release("click-8.5.1")),
        Base(
            "httpx",
            "python",
            "with an environment",
            _with_environment("httpx-0.27.2", *_HTTPX, "sniffio-1.3.1"),
        ),
        Base("flask", "python", "with an environment", _with_environment("flask-3.1.2", *_FLASK)),
        Base("django", "python", "large, no environment", _release("django-5.2.8"), scip=False),
        Base(
            "networkx",
            "python",
            "imports with a star, imports that lead nowhere",
            _release("networkx-3.6.1"),
            scip=False,
        ),
        Base("attrs", "python", "stubs beside their sources", _release("attrs-23.2.0")),
        Base(
            "scrapy",
            "python",
            "many imports that lead nowhere",
            _release("scrapy-2.19.0"),
            scip=False,
        ),
        Base(
            "pallets",
            "python",
            "six projects in one repository",
            _several(*_PALLETS, "werkzeug-3.1.9", "flask-3.1.2"),
            scip=False,
        ),
        Base("rxjs", "typescript", "one project", _sources_of("rxjs@7.8.2"), within=("src",)),
        Base("tanstack", "typescript", "project references, linked packages", _referring),
        Base("tanstack-aliases", "typescript", "path aliases", _aliased, seed=26),
        Base(
            "eslint",
            "javascript",
            "CommonJS, no configuration",
            _sources_of("eslint@9.17.0"),
            within=("lib",),
        ),
        Base(
            "preact",
            "javascript",
            "declarations beside their sources",
            _sources_of("preact@10.25.4"),
            within=("src", "hooks/src", "compat/src", "debug/src"),
        ),
        Base("hiredis", "c", "no compile database", _release("hiredis-3.2.1")),
        Base("psutil", "c", "no compile database, six systems", _release("psutil-6.1.1")),
        Base(
            "lz4",
            "c",
            "compile database for the library alone",
            _release("lz4-4.3.3"),
            database=Database("lz4libs", ("-DXXH_NAMESPACE=LZ4_",)),
        ),
        Base(
            "hiredis-compiled",
            "c",
            "compile database for every source of the library",
            _release("hiredis-3.2.1"),
            database=Database("vendor/hiredis"),
        ),
    )
}
