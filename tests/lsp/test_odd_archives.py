"""Archives that contradict themselves, are damaged inside, or tell more about a file than it holds.

Each is refused as an archive, and never blamed on the disk, on every kind of file system.
"""

import gzip
import io
import resource
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.contract.failures import ArchiveTooLarge, ArchiveUnsafe
from sightline.lsp.install.archives import Limits, unpack_tarball, unpack_wheel

Unpack = Callable[[Path, Path], None]
_MIB = 1 << 20


def tarball(path: Path, names: list[str]) -> Path:
    """A name that ends in a slash is a folder."""
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            info = tarfile.TarInfo(f"package/{name}")
            info.type = tarfile.DIRTYPE if name.endswith("/") else tarfile.REGTYPE
            info.size = 0 if name.endswith("/") else 1
            tar.addfile(info, io.BytesIO(b"x"))
    return path


def wheel(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in dict.fromkeys(names):
            archive.writestr(name, "" if name.endswith("/") else "x")
    return path


KINDS = [
    pytest.param(tarball, unpack_tarball, id="tarball"),
    pytest.param(wheel, unpack_wheel, id="wheel"),
]


@pytest.mark.parametrize(("make", "unpack"), KINDS)
@pytest.mark.parametrize(
    "names",
    [
        ["a", "a/b"],
        ["a/b", "a"],
        ["a", "a/"],
        ["a/", "a"],
        ["A/x", "a"],
        ["a", "A/x"],
        ["A", "a/"],
        ["A/x", "a/y"],
        ["A/", "a/"],
        ["d/A/x", "d/a/y"],
        ["stra\u00dfe", "STRASSE"],
        ["\u00e9", "e\u0301"],
        ["n" * 256],
        ["\u00e9" * 128],
        ["n" * 256 + "/x"],
    ],
    ids=lambda names: ascii(names)[:30],
)
def test_names_that_cannot_all_be_there(
    tmp_path: Path, make: Callable[[Path, list[str]], Path], unpack: Unpack, names: list[str]
) -> None:
    with pytest.raises(ArchiveUnsafe):
        unpack(make(tmp_path / "archive", names), tmp_path / "out")


@pytest.mark.parametrize(("make", "unpack"), KINDS)
def test_names_that_can(
    tmp_path: Path, make: Callable[[Path, list[str]], Path], unpack: Unpack
) -> None:
    names = ["a/", "a/b/x", "a/b/", "a/b/y", "a/", "A.js", "n" * 255]
    unpack(make(tmp_path / "archive", names), tmp_path / "out")
    found = (path.relative_to(tmp_path / "out") for path in (tmp_path / "out").rglob("*"))
    assert sorted(map(str, found)) == ["A.js", "a", "a/b", "a/b/x", "a/b/y", "n" * 255]


@pytest.mark.parametrize(("make", "unpack"), KINDS)
def test_a_file_that_another_archive_put_in_the_way(
    tmp_path: Path, make: Callable[[Path, list[str]], Path], unpack: Unpack
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a").write_bytes(b"")
    for names in (["a/"], ["a/b"], ["a/b/c"], ["a"]):
        with pytest.raises(ArchiveUnsafe):
            unpack(make(tmp_path / "archive", names), tmp_path / "out")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_inside_of_a_wheel(tmp_path: Path, method: int) -> None:
    with zipfile.ZipFile(tmp_path / "whole", "w", method) as archive:
        archive.writestr("a", b"xyz" * 1_000)
    whole = (tmp_path / "whole").read_bytes()
    unpack_wheel(tmp_path / "whole", tmp_path / "out")
    assert (tmp_path / "out/a").read_bytes() == b"xyz" * 1_000
    for place in range(31, whole.index(b"PK\x01\x02")):
        changed = bytearray(whole)
        changed[place] ^= 0xFF
        (tmp_path / "changed").write_bytes(changed)
        try:
            unpack_wheel(tmp_path / "changed", tmp_path / f"out-{place}")
        except (ArchiveUnsafe, ArchiveTooLarge):
            continue
        # Some bits mean nothing, such as those behind the end of a stream.
        assert (tmp_path / f"out-{place}/a").read_bytes() == b"xyz" * 1_000


def test_a_disk_is_not_blamed_on_the_archive(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    archive = tarball(tmp_path / "archive", ["a"])
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limit[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            unpack_tarball(archive, tmp_path / "out")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def header(kind: bytes, size: int) -> bytes:
    """One of a tarball's blocks, which announces ``size`` bytes, be they fewer than none."""
    info = tarfile.TarInfo("package/x")
    info.type = kind
    info.size = size
    return info.tobuf(tarfile.GNU_FORMAT)


EXTENDED = [tarfile.XHDTYPE, tarfile.XGLTYPE, b"X", tarfile.GNUTYPE_LONGNAME]
EXTENDED += [tarfile.GNUTYPE_LONGLINK]


@pytest.mark.parametrize("kind", EXTENDED)
@pytest.mark.parametrize("size", [64 * _MIB, _MIB + 1, -1, -512, 10**12])
def test_a_header_of_any_size(tmp_path: Path, kind: bytes, size: int) -> None:
    with gzip.open(tmp_path / "archive", "wb", compresslevel=1) as out:
        out.write(header(kind, size))
        for _ in range(64):
            out.write(bytes(_MIB))
        out.write(header(tarfile.REGTYPE, 0) + bytes(1024))
    tracemalloc.start()
    try:
        with pytest.raises((ArchiveTooLarge, ArchiveUnsafe)) as caught:
            unpack_tarball(tmp_path / "archive", tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 16 * _MIB
    finally:
        tracemalloc.stop()
    assert caught.type is (ArchiveTooLarge if size > 0 else ArchiveUnsafe)


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_many_headers_that_are_small(tmp_path: Path, kind: bytes) -> None:
    """Those before one entry, and those of the whole archive, are kept until they are used."""
    with gzip.open(tmp_path / "archive", "wb", compresslevel=1) as out:
        for number in range(200):
            record = b"%d=%s\n" % (number, b"x" * 10_000)
            record = b"%d %s" % (len(record) + 6, record)
            out.write(header(kind, len(record)) + record.ljust(10_240, b"\0"))
            if kind == tarfile.XGLTYPE:
                out.write(header(tarfile.DIRTYPE, 0))
        out.write(header(tarfile.DIRTYPE, 0) + bytes(1024))
    with pytest.raises(ArchiveTooLarge):
        unpack_tarball(tmp_path / "archive", tmp_path / "out")


def test_every_entry_may_have_a_header(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "archive", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for number in range(300):
            info = tarfile.TarInfo(f"package/{number}")
            info.pax_headers = {"comment": "x" * 1_000}
            tar.addfile(info)
    unpack_tarball(tmp_path / "archive", tmp_path / "out")
    assert len(list((tmp_path / "out").iterdir())) == 300


@pytest.mark.parametrize(
    "told",
    [
        {"size": "-600"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "package/x"},
        {"GNU.sparse.map": "0,1", "GNU.sparse.size": "9", "GNU.sparse.name": "package/x"},
    ],
    ids=str,
)
def test_sizes_that_a_header_invents(tmp_path: Path, told: dict[str, str]) -> None:
    with tarfile.open(tmp_path / "archive", "w:gz", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("package/x")
        info.pax_headers = told
        info.size = 4_000
        tar.addfile(info, io.BytesIO(b"1\n0\n4\n".ljust(4_000, b"0")))
    with pytest.raises(ArchiveUnsafe):
        unpack_tarball(tmp_path / "archive", tmp_path / "out")


def test_folders_that_no_entry_names_count(tmp_path: Path) -> None:
    archive = tarball(tmp_path / "archive", [f"{number}/a/b/c/x" for number in range(3)])
    with pytest.raises(ArchiveTooLarge):
        unpack_tarball(archive, tmp_path / "out", Limits(entries=9))


def test_a_list_of_entries_that_is_too_long_is_not_read(tmp_path: Path) -> None:
    """``zipfile`` takes 8 bytes of memory for every byte of it before anything can be counted."""
    count = 800_000
    row = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, *[0] * 7, 1, *[0] * 6) + b"a"
    size = count * len(row)
    end = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, 0)
    end += struct.pack("<4sLQL", b"PK\6\7", 0, size, 1)
    end += struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, *[0xFFFF] * 2, *[0xFFFFFFFF] * 2, 0)
    (tmp_path / "archive").write_bytes(row * count + end)
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveTooLarge):
            unpack_wheel(tmp_path / "archive", tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 16 * _MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("damage", [b"\xff" * 512, b"package/y" + bytes(503), b"\xff" * 100])
def test_a_header_that_cannot_be_read_is_no_end(tmp_path: Path, damage: bytes) -> None:
    with gzip.open(tmp_path / "archive", "wb") as out:
        out.write(header(tarfile.REGTYPE, 0) + damage)
    with pytest.raises(ArchiveUnsafe, match="damaged"):
        unpack_tarball(tmp_path / "archive", tmp_path / "out")
