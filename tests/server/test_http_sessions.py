"""Sessions over real sockets: how many, who leaves, what belongs to a client."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.protocol.session import Session
from sightline.server.sessions import Sessions
from tests.support.clock import Clock
from tests.support.http import REVISION, HttpServer, in_session, initialize
from tests.support.leaks import OUTSIDE
from tests.support.sessions import HTTP, surface

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@pytest.mark.requirement("GT-sessions")
def test_the_least_recently_used_of_64_leaves(server: HttpServer) -> None:
    sessions = [server.request(initialize()).headers["mcp-session-id"] for _ in range(64)]
    assert len(set(sessions)) == 64
    assert server.say(PING, sessions[0]).status == 200
    sessions.append(server.request(initialize()).headers["mcp-session-id"])
    assert server.say(PING, sessions[1]).status == 404
    for kept in (sessions[0], sessions[2], sessions[64]):
        assert server.say(PING, kept).status == 200


@pytest.mark.requirement("GT-sessions", "GA-auth-every-request")
def test_a_session_is_no_credential(server: HttpServer) -> None:
    own = in_session(server.initialize())
    assert server.request(PING, headers=own | {"authorization": "Bearer x"}).status == 401
    assert server.request(PING, headers=own, drop=("authorization",)).status == 401


def test_initialized_is_per_session(server: HttpServer) -> None:
    ready = server.initialize()
    fresh = server.request(initialize()).headers["mcp-session-id"]
    listing = PING | {"method": "tools/list"}
    assert "result" in server.say(listing, ready).json
    assert server.say(listing, fresh).json["error"]["message"] == "Not initialized"


def test_a_failed_first_message_takes_no_place(server: HttpServer) -> None:
    kept = server.initialize()
    for _ in range(70):
        assert server.request(PING).status == 200
    assert server.say(PING, kept).status == 200


# Options of one client


@pytest.fixture(scope="module")
def choosy(place: Path) -> Iterator[HttpServer]:
    """A server whose settings file makes exceptions for one client."""
    home = place / f"choosy-{OUTSIDE}"
    config = home / ".config/sightline"
    config.mkdir(parents=True)
    (config / "sightline.toml").write_text(
        'allowed_origins = ["https://app.example"]\n'
        'allowed_hosts = ["Proxy.example", "exact.example:99"]\n'
        '[clients."gemini-cli-mcp-client"]\n'
        'protocol_header = "session"\ntool_names = "underscore"\ncontent = "mirror"\n',
        encoding="utf-8",
    )
    started = HttpServer.start([str(place / "ws")], home)
    yield started
    started.stop()


def test_a_client_that_never_sends_the_version(choosy: HttpServer) -> None:
    gemini = choosy.request(initialize("gemini-cli-mcp-client")).headers["mcp-session-id"]
    other = choosy.request(initialize()).headers["mcp-session-id"]
    assert choosy.request(PING, headers={"mcp-session-id": gemini}).status == 200
    assert choosy.request(PING, headers={"mcp-session-id": other}).status == 400
    wrong = {"mcp-session-id": gemini, "mcp-protocol-version": "2025-06-18"}
    assert choosy.request(PING, headers=wrong).status == 400
    assert choosy.request(PING, headers={"mcp-session-id": "gone"}).status == 404


def test_names_of_one_client(choosy: HttpServer) -> None:
    answer = choosy.request(initialize("gemini-cli-mcp-client"))
    assert "vscode_lsp_hover" in answer.json["result"]["_meta"]["tools"]
    session = answer.headers["mcp-session-id"]
    choosy.say({"jsonrpc": "2.0", "method": "notifications/initialized"}, session)
    listed = choosy.say(PING | {"method": "tools/list"}, session).json["result"]["tools"]
    assert not [tool for tool in listed if "." in tool["name"]]
    dotted = PING | {"method": "tools/call", "params": {"name": "vscode.lsp.hover"}}
    assert "no such tool" in choosy.say(dotted, session).json["error"]["message"]
    other = choosy.request(initialize())
    assert "vscode.lsp.hover" in other.json["result"]["_meta"]["tools"]


def test_without_sessions_nobody_changes_what_another_client_gets(place: Path) -> None:
    home = place / f"alone-{OUTSIDE}"
    config = home / ".config/sightline"
    config.mkdir(parents=True)
    (config / "sightline.toml").write_text(
        'enable_sessions = false\n[clients."other"]\ntool_names = "underscore"\n', encoding="utf-8"
    )
    listing, version = PING | {"method": "tools/list"}, {"mcp-protocol-version": REVISION}
    with HttpServer.start([str(place / "ws")], home) as alone:
        before = alone.request(listing, headers=version).json
        told = alone.request(initialize("other")).json["result"]["_meta"]["tools"]
        assert alone.request(listing, headers=version).json == before
        assert told == [tool["name"] for tool in before["result"]["tools"]]
        assert "vscode.lsp.hover" in told


@pytest.mark.requirement("GA-origin")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://app.example", 202),
        ("https://APP.example", 403),
        ("https://app.example/", 403),
        ("http://app.example", 403),
        ("https://app.example, https://app.example", 403),
        ("null", 403),
    ],
)
def test_a_listed_origin(choosy: HttpServer, origin: str, status: int) -> None:
    answer = choosy.request({"jsonrpc": "2.0", "id": 1, "result": 1}, headers={"origin": origin})
    assert answer.status == status
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.requirement("GT-host")
@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("proxy.example", 202),
        ("PROXY.example:8080", 202),
        ("exact.example:99", 202),
        ("Exact.Example:99", 202),
        ("exact.example:98", 403),
        ("exact.example", 403),
        ("proxy.example:x", 403),
        ("proxy.example.evil", 403),
    ],
)
def test_a_listed_host(choosy: HttpServer, host: str, status: int) -> None:
    answer = choosy.request({"jsonrpc": "2.0", "id": 1, "result": 1}, headers={"host": host})
    assert answer.status == status


# The store itself


def make() -> Session:
    return Session(surface(), HTTP)


def test_the_store_forgets_what_is_idle() -> None:
    clock = Clock()
    store = Sessions(3, 100, clock)
    first = store.add(make())
    clock.now += 60
    second = store.add(make())
    clock.now += 60
    assert store.find(first) is None
    assert store.find(second) is not None and len(store) == 1


def test_a_found_session_is_the_youngest() -> None:
    clock = Clock()
    store = Sessions(2, 100, clock)
    one, two = store.add(make()), store.add(make())
    store.find(one)
    store.add(make())
    assert store.find(two) is None and store.find(one) is not None


def test_ids_are_long_and_random() -> None:
    store = Sessions(64, 100, Clock())
    names = {store.add(make()) for _ in range(1_000)}
    assert len(names) == 1_000 and all(len(name) == 22 for name in names)
    assert len(store) == 64
