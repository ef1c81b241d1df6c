"""Archives that would write elsewhere, or too much, are refused as a whole."""

import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.failures import ArchiveTooLarge, ArchiveUnsafe
from sightline.lsp.install.archives import Limits, unpack_tarball, unpack_wheel

BAD_NAMES = [
    "/etc/passwd",
    "package/../../x",
    "package/..",
    "package/a/../b",
    "package//x",
    "package/./x",
    "package/a\\..\\b",
    "package/C:/x",
    "package/new\nline",
    "package/" + "n" * 2_000,
    "package/" + "/".join("d" * 70),
]


def tarball(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def entry(name: str, **attributes: object) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    for key, value in attributes.items():
        setattr(info, key, value)
    return info


def wheel(path: Path, entries: dict[str, bytes], *, mode: int = 0o100644) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, content)
    return path


def test_a_good_tarball_is_unpacked_without_its_first_folder(tmp_path: Path) -> None:
    archive = tarball(
        tmp_path / "a.tgz",
        (entry("package/index.js"), b"1"),
        (entry("package/bin/run", mode=0o4777), b"2"),
    )
    unpack_tarball(archive, tmp_path / "out")
    assert (tmp_path / "out/index.js").read_bytes() == b"1"
    assert stat.S_IMODE((tmp_path / "out/bin/run").stat().st_mode) & 0o7000 == 0
    assert stat.S_IMODE((tmp_path / "out/bin/run").stat().st_mode) & stat.S_IXUSR
    assert not stat.S_IMODE((tmp_path / "out/index.js").stat().st_mode) & stat.S_IXUSR


@pytest.mark.parametrize("name", BAD_NAMES)
def test_names_that_leave_or_mislead(tmp_path: Path, name: str) -> None:
    with pytest.raises(ArchiveUnsafe):
        unpack_tarball(tarball(tmp_path / "a.tgz", (entry(name), b"x")), tmp_path / "out")
    with pytest.raises(ArchiveUnsafe):
        unpack_wheel(wheel(tmp_path / "a.whl", {name: b"x"}), tmp_path / "out2")
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["a.tgz", "a.whl"]


@pytest.mark.parametrize(
    ("kind", "target"),
    [
        (tarfile.SYMTYPE, "../../outside"),
        (tarfile.SYMTYPE, "inside"),
        (tarfile.LNKTYPE, "package/inside"),
        (tarfile.CHRTYPE, ""),
        (tarfile.BLKTYPE, ""),
        (tarfile.FIFOTYPE, ""),
    ],
)
def test_links_and_devices(tmp_path: Path, kind: bytes, target: str) -> None:
    link = entry("package/link", type=kind, linkname=target)
    archive = tarball(tmp_path / "a.tgz", (entry("package/inside"), b"x"), (link, b""))
    with pytest.raises(ArchiveUnsafe):
        unpack_tarball(archive, tmp_path / "out")


def test_a_link_in_a_wheel(tmp_path: Path) -> None:
    archive = wheel(tmp_path / "a.whl", {"link": b"/etc/passwd"}, mode=stat.S_IFLNK | 0o777)
    with pytest.raises(ArchiveUnsafe):
        unpack_wheel(archive, tmp_path / "out")


def test_one_name_twice(tmp_path: Path) -> None:
    archive = tarball(
        tmp_path / "a.tgz", (entry("package/File"), b"1"), (entry("package/file"), b"2")
    )
    with pytest.raises(ArchiveUnsafe, match="twice"):
        unpack_tarball(archive, tmp_path / "out")


@pytest.mark.parametrize(
    "limits", [Limits(entries=2), Limits(total_bytes=2_000), Limits(file_bytes=900)]
)
def test_too_many_or_too_large(tmp_path: Path, limits: Limits) -> None:
    members = [(entry(f"package/{number}"), b"x" * 1_000) for number in range(3)]
    with pytest.raises(ArchiveTooLarge):
        unpack_tarball(tarball(tmp_path / "a.tgz", *members), tmp_path / "out", limits)
    entries = {info.name: content for info, content in members}
    with pytest.raises(ArchiveTooLarge):
        unpack_wheel(wheel(tmp_path / "a.whl", entries), tmp_path / "out2", limits)


@given(garbage=st.binary(max_size=200), cut=st.integers(0, 60))
def test_damage_is_refused_not_raised(
    tmp_path_factory: pytest.TempPathFactory, garbage: bytes, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    whole = tarball(folder / "a.tgz", (entry("package/x"), b"x" * 500)).read_bytes()
    (folder / "b.tgz").write_bytes(whole[: len(whole) - 1 - cut] + garbage)
    (folder / "b.whl").write_bytes(garbage)
    for unpack, name in ((unpack_tarball, "b.tgz"), (unpack_wheel, "b.whl")):
        try:
            unpack(folder / name, folder / f"out-{name}")
        except (ArchiveUnsafe, ArchiveTooLarge):
            continue
        # A tail that was cut off may hold nothing but padding; then the whole file is there.
        assert (folder / f"out-{name}" / "x").read_bytes() == b"x" * 500
