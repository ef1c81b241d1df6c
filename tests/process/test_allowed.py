"""What a child may do outside of itself: held by the kernel, for it and all that it starts."""

import asyncio
import os
import resource
import shutil
import sys
from pathlib import Path

import pytest

from sightline.process import landlock
from sightline.process.allowed import Allowed
from sightline.process.child import StartFailed, spawn
from tests.support.watching import HANG_S

WALLS = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
ENV = {"PATH": os.defpath}


async def said(code: str, allowed: Allowed, cwd: Path) -> str:
    """What a program says that tries something."""
    child = await spawn([sys.executable, "-I", "-c", code], cwd=str(cwd), env=ENV, allowed=allowed)
    async with asyncio.timeout(HANG_S):
        answer = await child.stdout.read()
    await child.end()
    return answer.decode().strip() or child.stderr_tail()


def trying(statement: str) -> str:
    return (
        f"import errno, os, subprocess\ntry:\n    {statement}\nexcept OSError as error:\n"
        "    print(errno.errorcode[error.errno])\nelse:\n    print('done')\n"
    )


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    own, other = tmp_path / "own", tmp_path / "other"
    own.mkdir()
    other.mkdir()
    (other / "text").write_text("secret")
    shutil.copy("/bin/true", other / "program")
    return own, other


@WALLS
@pytest.mark.parametrize(
    "statement",
    [
        "open('{other}/new', 'w')",
        "open('{other}/text', 'a')",
        "os.truncate('{other}/text', 0)",
        "os.unlink('{other}/text')",
        "os.mkdir('{other}/new')",
        "os.symlink('x', '{other}/new')",
        "os.rename('{other}/text', '{own}/text')",
        "os.link('{other}/text', '{own}/text')",
        "subprocess.run(['{other}/program'])",
        "print(open('{other}/text').read())",
        "os.listdir('{other}')",
    ],
)
async def test_what_is_not_allowed_is_refused(statement: str, places: tuple[Path, Path]) -> None:
    own, other = places
    code = trying(statement.format(own=own, other=other))
    system = ("/usr", "/lib", "/lib64", "/bin", "/etc", sys.prefix, sys.base_prefix)
    runs = (os.path.realpath(sys.executable), "/usr/lib64", "/lib64", "/usr/lib")
    refusals = {"EACCES", "EXDEV"}  # the second for what would move or link between folders
    assert await said(code, Allowed(system, runs, (str(own),)), own) in refusals
    assert sorted(path.name for path in other.iterdir()) == ["program", "text"]
    assert (other / "text").read_text() == "secret"


@WALLS
async def test_what_it_starts_stands_inside_the_same_walls(places: tuple[Path, Path]) -> None:
    own, other = places
    code = f"import os; os.system(\"echo x > '{other}/new'; echo x > '{own}/new'\"); print('ran')"
    assert "ran" in await said(code, Allowed(writes=(str(own),)), own)
    assert (own / "new").exists()
    assert not (other / "new").exists()


@WALLS
async def test_what_is_allowed_is_done(places: tuple[Path, Path]) -> None:
    own, other = places
    allowed = Allowed(None, None, (str(own),))
    write = f"open('{own}/new', 'w').write('x'); os.rename('{own}/new', '{own}/old')"
    assert await said(trying(write), allowed, own) == "done"
    assert await said(trying(f"subprocess.run(['{other}/program'])"), allowed, own) == "done"
    assert await said(trying(f"open('{other}/text').read()"), allowed, own) == "done"
    assert (own / "old").read_text() == "x"


@WALLS
async def test_a_command_that_may_not_be_run(places: tuple[Path, Path]) -> None:
    own, other = places
    with pytest.raises(StartFailed, match="Permission denied"):
        await spawn([str(other / "program")], cwd=str(own), env=ENV, allowed=Allowed(runs=()))


@WALLS
async def test_an_enclosed_tree_is_ended_like_any_other(tmp_path: Path) -> None:
    """The keeper stands outside the walls."""
    allowed = Allowed(writes=(str(tmp_path),))
    child = await spawn(["/bin/sh", "-c", "sleep 99 & sleep 99"], cwd="/", env=ENV, allowed=allowed)
    assert await child.end()


async def test_nothing_is_refused_where_anything_is_allowed(places: tuple[Path, Path]) -> None:
    own, other = places
    assert await said(trying(f"open('{other}/new', 'w')"), Allowed(), own) == "done"


async def test_a_crash_leaves_no_memory_behind(tmp_path: Path) -> None:
    """Not even where the user lets programs do so, and whatever the child asks for."""
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        code = (
            "import os, resource\nlimit = resource.getrlimit(resource.RLIMIT_CORE)\n"
            "print(limit, flush=True)\nos.abort()"
        )
        assert await said(code, Allowed(), tmp_path) == "(0, 0)"
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("walls", [None, ("/",)], ids=["alone", "with walls"])
async def test_memory_of_its_own(tmp_path: Path, walls: tuple[str, ...] | None) -> None:
    """Also of what it starts. What is reserved and never used does not count."""
    allowed = Allowed(writes=walls, memory=64 << 20)
    flags = "mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS"
    reserve = f"import mmap; mmap.mmap(-1, 1 << 33, {flags}, prot=0)"
    assert await said(f"{reserve}; x = bytearray(32 << 20); print('fits')", allowed, tmp_path) == (
        "fits"
    )
    grow = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'bytearray(65 << 20)'])"
    assert "MemoryError" in await said(grow, allowed, tmp_path)


async def test_a_complaint_about_memory_is_remembered(tmp_path: Path) -> None:
    loud = "import sys; print('memory allocation of 9 bytes failed', 'x' * 9_999, file=sys.stderr)"
    for code, complained in ((loud, True), (loud.replace("failed", "made"), False)):
        command = [sys.executable, "-I", "-c", code]
        child = await spawn(command, cwd=str(tmp_path), env=ENV)
        async with asyncio.timeout(HANG_S):
            await child.stdout.read()
            await child.wait()
        assert child.out_of_memory is complained
        await child.end()


@pytest.mark.parametrize(("megabytes", "nearly"), [(56, True), (16, False)])
async def test_one_that_ends_without_a_word(tmp_path: Path, megabytes: int, nearly: bool) -> None:
    code = f"import os; x = b'x' * ({megabytes} << 20); os.abort()"
    command = [sys.executable, "-I", "-c", code]
    allowed = Allowed(memory=64 << 20)
    child = await spawn(command, cwd=str(tmp_path), env=ENV, allowed=allowed)
    async with asyncio.timeout(HANG_S):
        await child.wait()
    assert child.out_of_memory is nearly
    await child.end()
