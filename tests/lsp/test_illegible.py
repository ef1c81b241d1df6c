"""An answer that cannot be read costs the one who asked a clear error, and the server nothing."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.contract.failures import NotReady, Unavailable
from sightline.contract.settings import Settings
from sightline.lsp.wire.illegible import addressed, members, paired, read
from tests.support.engine import Engine, engine, fake_registry, received
from tests.support.watching import until

GENEROUS = Settings(request_timeout_ms=20_000)
HOVER = {"contents": {"kind": "plaintext", "value": "fine"}}
DEEP = "[" * 100_000 + "]" * 100_000
SPOKEN = '{"contents":{"kind":"plaintext","value":"fine"},"more":%s}'
BAD = f'{{"jsonrpc":"2.0","id":$ID,"result":{SPOKEN % DEEP}}}'
#: Answers of which only the one who asked can be told.
ILLEGIBLE = [
    BAD,
    f'{{"jsonrpc":"2.0","result":{SPOKEN % DEEP},"id":$ID}}',
    f'{{"id": $ID, "error": {{"code": 7, "data": {DEEP}}}, "jsonrpc": "2.0"}}',
    '{"jsonrpc":"2.0","id":$ID,"result":{"contents":"a tab\tin it"}}',
    '{"jsonrpc":"2.0","id":$ID,"result":{"contents":"\\x"}}',
    '{"jsonrpc":"2.0","id":$ID,"result":}',
    '{"jsonrpc":"2.0","id":$ID,"result":{"contents":["fine"}}',
    '{"jsonrpc":"2.0","id":$ID,"error":{"code":"seven"}}',
]
#: What belongs to nobody.
DROPPED = [
    f'{{"jsonrpc":"2.0","method":"window/logMessage","params":{{"message":{DEEP}}}}}',
    '{"jsonrpc":"2.0","method":"$/progress","params":{"token":}}',
    '{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"\t"}}',
    f'{{"jsonrpc":"2.0","id":7,"method":"workspace/configuration","params":{DEEP}}}',
]


@asynccontextmanager
async def following(
    tmp_path: Path, script: dict[str, Any], **overrides: Any
) -> AsyncIterator[Engine]:
    """An engine whose Python server follows a script."""
    root = tmp_path / "ws"
    root.mkdir()
    for name in ("a.py", "b.py"):
        (root / name).write_text("x = 1\n")
    registry = fake_registry(tmp_path / "fake", script, **overrides)
    async with engine(root, cache=tmp_path, registry=registry, settings=GENEROUS) as running:
        await running.ready("a.py")
        yield running


async def hover(running: Engine, column: int = 0) -> Any:
    place = {"line": 0, "character": column}
    found = await running.once("vscode.lsp.hover", uri=running.uri("a.py"), position=place)
    return found["contents"]


def pid_of(running: Engine) -> int:
    (status,) = running.program.pool.status()
    assert status.pid is not None
    return status.pid


@pytest.mark.parametrize(
    ("spelled", "read"),
    [
        (r"a \ud83d b", "a \ufffd b"),
        (r"a \uDE00\ud83d b", "a \ufffd\ufffd b"),
        (r"\ud83d\ud83d\ude00\ude00", "\ufffd\U0001f600\ufffd"),
        (r"\\ud83d \\\ud83d", "\\ud83d \\\ufffd"),
        (r"\\\\\ud83d\\ude00", "\\\\\ufffd\\ude00"),
    ],
)
async def test_half_a_character_is_shown_as_a_replacement(
    tmp_path: Path, spelled: str, read: str
) -> None:
    result = f'{{"contents":{{"kind":"plaintext","value":"{spelled}"}},"{spelled}":1}}'
    answer = f'{{"jsonrpc":"2.0","id":$ID,"result":{result}}}'
    script = {"textDocument/hover": [{"bodies": [answer], "hang": True}]}
    async with following(tmp_path, script) as running:
        assert await hover(running) == [{"kind": "plaintext", "value": read}]


@pytest.mark.parametrize("answer", ILLEGIBLE, ids=range(len(ILLEGIBLE)))
async def test_only_the_one_who_asked_is_told(tmp_path: Path, answer: str) -> None:
    illegible = {"bodies": [answer], "hang": True}
    script = {"textDocument/hover": [*[illegible] * 6, {"result": HOVER}]}
    async with following(tmp_path, script) as running:
        pid = pid_of(running)
        for column in (0, 1) * 3:
            with pytest.raises(Unavailable, match="fake gave an answer that cannot be read"):
                await hover(running, column)
        assert await hover(running) == [HOVER["contents"]]
        assert pid_of(running) == pid


async def test_others_that_wait_are_answered(tmp_path: Path) -> None:
    script = {
        "textDocument/hover": [{"hold": HOVER}],
        "textDocument/definition": [{"bodies": [BAD], "hang": True}, {"result": []}],
    }
    async with following(tmp_path, script) as running:
        first = asyncio.create_task(hover(running))
        await until(
            lambda: any(m.get("method") == "textDocument/hover" for m in told(running)),
            running.root.parent / "fake",
        )
        assert not first.done()
        place = {"uri": running.uri("b.py"), "position": {"line": 0, "character": 0}}
        with pytest.raises(Unavailable, match="cannot be read"):
            await running.once("vscode.lsp.definition", **place)
        await running.once("vscode.lsp.definition", **place)
        assert await first == [HOVER["contents"]]


async def test_what_belongs_to_nobody_is_dropped(tmp_path: Path) -> None:
    script = {"textDocument/hover": [{"bodies": DROPPED, "result": HOVER}]}
    async with following(tmp_path, script, readiness="answers-block") as running:
        pid = pid_of(running)
        assert await hover(running) == [HOVER["contents"]]
        assert pid_of(running) == pid


async def test_what_nobody_can_be_told_of_ends_the_server(tmp_path: Path) -> None:
    """Whoever waits for it would wait for ever."""
    script = {"textDocument/hover": [{"bodies": [f"[{BAD}]"], "hang": True}, {"result": HOVER}]}
    async with following(tmp_path, script) as running:
        with pytest.raises(NotReady):
            await hover(running)


@pytest.mark.parametrize(
    "diagnostics",
    [f"[{DEEP}]", "[7]", '"\t"', '[{"message":"m","range":{}}]', '[],"uri":"\t"'],
    ids=["deep", "numbers", "malformed", "misshapen", "whose"],
)
@pytest.mark.parametrize("rule", ["push", "push-unversioned"])
async def test_diagnostics_that_cannot_be_read(tmp_path: Path, rule: str, diagnostics: str) -> None:
    def published(name: str, version: int, list_: str) -> str:
        uri = f"{(tmp_path / 'ws' / name).as_uri()}{'' if rule == 'push' else f'?{version}'}"
        params = f'{{"uri":"{uri}","version":{version},"diagnostics":{list_}}}'
        return f'{{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{params}}}'

    script = {
        "textDocument/didOpen": [
            {"bodies": [published("a.py", 1, diagnostics)]},
            {"bodies": [published("b.py", 2, "[]")]},
        ]
    }
    async with following(tmp_path, script, diagnostics=rule) as running:
        pid, tool = pid_of(running), "vscode.lsp.diagnostics.document"
        with pytest.raises(Unavailable, match="cannot be read"):
            await running.once(tool, uri=running.uri("a.py"))
        assert (await running.once(tool, uri=running.uri("b.py")))["diagnostics"] == []
        assert pid_of(running) == pid


def told(running: Engine) -> list[dict[str, Any]]:
    return received(running.root.parent / "fake")


@given(st.text(st.characters(), max_size=8) | st.text('\\\ud83d\ude00u"', max_size=8))
def test_every_text_can_be_read(text: str) -> None:
    body = json.dumps(text).encode()
    expected = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert read(paired(body), str) == expected


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text('{}[]",:\\ \t', max_size=6),
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text("{]"), inside, max_size=3)
    ),
)


@given(st.dictionaries(st.sampled_from(["id", "method", "params", "x/y"]), VALUES), st.booleans())
def test_members_are_told_apart_without_being_read(message: dict[str, Any], compact: bool) -> None:
    body = json.dumps(message, separators=(",", ":") if compact else None).encode()
    assert {name: json.loads(value) for name, value in members(body).items()} == message


@pytest.mark.parametrize("piece", [b"[", b'"', b'\\"', b"[]", b'{"a":', b"\\ud83d", b" ", b"a"])
def test_a_message_of_the_largest_size_is_looked_through(piece: bytes) -> None:
    """However it is made: one that is looked through again from each place takes hours."""
    body = b'{"params":' + piece * ((8 << 20) // len(piece)) + b',"id":1,"result":[]}'
    addressed(body), paired(body)
