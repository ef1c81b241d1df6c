"""An outline over the byte cap is an error, unless the client shows less and has it cut."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workspace
from tests.support.http import initialize
from tests.support.stdio import StdioServer

#: 200 of them, with what stands around them in JSON, are more than 524,288 bytes.
LONG = 3_003
CLIENT = "opencode"


def _outline(server: StdioServer, client: str, root: Path) -> Any:
    server.request("initialize", initialize(client)["params"])
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    return server.call("vscode.lsp.documentSymbols", {"uri": (root / "long.py").as_uri()})


@pytest.mark.requirement("GW-5.3-response-bytes", "GW-6.3-CAP_EXCEEDED", "GW-7.4-cap")
def test_200_long_names(workspace: Workspace, stdio: Callable[..., StdioServer]) -> None:
    names = (f"n{number:03}{'n' * (LONG - 4)}" for number in range(200))
    root = workspace({"long.py": "".join(f"def {name}(): pass\n" for name in names)})
    answer = _outline(stdio(str(root)), "tests", root)
    assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/CAP_EXCEEDED"}
    assert answer["error"]["message"].startswith("the outline is larger than max_response_bytes; ")
    shown = _outline(stdio(str(root)), CLIENT, root)["result"]["structuredContent"]
    count = len(shown["symbols"])
    assert 0 < count < 10, "this client was seen to show 30,000 bytes"
    assert shown["summary"].startswith(f"Returned {count} of 200 document symbols (capped).")
