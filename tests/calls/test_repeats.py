"""A question that is asked again is answered from memory, and never with a stale answer."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from sightline.calls.calls import Caller
from sightline.protocol.revisions import NEWEST
from sightline.workspace.view import View
from tests.support.engine import engine
from tests.support.http import HttpServer

TOOL = "vscode.lsp.definition"


def place(root: Path, line: float = 2) -> dict[str, Any]:
    return {"uri": (root / "main.py").as_uri(), "position": {"line": line, "character": 7}}


def test_the_same_words_get_the_same_bytes(serve: Callable[..., HttpServer], sample: Path) -> None:
    server = serve(sample)
    first = server.call(TOOL, place(sample))
    assert first["result"]["structuredContent"]["summary"] == "Found 1 definition."
    assert server.call(TOOL, place(sample)) == first
    assert server.call(TOOL, place(sample, 2.0)) == first, "2.0 is the same number"


def test_an_edit_in_between_is_seen(serve: Callable[..., HttpServer], sample: Path) -> None:
    server = serve(sample)
    before = server.call(TOOL, place(sample))["result"]["structuredContent"]
    shapes = sample / "shapes.py"
    shapes.write_text("\n\n" + shapes.read_text())
    after = server.call(TOOL, place(sample))["result"]["structuredContent"]
    lines = [answer["locations"][0]["range"]["start"]["line"] for answer in (before, after)]
    assert lines == [0, 2]
    (sample / "main.py").unlink()
    gone = server.call(TOOL, place(sample))["error"]
    assert gone["data"]["code"] == "MCP_LSP_GATEWAY/URI_INVALID"


def test_bad_arguments_stay_bad(serve: Callable[..., HttpServer], sample: Path) -> None:
    server = serve(sample)
    assert "result" in server.call(TOOL, place(sample))
    bad = place(sample) | {"extra": 10**30}
    for _ in range(2):
        assert server.call(TOOL, bad)["error"]["data"]["code"] == "MCP_LSP_GATEWAY/INVALID_PARAMS"


def test_a_folder_exchanged_for_a_link_out_is_denied(
    serve: Callable[..., HttpServer], sample: Path, tmp_path: Path
) -> None:
    """Even where the very same bytes lie behind the link."""
    inner = sample / "inner"
    inner.mkdir()
    (inner / "main.py").write_text((sample / "main.py").read_text())
    server = serve(sample)
    for _ in range(3):
        assert "result" in server.call(TOOL, place(inner))
    inner.rename(tmp_path / "outside")
    inner.symlink_to(tmp_path / "outside")
    denied = server.call(TOOL, place(inner))["error"]
    assert denied["data"]["code"] == "MCP_LSP_GATEWAY/WORKSPACE_DENIED"


async def test_a_bug_on_the_shorter_way_is_logged(sample: Path, tmp_path: Path) -> None:
    """The answer comes by the ordinary way; without the log nobody would know."""

    def broken() -> View:
        raise LookupError("a bug")

    async with engine(sample, cache=tmp_path / "cache") as running:
        calls, caller = running.program.calls, Caller(running.options, NEWEST)
        bugs: list[BaseException] = []
        calls.bug = bugs.append
        await running.call(TOOL, **place(sample))
        known = calls.now(TOOL, place(sample), caller, arrived=time.monotonic())
        assert known is not None and not bugs
        calls.engines = msgspec.structs.replace(calls.engines, begin_now=broken)
        assert calls.now(TOOL, place(sample), caller, arrived=time.monotonic()) is None
        assert [type(bug) for bug in bugs] == [LookupError]
