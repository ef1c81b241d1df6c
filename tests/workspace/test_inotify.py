"""Events are read as far as they are queued when somebody asks."""

import os
import sys
from pathlib import Path

import pytest

from sightline.workspace.inotify import Inotify


@pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")
def test_a_program_that_writes_all_the_time_keeps_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inotify, read, reads = Inotify(), os.read, list[int]()
    inotify.watch(str(tmp_path))

    def reading(descriptor: int, size: int) -> bytes:
        reads.append(size)
        assert len(reads) < 10
        events = read(descriptor, size)
        (tmp_path / f"{len(reads)}").touch()
        return events

    (tmp_path / "0").touch()
    monkeypatch.setattr(os, "read", reading)
    assert "0" in {event.name for event in inotify.drain()}
    assert len(reads) == 1
    assert "1" in {event.name for event in inotify.drain()}
    inotify.close()
