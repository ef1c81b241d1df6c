"""The status socket is a convenience: a server that cannot have one serves all the same."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.server.private_socket import PrivateSocket
from tests.support.http import HttpServer


@pytest.fixture
def open_mask() -> Iterator[None]:
    """Files and folders are made with every right that is asked for."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_mask")
async def test_what_others_make_meanwhile_has_its_rights(tmp_path: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"here\n")

    long = tmp_path / ("f" * 100)
    long.mkdir()
    sockets = [PrivateSocket(folder / "socket", answer) for folder in (long, tmp_path)]
    made = tmp_path / "meanwhile"
    asyncio.get_running_loop().call_soon(made.mkdir)
    await asyncio.gather(*(each.open() for each in sockets))
    after = tmp_path / "after"
    after.mkdir()
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in (made, after)] == [0o777, 0o777]
    assert [stat.S_IMODE(each.path.stat().st_mode) for each in sockets] == [0o600, 0o600]
    reader, writer = await asyncio.open_unix_connection(sockets[1].path)
    assert await reader.readline() == b"here\n"
    writer.close()
    for each in sockets:
        await each.close()
        assert not each.path.exists()


def test_a_home_too_long_for_a_socket_path_still_serves(tmp_path: Path) -> None:
    home = tmp_path / ("h" * 120)
    home.mkdir()
    root = tmp_path / "ws"
    root.mkdir()
    with HttpServer.start([str(root)], home) as server:
        assert server.initialize()
