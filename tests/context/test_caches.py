"""Caches by name: which names are let in, what stays loaded, and how a change is seen."""

import asyncio
import json
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.context import caches as caches_module
from sightline.context.caches import Caches
from sightline.context.engine import ContextEngine
from sightline.context.files import CacheFolder
from sightline.context.load import Loaded, load
from sightline.context.problems import CacheProblem, DocumentDamaged, NoSuchCache
from sightline.context.select import Selection
from sightline.context.stopping import Stopped, Workers
from tests.context.support import PATIENT, build


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder


def text(selection: Selection) -> str:
    return "".join(selection.compact())


class Loads:
    """Counts how often a cache is read from disk, with a clock that is far ahead."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0

        def counting(folder: CacheFolder, *arguments: object) -> Loaded:
            self.count += 1
            return load(folder, *arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(caches_module, "open_cache", counting)
        self.caches = Caches(str(root), now_ns=lambda: time.time_ns() + 10**12)

    def resolve(self, name: str, query: str = "x") -> str:
        return text(self.caches.resolve(name, query, 100))


@pytest.mark.parametrize(
    "name",
    [
        *["..", "../root", "a..b", "/etc", "\\x", "x\\y", "nope", "afile", "afile/x", "mini\0mal"],
        *["ln_out", "ln_out/", "x" * 300, "x/" * 3000, "MINIMAL", "loop"],
    ],
)
@pytest.mark.requirement("CX-traversal-names")
@pytest.mark.requirement("CX-traversal-real")
def test_names_that_are_not_let_in(name: str, root: Path) -> None:
    build(root, {"a.md": "x"}, "minimal")
    (root / "a..b").mkdir()
    (root / "afile").write_text("x")
    (root / "ln_out").symlink_to("/usr")
    (root / "loop").symlink_to("loop")
    caches = Caches(str(root))
    with pytest.raises(NoSuchCache):
        caches.resolve(name, "x", 10)
    with pytest.raises(NoSuchCache):
        caches.inspect(name)


@pytest.mark.parametrize("name", ["minimal", "./minimal", "minimal/", "deep/er/minimal", "ln_in"])
@pytest.mark.requirement("CX-traversal-real")
def test_names_that_are(name: str, root: Path) -> None:
    build(root, {"a.md": "x"}, "minimal")
    (root / "deep" / "er").mkdir(parents=True)
    shutil.copytree(root / "minimal", root / "deep/er/minimal")
    (root / "ln_in").symlink_to("minimal")
    assert '"id":"a.md"' in text(Caches(str(root)).resolve(name, "x", 10))


@PATIENT
@given(st.lists(st.sampled_from(["in", "out", "root", ".", "..", "/", "\\", "link", "\0"])))
@pytest.mark.requirement("CX-traversal-names")
def test_no_name_leads_outside(parts: list[str]) -> None:
    """The folder holds one cache, and its parent another that no name reaches."""
    with tempfile.TemporaryDirectory() as folder:
        os.makedirs(f"{folder}/root/in")
        os.mkdir(f"{folder}/out")
        os.symlink(f"{folder}/out", f"{folder}/root/link")
        try:
            real = Caches(f"{folder}/root").locate("".join(parts))
        except NoSuchCache:
            return
        assert real in (f"{folder}/root", f"{folder}/root/in")


@pytest.mark.requirement("CX-stays-loaded")
def test_a_cache_stays_loaded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(root, {"a.md": "x", "b.md": "y"}, "one")
    loads = Loads(root, monkeypatch)
    answers = {loads.resolve("one") for _ in range(5)}
    assert len(answers) == 1
    assert loads.count == 1
    assert json.loads(loads.caches.inspect("one"))["valid"] is True
    assert loads.count == 1


@pytest.mark.parametrize("how", ["rebuilt", "document", "document in place", "manifest", "removed"])
@pytest.mark.requirement("CX-fresh")
def test_a_change_is_seen_at_once(how: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = build(root, {"a.md": "x", "b.md": "y"}, "one")
    loads = Loads(root, monkeypatch)
    before = loads.resolve("one")
    document = next(iter((cache / "documents").iterdir()))
    match how:
        case "rebuilt":
            shutil.rmtree(cache)
            shutil.rmtree(root / "one-sources")
            build(root, {"a.md": "x", "c.md": "z"}, "one")
            assert loads.resolve("one") != before
            return
        case "document":
            changed = document.with_name("other")
            changed.write_bytes(document.read_bytes().replace(b"content", b"Content"))
            os.replace(changed, document)
        case "document in place":
            status = document.stat()
            document.write_bytes(document.read_bytes().replace(b"content", b"Content"))
            os.utime(document, ns=(status.st_atime_ns, status.st_mtime_ns))
        case "manifest":
            (cache / "manifest.json").write_bytes(b"{}")
        case _:
            document.unlink()
    with pytest.raises(CacheProblem):
        loads.resolve("one")
    assert json.loads(loads.caches.inspect("one"))["valid"] is False


@pytest.mark.requirement("CX-fresh")
def test_what_was_just_written_is_not_trusted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second change in the same tick of the file system's clock cannot hide."""
    build(root, {"a.md": "x"}, "one")
    loads = Loads(root, monkeypatch)
    loads.caches = Caches(str(root), now_ns=lambda: 0)
    assert loads.resolve("one") == loads.resolve("one")
    assert loads.count == 2


