"""Every server answers every question it offers completely, and refuses the others."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.languages.questions import all_questions
from tests.languages.samples import SERVERS, Sample, only
from tests.support.engine import Engine, engine

EVERY = pytest.mark.parametrize(("server", "sample"), SERVERS, ids=[name for name, _ in SERVERS])


@asynccontextmanager
async def running(server: str, sample: Sample, tmp_path: Path) -> AsyncIterator[Engine]:
    root = sample.write(tmp_path / "ws")
    cache = tmp_path / "cache"
    cache.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    async with engine(root, cache=cache, registry=only(server), environment=environment) as made:
        yield made


@EVERY
async def test_all_questions(server: str, sample: Sample, tmp_path: Path) -> None:
    async with running(server, sample, tmp_path) as engine:
        await all_questions(engine, server, sample)
