"""The status socket is a convenience: a server that cannot have one serves all the same."""

from pathlib import Path

from tests.support.http import HttpServer


def test_a_home_too_long_for_a_socket_path_still_serves(tmp_path: Path) -> None:
    home = tmp_path / ("h" * 120)
    home.mkdir()
    root = tmp_path / "ws"
    root.mkdir()
    with HttpServer.start([str(root)], home) as server:
        assert server.initialize()
