"""Damaged and hostile caches: refused by default, as the original does it with ``--strict-v0``."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.context.support import build, in_process, is_root

Capture = pytest.CaptureFixture[str]
INTEGRITY = (5, "", "error: Cache is invalid: cache integrity error\n")
STRICT = "--strict-v0"


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return build(tmp_path, {"a.md": "alpha beta", "b.md": "beta"})


def resolve(capfd: Capture, cache: Path, *mode: str) -> Any:
    return in_process(capfd, "resolve", "--cache", cache, "--query", "beta", "--budget=99", *mode)


def inspect(capfd: Capture, cache: Path, *mode: str) -> Any:
    done = in_process(capfd, "inspect", "--cache", cache, *mode)
    return json.loads(done.stdout) if done.exit == 0 else done


def document_of(cache: Path, number: int = 0) -> Path:
    manifest = json.loads((cache / "manifest.json").read_text())
    return cache.joinpath(manifest["documents"][number]["file"])


def edit(path: Path, change: Callable[[Any], None]) -> None:
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")


def repoint(cache: Path, file: str) -> None:
    """Lets the manifest's first entry name another file."""

    def change(manifest: Any) -> None:
        manifest["documents"][0]["file"] = file

    edit(cache / "manifest.json", change)


@pytest.mark.parametrize("how", ["content", "id", "metadata", "missing", "not json", "folder"])
@pytest.mark.requirement("CX-damaged-document")
def test_a_damaged_document(how: str, cache: Path, capfd: Capture) -> None:
    document = document_of(cache)
    match how:
        case "content":
            edit(document, lambda value: value.update(content="other"))
        case "id":
            edit(document, lambda value: value.update(id="other"))
        case "metadata":
            edit(document, lambda value: value.update(metadata={"a": 1.5}))
        case "missing":
            document.unlink()
        case "not json":
            document.write_bytes(document.read_bytes() + b"x")
        case _:
            document.unlink()
            document.mkdir()
    assert resolve(capfd, cache) == INTEGRITY
    assert resolve(capfd, cache, STRICT) == INTEGRITY
    assert inspect(capfd, cache)["valid"] is False
    assert inspect(capfd, cache, STRICT)["valid"] is (how != "missing")


@pytest.mark.requirement("CX-damaged-document")
def test_a_document_that_lies_about_its_version(cache: Path, capfd: Capture) -> None:
    edit(document_of(cache), lambda value: value.update(version="sha256:zzz"))
    assert resolve(capfd, cache) == INTEGRITY
    strict = resolve(capfd, cache, STRICT)
    assert strict.exit == 0
    assert '"version":"sha256:zzz"' in strict.stdout


@pytest.mark.parametrize("how", ["traversal", "absolute", "link", "folder link"])
@pytest.mark.requirement("CX-inside-the-cache")
def test_an_entry_that_leaves_the_cache(
    how: str, cache: Path, tmp_path: Path, capfd: Capture
) -> None:
    document = document_of(cache)
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(document, outside / document.name)
    match how:
        case "traversal":
            repoint(cache, f"../outside/{document.name}")
        case "absolute":
            repoint(cache, str(outside / document.name))
        case "link":
            document.unlink()
            document.symlink_to(outside / document.name)
        case _:
            shutil.move(cache / "documents", outside / "documents")
            (cache / "documents").symlink_to(outside / "documents")
    assert resolve(capfd, cache) == INTEGRITY
    report = inspect(capfd, cache)
    assert report["valid"] is False
    strict = resolve(capfd, cache, STRICT)
    assert strict.exit == 0
    assert len(json.loads(strict.stdout)["documents"]) == 2
    assert inspect(capfd, cache, STRICT)["valid"] is True
    assert inspect(capfd, cache, STRICT)["total_bytes"] > report["total_bytes"]


@pytest.mark.requirement("CX-inside-the-cache")
def test_a_link_that_stays_inside_is_fine(cache: Path, capfd: Capture) -> None:
    document = document_of(cache)
    document.rename(cache / "elsewhere.json")
    document.symlink_to(cache / "elsewhere.json")
    assert resolve(capfd, cache).exit == 0
    assert inspect(capfd, cache)["valid"] is True


def test_a_manifest_that_is_a_link_to_another_cache(
    cache: Path, tmp_path: Path, capfd: Capture
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "manifest.json").symlink_to(cache / "manifest.json")
    done = resolve(capfd, other)
    assert (done.exit, done.stdout) == (5, "")
    assert "not a regular file inside the cache" in done.stderr
    assert resolve(capfd, other, STRICT) == INTEGRITY


@pytest.mark.parametrize("name", ["manifest", "document"])
def test_a_pipe_is_not_waited_for(name: str, cache: Path, capfd: Capture) -> None:
    path = cache / "manifest.json" if name == "manifest" else document_of(cache)
    path.unlink()
    os.mkfifo(path)
    for mode in ((), (STRICT,)):
        done = resolve(capfd, cache, *mode)
        assert (done.exit, done.stdout) == (5, "")