@pytest.mark.requirement("CX-bounded-memory")
def test_loaded_caches_are_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two", "three"):
        build(root, {"a.md": f"{name} " * 2000}, name)
    loads = Loads(root, monkeypatch)
    size = load(CacheFolder(str(root / "one"))).size
    loads.caches = Caches(str(root), memory=int(size * 2.5), now_ns=lambda: time.time_ns() + 10**12)
    for name in ("one", "two", "one", "three", "one", "two"):
        loads.resolve(name)
    # The first two, the third, and the second again: the first was used in between and stayed.
    assert loads.count == 4
    loads.caches = Caches(str(root), memory=size // 2)
    loads.count = 0
    assert loads.resolve("one") == loads.resolve("one")
    assert loads.count == 2


def test_a_document_of_countless_words(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its words are not kept, and the answer is the same."""
    files = {"many.md": " ".join(f"w{n % 300}" for n in range(900)), "few.md": "w1 w2 w1"}
    build(root, files, "one")
    usual = text(Caches(str(root)).resolve("one", "w1 w2 w1", 10_000))
    monkeypatch.setattr("sightline.context.load.MOST_DISTINCT", 100)
    cache = load(CacheFolder(str(root / "one")))
    assert [document.counts is None for document in cache.documents] == [False, True]
    assert text(Caches(str(root)).resolve("one", "w1 w2 w1", 10_000)) == usual


def test_a_query_of_more_words_than_the_document(root: Path) -> None:
    build(root, {"a.md": "x y x"}, "one")
    query = " ".join([*map(str, range(50)), "x", "x"])
    answer = json.loads(text(Caches(str(root)).resolve("one", query, 10)))
    assert answer["documents"][0]["why"]["term_matches"] == 4


def test_a_cache_larger_than_it_may_be(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(root, {"a.md": "x" * 600, "b.md": "y" * 600}, "one")
    monkeypatch.setattr("sightline.context.load.MAX_CONTEXT_CACHE_BYTES", 1000)
    with pytest.raises(DocumentDamaged):
        Caches(str(root)).resolve("one", "x", 1)
    assert json.loads(Caches(str(root)).inspect("one"))["valid"] is False


@pytest.mark.requirement("CX-list")
def test_listing(root: Path) -> None:
    build(root, {"a.md": "x"}, "b")
    for name in ("é", "a", ".hidden", "Z"):
        (root / name).mkdir()
    (root / "a" / "manifest.json").symlink_to("../b/manifest.json")
    (root / "Z" / "manifest.json").mkdir()
    (root / "file").write_text("")
    (root / "link").symlink_to("b")
    os.mkdir(os.path.join(os.fsencode(root), b"n\xff"))
    found = json.loads(Caches(str(root)).listing())["caches"]
    assert [(row["path"], row["has_manifest"]) for row in found] == [
        (".hidden", False),
        ("Z", False),
        ("a", False),
        ("b", True),
        ("b-sources", False),
        ("n\ufffd", False),
        ("é", False),
    ]


@pytest.mark.requirement("CX-list")
def test_a_folder_that_cannot_be_looked_into_hides_no_other(tmp_path: Path) -> None:
    root = tmp_path
    while len(str(root)) < 4_060:
        root /= "d" * min(200, 4_060 - len(str(root)))
    folders = [root / "a", root / "too long for a file in it"]
    for folder in folders:
        folder.mkdir(parents=True)
    (root / "a/manifest.json").write_text("{}")
    with pytest.raises(OSError, match="too long"):
        (folders[1] / "manifest.json").lstat()
    listed = json.loads(Caches(str(root)).listing())["caches"]
    assert [row["has_manifest"] for row in listed] == [True, False]


@pytest.mark.parametrize("kind", ["missing", "file"])
def test_listing_of_no_folder(kind: str, root: Path) -> None:
    place = root / "caches"
    if kind == "file":
        place.write_text("")
    with pytest.raises(NoSuchCache):
        Caches(str(place)).listing()


@pytest.mark.requirement("CX-stoppable")
async def test_work_stops_when_nobody_waits_for_it(root: Path) -> None:
    build(root, {f"{n}.md": f"x {n}" for n in range(200)}, "one")
    workers = Workers()
    caches = Caches(str(root))
    begun, steps = threading.Event(), []

    def work(pause: Callable[[], None]) -> str:
        def slow() -> None:
            steps.append(1)
            begun.set()
            pause()

        while True:
            caches.resolve("one", "x", 10, slow)

    task = asyncio.create_task(workers.run(work))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    after = len(steps)
    workers.close()
    assert workers._pool is not None
    await asyncio.to_thread(workers._pool.shutdown, wait=True)
    assert len(steps) == after


@pytest.mark.requirement("CX-stoppable")
def test_waiting_for_somebody_elses_load_can_be_stopped(root: Path) -> None:
    build(root, {"a.md": "x"}, "one")
    caches = Caches(str(root))
    calls = iter(range(100))

    def pause() -> None:
        if next(calls) > 3:
            raise Stopped

    with caches._loading, pytest.raises(Stopped):
        caches.resolve("one", "x", 1, pause)


@pytest.mark.requirement("CX-off-the-loop")
async def test_the_event_loop_goes_on(root: Path) -> None:
    """While a cache is loaded, other work of the loop gets its turn."""
    build(root, {f"{n}.md": f"word{n} " * 3000 for n in range(120)}, "big")
    engine = ContextEngine(str(root))
    turns = 0
    task = asyncio.create_task(engine.resolve("big", "word7", 9000))
    async with asyncio.timeout(60):
        while not task.done():
            await asyncio.sleep(0)
            turns += 1
    engine.close()
    assert json.loads(await task)["documents"]
    assert turns > 10
