"""Claude Code as a client: it connects over both transports, and is told when its token is bad."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.oracles.claude import Claude
from tests.support.http import HttpServer
from tests.support.program import command

pytestmark = [pytest.mark.client, pytest.mark.slow]


def test_it_connects_over_both_transports(
    serve: Callable[..., HttpServer], home: Path, sample: Path
) -> None:
    server = serve(sample)
    claude = Claude(home)
    claude.add_http("over-http", server.url, server.token)
    claude.add_stdio("over-stdio", command("stdio", sample))
    claude.add_http("wrong-token", server.url, "not-the-token")
    states = claude.states()
    assert states.keys() == {"over-http", "over-stdio", "wrong-token"}
    assert states["over-http"] == "✔ Connected"
    assert states["over-stdio"] == "✔ Connected"
    assert "Failed to connect" in states["wrong-token"]
    assert "rejected the configured Authorization header (HTTP 401)" in states["wrong-token"]