@pytest.mark.parametrize("size", [64 * 2**20 + 1, 2**40])
def test_a_file_larger_than_it_may_be(size: int, cache: Path, capfd: Capture) -> None:
    document = document_of(cache)
    os.truncate(document, size)
    assert resolve(capfd, cache) == INTEGRITY
    os.truncate(cache / "manifest.json", size)
    assert resolve(capfd, cache).exit == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not-json", "expected ident at line 1 column 2"),
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{}", "missing field `cache_version` at line 1 column 2"),
        ("\ufeff{}", "expected value at line 1 column 1"),
        (
            "[]",
            "invalid length 0, expected struct CacheManifest with 5 elements at line 1 column 2",
        ),
    ],
)
@pytest.mark.requirement("CX-manifest-reading")
def test_a_manifest_that_is_none(text: str, message: str, cache: Path, capfd: Capture) -> None:
    (cache / "manifest.json").write_text(text, encoding="utf-8")
    for mode in ((), (STRICT,)):
        expected = (5, "", f"error: Cache is invalid: invalid manifest: {message}\n")
        assert resolve(capfd, cache, *mode) == expected
        assert in_process(capfd, "inspect", "--cache", cache, *mode) == expected


@pytest.mark.requirement("CX-not-checked")
def test_what_resolving_does_not_check(cache: Path, capfd: Capture) -> None:
    """Counts, the version, other files and other build versions do not stop a selection."""
    before = resolve(capfd, cache)

    def change(manifest: Any) -> None:
        manifest.update(cache_version="x", document_count=99, more=1)
        manifest["build_config"]["version"] = "999"

    edit(cache / "manifest.json", change)
    (cache / "index.json").write_text("gone")
    (cache / "documents" / "orphan.json").write_text("?")
    assert resolve(capfd, cache) == before
    assert resolve(capfd, cache, STRICT) == before


@pytest.mark.parametrize("how", ["count", "version", "twice", "order"])
@pytest.mark.requirement("CX-inspect-verifies")
def test_inspection_verifies_what_it_claims(how: str, cache: Path, capfd: Capture) -> None:
    assert inspect(capfd, cache)["valid"] is True

    def change(manifest: Any) -> None:
        match how:
            case "count":
                manifest["document_count"] += 1
            case "version":
                manifest["cache_version"] = "sha256:" + "0" * 64
            case "twice":
                manifest["documents"].append(manifest["documents"][0])
                manifest["document_count"] += 1
            case _:
                manifest["documents"].reverse()

    edit(cache / "manifest.json", change)
    assert inspect(capfd, cache)["valid"] is False
    assert inspect(capfd, cache, STRICT)["valid"] is True


def test_entries_listed_twice_or_out_of_order(cache: Path, capfd: Capture) -> None:
    """Both are returned, in the order of scores and ids, as the original does."""

    def change(manifest: Any) -> None:
        manifest["documents"] = [*manifest["documents"][::-1], manifest["documents"][0]]

    edit(cache / "manifest.json", change)
    for mode in ((), (STRICT,)):
        answer = json.loads(resolve(capfd, cache, *mode).stdout)
        ids = [document["id"] for document in answer["documents"]]
        assert ids == ["b.md", "a.md", "a.md"]


@pytest.mark.skipif(is_root(), reason="root may read everything")
def test_a_manifest_that_may_not_be_read(cache: Path, capfd: Capture) -> None:
    (cache / "manifest.json").chmod(0)
    expected = (6, "", "error: I/O error: Permission denied (os error 13)\n")
    assert resolve(capfd, cache) == expected


@pytest.mark.requirement("CX-exit-codes")
def test_a_manifest_that_cannot_be_opened(cache: Path, capfd: Capture) -> None:
    (cache / "manifest.json").unlink()
    (cache / "manifest.json").symlink_to("manifest.json")
    expected = (6, "", "error: I/O error: Too many levels of symbolic links (os error 40)\n")
    assert resolve(capfd, cache) == expected
    assert in_process(capfd, "inspect", "--cache", cache) == expected


@pytest.mark.parametrize("name", ["manifest.json", "a.md"])
def test_a_link_that_leaves_tells_nothing_of_where_it_leads(
    name: str, cache: Path, tmp_path: Path, capfd: Capture
) -> None:
    """Neither that something is there, nor that it is a file, nor that it may not be read."""
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("{}")
    (tmp_path / "shut").write_text("{}")
    (tmp_path / "shut").chmod(0)
    manifest = json.loads((cache / "manifest.json").read_text())
    files = {row["id"]: row["file"] for row in manifest["documents"]}
    link = cache / files.get(name, name)
    answers = set()
    for target in ("none", "none/x", "file", "file/x", "loop", "shut", "."):
        link.unlink()
        link.symlink_to(tmp_path / target)
        answers.add(resolve(capfd, cache))
    ((code, out, _),) = answers
    assert (code, out) == (5, "")
