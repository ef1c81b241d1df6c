"""The files of a root as stamps, and the sweep that finds what changed.

A stamp is what ``lstat`` says without reading a file. The change time is part of it, so that an
edit which keeps size and modification time is seen too. Links are not followed, ``.git`` is not
entered, and files that no tool can say anything about are not stamped. What cannot be listed, for
want of descriptors or because a disk fails, is an ``OSError``, and never a folder without files.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from sightline.contract.ticks import settled_at
from sightline.workspace.regular import open_folder

__all__ = [
    "HIDDEN",
    "MAX_FILES",
    "MAX_READ_BYTES",
    "Files",
    "Stamp",
    "Suspects",
    "Tree",
    "device_of",
    "differences",
    "digest48",
    "file_count",
    "is_absent",
    "is_suspect",
    "is_tracked",
    "last_change",
    "read_folder",
    "scan",
    "stamp_from",
    "stamp_now",
    "stamp_of",
]

MAX_FILES = 1_000_000
#: A larger file of a language is given to no server: 60 MiB make ty take 2.8 GB, and tsgo 2.2.
MAX_READ_BYTES = 64 << 20
HIDDEN = ".git"
_SIGN = 1 << 63
#: Windows opens no folders at all, and says of each that it is closed to us.
_LISTS_WHAT_IS_OPEN = os.scandir in os.supports_fd
#: There is nothing, or no way to it: what is closed to us, or behind links or names that no system
#: call takes, is out of reach for everybody who could answer.
_ABSENT = frozenset(
    (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENAMETOOLONG)
)

#: Files that neither a language server nor the index reads. Everything else is tracked.
_IGNORED_SUFFIXES = frozenset(
    """
    .7z .a .avi .bin .bmp .bz2 .class .db .dll .dylib .eot .exe .flac .gif .gz .ico .jar .jpeg .jpg
    .lib .lock .log .mo .mov .mp3 .mp4 .o .obj .ogg .otf .parquet .pdf .pkl .png .pyc .pyd .pyo .rar
    .rlib .rmeta .so .sqlite .sqlite3 .swo .swp .tar .tgz .tif .tiff .tmp .ttf .wasm .wav .webm
    .webp .whl .woff .woff2 .xz .zip .zst
    """.split()
)


class Stamp(NamedTuple):
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


#: The tracked files of a folder: file name, stamp.
Files = dict[str, Stamp]
#: The tracked files of every folder, by its path. Empty folders are in it too.
Tree = dict[str, Files]
#: The entries of every folder that may not be what a program can read: see ``obstacles``.
Suspects = dict[str, set[str]]


def is_tracked(name: str) -> bool:
    """Whether a file of this name can matter to an answer."""
    stem, dot, suffix = name.rpartition(".")
    if stem.strip(".") and dot + suffix.lower() in _IGNORED_SUFFIXES:
        return False
    return not name.endswith("~")


def is_absent(error: OSError) -> bool:
    """Whether something is not there, or not to be reached by us. Other errors say nothing."""
    return error.errno in _ABSENT


def stamp_now(path: str) -> Stamp | None:
    """The stamp of a regular file or a link, ``None`` if there is none. ``OSError``: unknown."""
    try:
        status = os.lstat(path)
    except OSError as error:
        if is_absent(error):
            return None
        raise
    except ValueError:
        return None
    return stamp_from(status) if _is_file(status) else None


def stamp_of(path: str) -> Stamp | None:
    """The stamp of a regular file or a link, ``None`` if there is none or nobody knows."""
    try:
        return stamp_now(path)
    except OSError:
        return None


def scan(
    top: str,
    limit: int = MAX_FILES,
    unwanted: Callable[[], bool] = lambda: False,
    enters: Callable[[str], bool] = lambda folder: True,
    suspects: Suspects | None = None,
    keeps: Callable[[str, Files], Files] = lambda folder, files: files,
) -> tuple[Tree, bool]:
    """Every folder from ``top`` down with its tracked files, and whether that is all of them.

    It ends early when it has become unwanted. ``enters`` says which subfolders are looked into,
    and ``keeps`` which files of a folder count. What may be an obstacle is put into ``suspects``.
    ``OSError``: a folder cannot be looked into.
    """
    tree: Tree = {}
    waiting = [top]
    count = 0
    while waiting:
        folder = waiting.pop()
        files, subfolders, odd = read_folder(folder, top)
        tree[folder] = keeps(folder, files)
        if odd and suspects is not None:
            suspects[folder] = odd
        count += len(tree[folder])
        if count > limit or unwanted():
            return tree, False
        waiting.extend(filter(enters, subfolders))
    return tree, True


def read_folder(folder: str, top: str) -> tuple[dict[str, Stamp], list[str], set[str]]:
    """The tracked files directly in ``folder``, its subfolders, and the paths of what may be an
    obstacle in a tree from ``top`` down. A link to a folder is no folder.

    One that is not there, or is closed to us, has none. ``OSError``: what is in it is not known.
    """
    files: dict[str, Stamp] = {}
    subfolders: list[str] = []
    odd: set[str] = set()
    try:
        with _listed(folder) as entries:
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if entry.is_dir(follow_symlinks=False):
                    if entry.name == HIDDEN:
                        odd.add(path)
                    else:
                        subfolders.append(path)
                elif is_tracked(entry.name) or not entry.is_file(follow_symlinks=False):
                    _note_entry(path, entry, top, files, odd)
    except OSError as error:
        if not is_absent(error):
            raise OSError(error.errno, error.strerror, folder) from None
    return files, subfolders, odd


@contextmanager
def _listed(folder: str) -> "Iterator[Iterator[os.DirEntry[str]]]":
    """The entries of a folder that is no link, where the system can list what is open."""
    if not _LISTS_WHAT_IS_OPEN:
        with os.scandir(folder) as entries:
            yield entries
        return
    descriptor = open_folder(folder)
    try:
        with os.scandir(descriptor) as entries:
            yield entries
    finally:
        os.close(descriptor)


def _note_entry(
    path: str, entry: "os.DirEntry[str]", top: str, files: dict[str, Stamp], odd: set[str]
) -> None:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        if not is_absent(error):  # gone since it was listed
            raise
        return
    if _is_file(status) and is_tracked(entry.name):
        files[entry.name] = stamp_from(status)
    if is_suspect(path, status, top):
        odd.add(path)


def is_suspect(path: str, status: os.stat_result, top: str) -> bool:
    """Whether an entry of a tree from ``top`` down may be an obstacle, by what ``lstat`` says of
    it. A link that stays in the tree is none: what it leads to is an entry itself.
    """
    mode, is_repository = status.st_mode, path.endswith("/" + HIDDEN)
    if stat.S_ISLNK(mode) and not is_repository:
        return not _stays(path, top)
    if stat.S_ISREG(mode):
        return is_repository or status.st_size > MAX_READ_BYTES
    return is_repository or not (stat.S_ISDIR(mode) or stat.S_ISSOCK(mode))


def _stays(link: str, top: str) -> bool:
    """Whether a link leads to what a scan of the tree sees, and by no other link."""
    folder = os.path.dirname(link)
    try:
        target = os.readlink(link)
    except OSError:
        return False
    climbed = target.lstrip("./")
    place = os.path.normpath(os.path.join(folder, target))
    if "/../" in f"/{climbed}/" or not place.startswith(top + "/") or f"/{HIDDEN}/" in place:
        return False
    if not is_tracked(os.path.basename(place)):
        return False  # its size is not known
    way = os.path.dirname(place)
    while len(way) > len(top) and not f"{folder}/".startswith(way + "/"):
        if os.path.islink(way):
            return False
        way = os.path.dirname(way)
    return True


def differences(before: Tree, after: Tree) -> Iterator[tuple[str, Stamp | None, Stamp | None]]:
    """Every file that is not the same in both: its path, its stamp before and after."""
    for folder in before.keys() | after.keys():
        old, new = before.get(folder, {}), after.get(folder, {})
        if old != new:
            for name in old.keys() | new.keys():
                if old.get(name) != new.get(name):
                    yield f"{folder}/{name}", old.get(name), new.get(name)


def device_of(folder: str) -> int | None:
    """The file system of a folder; ``None`` if there is none, or a link."""
    try:
        status = os.lstat(folder)
    except OSError:
        return None
    return status.st_dev if stat.S_ISDIR(status.st_mode) else None


def file_count(tree: Tree) -> int:
    return sum(map(len, tree.values()))


def last_change(tree: Tree) -> int:
    """When anything in the tree last may have changed, come or gone, by the clock of its files."""
    times = [0]
    for folder, files in list(tree.items()):
        times += [settled_at(stamp.ctime_ns) for stamp in files.values()]
        try:
            # A file that went left its mark on its folder.
            times.append(settled_at(os.lstat(folder).st_ctime_ns))
        except OSError:
            continue
    return max(times)


def digest48(trees: Iterable[tuple[str, Tree]]) -> int:
    """A 48-bit number from every tracked file's path in its root, size and modification time.

    Equal trees give equal numbers in any process, and almost surely only equal trees do.
    """
    hasher = hashlib.sha256()
    for top, tree in trees:
        hasher.update(os.fsencode(top) + b"\0\0")
        for folder in sorted(tree):
            hasher.update(os.fsencode(folder[len(top) :]) + b"\0\0")
            files = [
                f"{name}\0{stamp.size}\0{stamp.mtime_ns}\0"
                for name, stamp in sorted(tree[folder].items())
            ]
            hasher.update(os.fsencode("".join(files)))
    return int.from_bytes(hasher.digest()[:6], "big")


def _is_file(status: os.stat_result) -> bool:
    return stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)


def stamp_from(status: os.stat_result) -> Stamp:
    """What ``stat`` said, in numbers of 64 bits with a sign, which is what can be kept.

    A time after 2262, or before 1677, is longer, and some file systems use all bits for inodes.
    """
    stamp = Stamp(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    if (
        stamp.inode < _SIGN
        and -_SIGN <= stamp.mtime_ns < _SIGN
        and -_SIGN <= stamp.ctime_ns < _SIGN
    ):
        return stamp
    return Stamp(*((number + _SIGN) % (2 * _SIGN) - _SIGN for number in stamp))
