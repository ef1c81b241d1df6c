"""Building a v0 cache from the Markdown files below a folder.

Documents are read, sorted by id, and written to a folder beside the cache that takes its place in
one step; a build that fails leaves nothing behind. By default ``force`` replaces nothing but a
cache, and only when the new one is complete; ``strict`` removes whatever is there first, as v0
does. Two files with equal contents cannot be in one v0 cache: their file names would be equal.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from sightline.context import moments
from sightline.context.documents import Document, document_id, file_stem, version_of
from sightline.context.manifest import CONFIG_V0, BuildConfig, Entry, Manifest, cache_version
from sightline.context.problems import shown_path, system_text

__all__ = [
    "BuildFailed",
    "BuildIO",
    "BuildInvalid",
    "OutputThere",
    "build",
    "check_replaceable",
    "markdown_documents",
    "write_cache",
    "write_packed",
]

Pause = Callable[[], None]


class BuildFailed(Exception):
    """The cache was not built. The text says why."""


class BuildIO(BuildFailed):
    """Something could not be read, written, removed, or was in the way."""


class OutputThere(BuildIO):
    """There is something where the cache would be."""


class BuildInvalid(BuildFailed):
    """The documents do not make a cache."""


class Found(NamedTuple):
    """A file below the sources: where it is, and its path relative to them."""

    path: str
    relative: str


def build(
    sources: str,
    cache: str,
    *,
    force: bool = False,
    strict: bool = False,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
) -> Manifest:
    """Builds the cache of every Markdown file below ``sources``."""
    if not os.path.isdir(sources):
        raise BuildIO(f"sources directory does not exist: {shown_path(sources)}")
    if force and strict and os.path.exists(cache):
        try:
            _remove(cache)
        except OSError as error:
            raise BuildIO(system_text(error)) from None
    if force and not strict:
        check_replaceable(cache, sources)
    documents = list(markdown_documents(sources, pause))
    return write_cache(documents, cache, replace=force and not strict, pause=pause, now_ns=now_ns)


def markdown_documents(sources: str, pause: Pause = lambda: None) -> Iterator[Document]:
    """The documents of a folder: files whose name ends in ``.md``, links to files included."""
    for found in _walk(sources):
        pause()
        try:
            found.relative.encode()
        except UnicodeEncodeError:
            shown = shown_path(found.path)
            raise BuildFailed(f"ID error for {shown}: Path involves invalid UTF-8") from None
        try:
            with open(found.path, "rb") as file:
                raw = file.read()
        except OSError as error:
            raise BuildIO(f"reading {shown_path(found.path)}: {system_text(error)}") from None
        try:
            content = raw.decode("utf-8")
        except UnicodeDecodeError:
            raise BuildFailed(
                f"ingesting {shown_path(found.path)}: Content must be valid UTF-8"
            ) from None
        yield Document(document_id(found.relative), version_of(raw), found.relative, content)


def write_cache(
    documents: list[Document],
    cache: str,
    *,
    config: BuildConfig = CONFIG_V0,
    replace: bool = False,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
) -> Manifest:
    """Writes a cache of these documents, whatever order they come in."""
    _check_absent(cache, replace=replace)
    documents = sorted(documents, key=lambda document: document.id)
    entries = _entries(documents)
    files = zip([entry.file for entry in entries], documents, strict=True)
    contents = ((file, document.encoded()) for file, document in files)
    return _write(contents, entries, cache, config, replace=replace, pause=pause, now_ns=now_ns)


def write_packed(
    packs: Mapping[str, bytes],
    entries: list[Entry],
    cache: str,
    *,
    config: BuildConfig,
    replace: bool = False,
    pause: Pause = lambda: None,
    now_ns: Callable[[], int] = time.time_ns,
) -> Manifest:
    """Writes a cache of files with several documents each. The entries are in order."""
    _check_absent(cache, replace=replace)
    contents = sorted(packs.items())
    return _write(contents, entries, cache, config, replace=replace, pause=pause, now_ns=now_ns)


def _check_absent(cache: str, *, replace: bool) -> None:
    if os.path.exists(cache) and not replace:
        raise OutputThere(f"Output directory already exists: {shown_path(cache)}")


def _write(
    contents: Iterable[tuple[str, bytes]],
    entries: list[Entry],
    cache: str,
    config: BuildConfig,
    *,
    replace: bool,
    pause: Pause,
    now_ns: Callable[[], int],
) -> Manifest:
    version = cache_version(config, entries)
    manifest = Manifest(version, config, moments.written(now_ns()), len(entries), entries)
    unfinished = _beside(cache, f"tmp.{file_stem(version)}")
    try:
        if os.path.exists(unfinished):
            _remove(unfinished)
        os.makedirs(unfinished)
        _write_all(unfinished, contents, manifest, pause)
        _put_in_place(unfinished, cache, replace=replace)
    except OSError as error:
        raise BuildIO(f"IO error: {system_text(error)}") from None
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    return manifest


def _walk(top: str) -> Iterator[Found]:
    """The Markdown files below a folder, entries in the order of their names' bytes."""
    levels = [_listed(top, "")]
    while levels:
        found = next(levels[-1], None)
        if found is None:
            levels.pop()
            continue
        entry, relative = found
        if entry.is_dir(follow_symlinks=False):
            levels.append(_listed(entry.path, relative))
        elif _is_markdown(entry.name) and os.path.isfile(entry.path):
            yield Found(entry.path, relative)


