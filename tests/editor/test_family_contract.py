"""The contract on a real workspace, with the editor source."""

import json
from pathlib import Path

from sightline.calls.validate import load_schema
from tests.editor.families import adopt
from tests.support.http import HttpServer
from tests.support.leaks import OUTSIDE
from tests.support.stdio import StdioServer
from tests.tools import test_contract_live as contract

#: Answers that are about every file.
READ_BY_US = ("references", "workspaceSymbols", "diagnostics.workspace")

globals().update(
    adopt(
        "tests.tools.test_contract_live",
        not_here=(
            # This starts sightline stdio, which has no editor.
            "test_content_on_request",
            # The summary of workspace diagnostics is another one: see below.
            "test_same_question_same_bytes_over_repeats_transports_and_processes",
        ),
    )
)


def test_both_sources_answer_with_the_same_bytes(
    server: HttpServer, root: Path, place: Path
) -> None:
    """Cursors, ids and the order of members included. Only a window speaks of what it shows, and
    only who reads the files himself of those that others cannot.
    """
    stdio = StdioServer.start([str(root)], place / f"home-{OUTSIDE}")
    try:
        stdio.initialize()
        for tool, arguments in contract.questions(root).items():
            paged = "pageSize" in load_schema(f"vscode.lsp.{tool}")["properties"]
            asked = arguments | ({"pageSize": 1} if paged else {})
            first = contract.payload(server, tool, **asked)
            assert contract.payload(server, tool, **asked) == first
            other = stdio.call(f"vscode.lsp.{tool}", asked)["result"]["structuredContent"]
            if tool == "diagnostics.workspace":
                said, note, _ = first["summary"].partition(" The editor reports on the ")
                assert note
                first["summary"] = said
            said, _, unreadable = other["summary"].partition(" 1 file is not UTF-8 (bad.py);")
            assert bool(unreadable) == (tool in READ_BY_US)
            assert json.dumps(first) == json.dumps(other | {"summary": said})
    finally:
        stdio.stop()
