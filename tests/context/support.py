"""Caches, trees and processes for the tests of context caches."""

import base64
import contextlib
import json
import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, settings

from sightline.cli.main import main
from tests.support.program import command, environment

__all__ = [
    "PATIENT",
    "VECTORS",
    "Outcome",
    "build",
    "files_of",
    "in_process",
    "make_cache_root",
    "make_sources",
    "recorded",
    "start_stdio",
    "write_documents",
]

#: Properties are not about speed: no deadline for one example.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
VECTORS = Path(__file__).parents[1] / "vectors" / "context"
_CREATED = re.compile(rb'"created_at": "[^"]*"')


class Outcome(NamedTuple):
    exit: int
    stdout: str
    stderr: str


def recorded(name: str) -> Any:
    return json.loads((VECTORS / "recorded" / name).read_text(encoding="utf-8"))


def in_process(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> Outcome:
    """One ``sightline context`` command, with what it wrote."""
    capfd.readouterr()
    try:
        code = main(["context", *map(str, arguments)])
    except SystemExit as leaving:
        code = int(leaving.code or 0)
    written = capfd.readouterr()
    return Outcome(code, written.out, written.err)


def make_sources(root: Path, files: Mapping[str, Mapping[str, str]]) -> Path:
    """The files of a recorded set."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = base64.b64decode(content["base64"]) if "base64" in content else None
        path.write_bytes(content["utf8"].encode() if data is None else data)
    root.mkdir(parents=True, exist_ok=True)
    return root


def write_documents(root: Path, files: Mapping[str, str]) -> Path:
    return make_sources(root, {name: {"utf8": text} for name, text in files.items()})


def build(folder: Path, files: Mapping[str, str], name: str = "cache") -> Path:
    """A built cache of these files."""
    from sightline.context.build import build as build_cache

    sources = write_documents(folder / f"{name}-sources", files)
    build_cache(str(sources), str(folder / name))
    return folder / name


def make_cache_root(root: Path, tree: Mapping[str, Any], temporary: Path) -> Path:
    """A recorded tree: names ending in / are folders, objects are links."""
    for name, content in tree.items():
        path = root / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, dict):
            path.symlink_to(content["link"])
        else:
            path.write_bytes(content.replace("<TMP>", str(temporary)).encode())
    return root


def files_of(cache: Path) -> dict[str, bytes]:
    """Every file of a cache, without the time it was built."""
    found = {}
    for path in sorted(cache.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name == "manifest.json":
                data = _CREATED.sub(b'"created_at": "1970-01-01T00:00:00Z"', data)
            found[str(path.relative_to(cache))] = data
    return found


@contextlib.contextmanager
def start_stdio(
    home: Path, *arguments: str, variables: Mapping[str, str] | None = None
) -> Iterator["subprocess.Popen[bytes]"]:
    """A ``sightline stdio`` process with variables of its own; killed if it does not end."""
    process = subprocess.Popen(
        command("stdio", *arguments),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(home) | dict(variables or {}),
        cwd=home,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def is_root() -> bool:
    """Whether permissions mean nothing to whoever runs the tests."""
    return os.geteuid() == 0