def _listed(folder: str, relative: str) -> Iterator[tuple["os.DirEntry[str]", str]]:
    try:
        with os.scandir(folder) as entries:
            ordered = sorted(entries, key=lambda entry: os.fsencode(entry.name))
    except OSError:
        return  # what cannot be listed is passed over
    for entry in ordered:
        yield entry, f"{relative}/{entry.name}" if relative else entry.name


def _is_markdown(name: str) -> bool:
    stem, dot, ending = name.rpartition(".")
    return bool(stem and dot) and ending == "md"


def _entries(documents: list[Document]) -> list[Entry]:
    for former, document in pairwise(documents):
        if former.id == document.id:
            raise BuildInvalid(f"Duplicate document ID: {document.id}")
    stems: set[str] = set()
    entries: list[Entry] = []
    for document in documents:
        stem = file_stem(document.version)
        if stem in stems:
            raise BuildFailed(f"Filename collision detected for hash fragment: {stem}")
        stems.add(stem)
        entries.append(Entry(document.id, document.version, f"documents/{stem}.json"))
    return entries


def _write_all(
    folder: str, contents: Iterable[tuple[str, bytes]], manifest: Manifest, pause: Pause
) -> None:
    os.mkdir(os.path.join(folder, "documents"))
    for file, data in contents:
        pause()
        _write_file(os.path.join(folder, file), data)
    _write_file(os.path.join(folder, "index.json"), manifest.encoded_index())
    _write_file(os.path.join(folder, "manifest.json"), manifest.encoded())


def _write_file(path: str, data: bytes) -> None:
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _put_in_place(finished: str, cache: str, *, replace: bool) -> None:
    """Moves the new cache to its place; an old one there is removed afterwards."""
    if not replace or not os.path.lexists(cache):
        os.rename(finished, cache)
        return
    old = _beside(cache, f"old.{os.getpid()}")
    os.rename(cache, old)
    try:
        os.rename(finished, cache)
    except OSError:
        os.rename(old, cache)
        raise
    _remove(old)


def check_replaceable(cache: str, sources: str) -> None:
    """``--force`` replaces a cache or an empty folder, and never the sources."""
    if not os.path.exists(cache):
        return
    if not os.path.isdir(cache):
        raise BuildIO(system_text(NotADirectoryError(20, "")))
    real = os.path.realpath(cache)
    if os.path.commonpath([real, os.path.realpath(sources)]) == real:
        raise BuildIO(f"the sources lie inside what would be replaced: {shown_path(cache)}")
    if os.listdir(cache) and not os.path.isfile(os.path.join(cache, "manifest.json")):
        raise BuildIO(f"not replaced, because it is not a cache: {shown_path(cache)}")


def _beside(cache: str, ending: str) -> str:
    """The path of a folder next to the cache: its name with the last ending replaced."""
    folder, name = os.path.split(cache.rstrip("/") or cache)
    stem, dot, _ = name.rpartition(".")
    return os.path.join(folder, f"{stem if stem and dot else name}.{ending}")


def _remove(path: str) -> None:
    """Removes a folder and what is in it; a link is removed, not followed."""
    if os.path.islink(path):
        os.unlink(path)
        return
    if not os.path.isdir(path):
        raise NotADirectoryError(20, os.strerror(20))
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(path)
