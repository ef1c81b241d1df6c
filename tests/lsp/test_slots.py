"""Folders that one Sightline holds at a time, seen by two processes."""

import errno
import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sightline.contract.failures import Unavailable
from sightline.lsp.start.slots import Slots

_OTHER = """
import sys
from pathlib import Path
from sightline.lsp.start.slots import Slots
print(Slots().take(Path(sys.argv[1])), flush=True)
sys.stdin.read()
"""


@contextmanager
def another(place: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Another process that has taken a folder, and which one."""
    command = [sys.executable, "-c", _OTHER, str(place)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process
        finally:
            process.kill()


def test_each_process_has_its_own(tmp_path: Path) -> None:
    place = tmp_path / "clangd" / "project"
    slots = Slots()
    assert slots.take(place) == place
    assert slots.take(place) == place, "two servers of one Sightline share it"
    with another(place) as (second, _), another(place) as (third, _):
        assert {second, third} == {f"{place}-2", f"{place}-3"}


def test_what_a_killed_process_had_is_free(tmp_path: Path) -> None:
    place = tmp_path / "project"
    with another(place) as (first, process):
        assert first == str(place)
        process.kill()
        process.wait()
        assert Slots().take(place) == place


def test_a_folder_whose_lock_was_removed_is_held_again(tmp_path: Path) -> None:
    place, slots = tmp_path / "project", Slots()
    slots.take(place)
    (place / ".held").unlink()
    with another(place) as (second, _):
        assert second == str(place)
        assert slots.take(place) == Path(f"{place}-2")


def test_what_was_released_is_free_and_nothing_more_is_taken(tmp_path: Path) -> None:
    place, slots = tmp_path / "project", Slots()
    slots.take(place)
    slots.release()
    with pytest.raises(Unavailable):
        slots.take(place)
    assert Slots().take(place) == place


@pytest.mark.parametrize(
    ("code", "said"),
    [(errno.ENOLCK, Unavailable), (errno.ENOSYS, Unavailable), (errno.EIO, OSError)],
)
def test_a_disk_without_locks_is_named_and_costs_no_descriptor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: type[Exception]
) -> None:
    def fail(lock: int, how: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", fail)
    slots, before = Slots(), len(os.listdir("/proc/self/fd"))
    for _ in range(2):
        with pytest.raises(said, match="XDG_CACHE_HOME" if said is Unavailable else "error"):
            slots.take(tmp_path / "project")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_disk_on_which_nothing_stays_held_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os.path, "samestat", lambda one, other: False)
    with pytest.raises(Unavailable):
        Slots().take(tmp_path / "project")
