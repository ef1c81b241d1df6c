"""``sightline servers``: pinned, verified, all or nothing, with the user's own pip and npm.

npm talks to a small registry on this machine, pip to a folder of wheels, so that what they bring
can be made wrong.
"""

import base64
import hashlib
import http.server
import io
import json
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.contract.failures import (
    ArchiveTooLarge,
    ArchiveUnsafe,
    DownloadUnverified,
    Failure,
    Unavailable,
)
from sightline.lsp.install.archives import Limits
from sightline.lsp.install.downloads import Tools
from sightline.lsp.install.installer import Installer
from sightline.lsp.install.locks import Lock, LockedFile, platform_name, read_lock
from sightline.lsp.install.manifest import FILE
from sightline.lsp.install.store import Store
from sightline.lsp.registry import builtin
from tests.support.program import environment


def tarball(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def integrity(content: bytes) -> str:
    return "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()


class Registry:
    """One package in one version, as npm's registry would tell it."""

    def __init__(self) -> None:
        self.content = tarball(
            {
                "package/package.json": b'{"name": "sample", "version": "1.0.0"}',
                "package/run.js": b"1",
            }
        )
        self.told = ""
        registry = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = registry.answer(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"

    def answer(self, path: str) -> bytes:
        if path.endswith(".tgz"):
            return self.content
        if path != "/sample":
            return b""
        dist = {"tarball": f"{self.address}/sample-1.0.0.tgz"}
        dist["integrity"] = self.told or integrity(self.content)
        version = {"name": "sample", "version": "1.0.0", "dist": dist}
        return json.dumps(
            {"name": "sample", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": version}}
        ).encode()


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry()
    thread = threading.Thread(target=made.server.serve_forever)
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data" / "servers")


def npm_lock(content: bytes) -> Lock:
    file = LockedFile("sample", "1.0.0", "node_modules/sample", hash=integrity(content))
    return Lock("npm", "1.0.0", (file,))


def installer(
    store: Store, home: Path, registry: Registry, limits: Limits | None = None
) -> Installer:
    own = environment(home) | {"npm_config_registry": registry.address}
    own["npm_config_fetch_retries"] = "0"
    return Installer(store, Tools(own, ()), limits or Limits())


async def failure_of(installer: Installer, lock: Lock) -> Failure:
    with pytest.raises(Failure) as caught:
        await installer.install("sample", lock, lambda step, done, total: None)
    return caught.value


def nothing_is_left(store: Store) -> bool:
    return list(store.folder.iterdir()) == []


async def test_a_tarball_that_is_what_was_pinned(
    home: Path, store: Store, registry: Registry
) -> None:
    seen: list[tuple[str, int, int]] = []
    installing = installer(store, home, registry)
    folder = await installing.install(
        "sample", npm_lock(registry.content), lambda *step: seen.append(step)
    )
    assert (folder / "node_modules/sample/run.js").read_bytes() == b"1"
    assert seen[0] == ("fetching", 0, 1)
    assert seen[-1] == ("unpacking", 1, 1)
    assert store.versions("sample") == ["1.0.0"]
    assert [path.name for path in store.folder.iterdir()] == ["sample"]


async def test_another_tarball_than_was_pinned(
    home: Path, store: Store, registry: Registry
) -> None:
    lock = npm_lock(registry.content)
    registry.content = tarball({"package/run.js": b"something else"})
    assert isinstance(await failure_of(installer(store, home, registry), lock), DownloadUnverified)
    assert nothing_is_left(store)


async def test_a_tarball_that_npm_itself_refuses(
    home: Path, store: Store, registry: Registry
) -> None:
    registry.told = integrity(b"something else")
    failure = await failure_of(installer(store, home, registry), npm_lock(registry.content))
    assert isinstance(failure, DownloadUnverified)
    assert nothing_is_left(store)


async def test_a_pinned_tarball_that_is_unsafe(
    home: Path, store: Store, registry: Registry
) -> None:
    registry.content = tarball({"package/ok.js": b"1", "package/../../../x": b"1"})
    failure = await failure_of(installer(store, home, registry), npm_lock(registry.content))
    assert isinstance(failure, ArchiveUnsafe)
    assert nothing_is_left(store)


async def test_a_pinned_tarball_that_is_too_large(
    home: Path, store: Store, registry: Registry
) -> None:
    small = Limits(total_bytes=10)
    installing = installer(store, home, registry, small)
    failure = await failure_of(installing, npm_lock(registry.content))
    assert isinstance(failure, ArchiveTooLarge)
    assert nothing_is_left(store)


async def test_an_index_that_has_it_not(home: Path, store: Store, registry: Registry) -> None:
    lock = Lock("npm", "1.0.0", (LockedFile("absent", "1.0.0", "node_modules/absent", "x"),))
    failure = await failure_of(installer(store, home, registry), lock)
    assert isinstance(failure, Unavailable)
    assert "npm could not fetch it" in str(failure)
    assert nothing_is_left(store)


async def test_an_update_replaces_the_older_version(
    home: Path, store: Store, registry: Registry
) -> None:
    (store.path("sample", "0.9.0")).mkdir(parents=True)
    installing = installer(store, home, registry)
    await installing.install("sample", npm_lock(registry.content), lambda *step: None)
    assert store.versions("sample") == ["1.0.0"]
    assert store.remove("sample")
    assert not store.remove("sample")


def a_wheel(folder: Path) -> bytes:
    folder.mkdir()
    path = folder / "sample-1.0.0-py3-none-any.whl"
    metadata = "Metadata-Version: 2.1\nName: sample\nVersion: 1.0.0\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("sample/bin/run", "1")
        archive.writestr("sample-1.0.0.dist-info/METADATA", metadata)
        archive.writestr("sample-1.0.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("sample-1.0.0.dist-info/RECORD", "")
    return path.read_bytes()


@pytest.mark.parametrize("right", [True, False])
async def test_a_wheel_by_pip(home: Path, store: Store, tmp_path: Path, right: bool) -> None:
    content = a_wheel(tmp_path / "wheels")
    digest = hashlib.sha256(content if right else b"").hexdigest()
    lock = Lock("pip", "1.0.0", (LockedFile("sample", "1.0.0", "", hashes=(digest,)),))
    own = environment(home) | {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path / "wheels")}
    installing = Installer(store, Tools(own, ()))
    if not right:
        assert isinstance(await failure_of(installing, lock), DownloadUnverified)
        assert nothing_is_left(store)
        return
    folder = await installing.install("sample", lock, lambda *step: None)
    assert (folder / "sample/bin/run").read_text() == "1"


def test_what_a_killed_installation_left_is_swept(store: Store) -> None:
    left = store.folder / ".partial-x"
    left.mkdir(parents=True)
    with store.held(lambda: None):
        assert not left.exists()


@pytest.mark.parametrize(
    ("change", "quickly", "thoroughly"),
    [
        (lambda file: None, [], []),
        (lambda file: file.unlink(), ["run.js"], ["run.js"]),
        (lambda file: file.write_bytes(b""), ["run.js"], ["run.js"]),
        (lambda file: file.write_bytes(b"2"), [], ["run.js"]),
        (lambda file: file.with_name(FILE).write_bytes(b"["), [FILE], [FILE]),
        (lambda file: file.with_name(FILE).unlink(), [], []),
    ],
    ids=["whole", "gone", "cut", "changed", "manifest cut", "no manifest"],
)
def test_damage_is_found(
    store: Store, change: Callable[[Path], None], quickly: list[str], thoroughly: list[str]
) -> None:
    with store.filling("sample", "1") as (_, tree):
        (tree / "run.js").write_bytes(b"1")
    change(store.path("sample", "1") / "run.js")
    assert store.damaged("sample", "1") == quickly
    assert store.damaged("sample", "1", thorough=True) == thoroughly


def test_every_package_has_a_lock_of_its_version_for_this_machine() -> None:
    for name, package in builtin().packages.items():
        lock = read_lock(name)
        assert (lock.kind, lock.version) == (package.kind, package.version), name
        assert lock.for_this_machine(), name
        for file in lock.files:
            assert file.hash.startswith("sha512-") or all(len(h) == 64 for h in file.hashes)
    names = [file.package for file in read_lock("tsgo").for_this_machine()]
    assert names == [f"@typescript/native-preview-{platform_name()}"]
