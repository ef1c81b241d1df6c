"""The handshake on each transport: what may be said when, and what it brings."""

import pytest

from sightline.protocol.revisions import HTTP_REVISIONS, NEWEST, STDIO_REVISIONS, negotiate
from sightline.protocol.session import Profile, Session
from tests.support.sessions import HTTP, STDIO, Peer, surface

PROFILES = [pytest.param(HTTP, id="http"), pytest.param(STDIO, id="stdio")]
REQUESTS = ["ping", "tools/list", "tools/call", "resources/list", "unknown", "$/cancelRequest"]


def error(code: int, message: str) -> dict[str, object]:
    return {"code": code, "message": message}


@pytest.mark.requirement("GT-lifecycle")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("method", REQUESTS)
def test_before_initialize_requests_are_refused(profile: Profile, method: str) -> None:
    answer = Peer(profile).request(method)
    assert answer == {"jsonrpc": "2.0", "id": 1, "error": error(-32600, "Not initialized")}


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "x", "initialize"]
)
def test_before_initialize_notifications_are_violations(profile: Profile, method: str) -> None:
    assert Peer(profile).notify(method) == "violation"


@pytest.mark.requirement("GT-discover")
@pytest.mark.parametrize("profile", PROFILES)
def test_discover_is_not_found_and_harmless(profile: Profile) -> None:
    peer = Peer(profile)
    answer = peer.request("server/discover", {"_meta": {"x": 1}})
    assert answer["error"] == error(-32601, "Method not found")
    assert "result" in peer.initialize()


@pytest.mark.requirement("GA-protocol")
@pytest.mark.parametrize("offered", ["2025-06-18", "2024-11-05", "1999-01-01", "", "x" * 10_000])
def test_http_offers_its_one_revision(offered: str) -> None:
    peer = Peer(HTTP)
    assert peer.initialize(offered)["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize(
    ("offered", "answered"),
    [(revision.name, revision.name) for revision in STDIO_REVISIONS]
    + [("2026-07-28", "2025-11-25"), ("", "2025-11-25"), ("latest", "2025-11-25")],
)
def test_stdio_takes_what_it_knows_and_offers_the_newest_else(offered: str, answered: str) -> None:
    assert Peer(STDIO).initialize(offered)["result"]["protocolVersion"] == answered


def test_revisions_are_in_order() -> None:
    names = [revision.name for revision in STDIO_REVISIONS]
    assert names == sorted(names) and STDIO_REVISIONS[-1] is NEWEST
    assert HTTP_REVISIONS == (NEWEST,)
    assert negotiate("x", HTTP_REVISIONS) is NEWEST


@pytest.mark.parametrize("profile", PROFILES)
def test_the_answer_to_initialize(profile: Profile) -> None:
    assert Peer(profile).initialize() == {
        "jsonrpc": "2.0",
        "id": "init",
        "result": {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": False}},
            "serverInfo": {"name": "sightline", "version": "1.2.3"},
            "instructions": "Ask.",
            "_meta": {"tools": ["a.b", "c"]},
        },
    }


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"protocolVersion": 5},
        {"protocolVersion": None},
        {"protocolVersion": "2025-11-25", "clientInfo": {}},
        {"protocolVersion": "2025-11-25", "clientInfo": {"name": 5}},
        {"protocolVersion": "2025-11-25", "clientInfo": "x"},
        {"protocolVersion": "2025-11-25", "clientInfo": None},
    ],
)
def test_a_bad_initialize_opens_nothing(profile: Profile, params: object) -> None:
    peer = Peer(profile)
    answer = peer.request("initialize", params)
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/INVALID_PARAMS"}
    assert peer.request("ping")["error"] == error(-32600, "Not initialized")
    assert "result" in peer.initialize()


@pytest.mark.parametrize("profile", PROFILES)
def test_initialize_happens_once(profile: Profile) -> None:
    peer = Peer(profile).ready()
    again = peer.initialize("2024-11-05", client="mirror")
    assert again["error"] == error(-32600, "Already initialized")
    assert peer.session.options.content == "empty"
    assert peer.request("ping")["result"] == {}


def test_a_message_that_stands_alone_needs_no_other_before_it() -> None:
    peer = Peer(HTTP)
    peer.session = Session.alone(surface(), HTTP)
    assert "result" in peer.request("tools/list")
    assert "result" in peer.initialize(client="mirror")
    assert peer.session.options == surface().options_for(""), "nobody is known again"
    assert peer.notify("notifications/initialized") is None
    assert peer.notify("initialize") == "violation"


def test_http_waits_for_initialized() -> None:
    peer = Peer(HTTP)
    peer.initialize()
    for method in ("tools/list", "tools/call", "unknown", "server/discover"):
        answer = peer.request(method)
        assert answer["error"] == error(-32600, "Not initialized") | {
            "data": {"detail": "notifications/initialized not received"}
        }
    assert peer.request("ping")["result"] == {}
    assert peer.notify("anything") is None
    assert peer.notify("notifications/initialized") is None
    assert "result" in peer.request("tools/list")
    assert peer.notify("notifications/initialized") is None, "saying it twice changes nothing"


def test_stdio_does_not_wait_for_initialized() -> None:
    peer = Peer(STDIO)
    peer.initialize()
    assert "result" in peer.request("tools/list")


def test_initialized_as_a_request() -> None:
    assert Peer(HTTP).request("notifications/initialized") == "violation"
    early = Peer(STDIO).request("notifications/initialized")
    assert early["error"] == error(-32600, "Not initialized")
    for profile in (HTTP, STDIO):
        peer = Peer(profile)
        peer.initialize()
        answer = peer.request("notifications/initialized")
        assert answer["error"] == error(-32600, "Invalid Request")
        if profile is HTTP:
            assert "error" in peer.request("tools/list"), "the gate stays shut"


@pytest.mark.requirement("GA-allow-list-routing", "GA-read-only")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    "method",
    ["resources/list", "prompts/list", "logging/setLevel", "completion/complete", "server/discover",
     "workspace/applyEdit", "workspace/executeCommand", "TOOLS/LIST", "tools/list ", "__init__"],
)  # fmt: skip
def test_other_methods_are_not_found(profile: Profile, method: str) -> None:
    answer = Peer(profile).ready().request(method, {"a": 1})
    assert answer["error"] == error(-32601, "Method not found")


@pytest.mark.parametrize("profile", PROFILES)
def test_a_response_is_ignored_at_any_time(profile: Profile) -> None:
    peer = Peer(profile)
    assert peer.say({"jsonrpc": "2.0", "id": 1, "result": {}}) is None
    assert peer.ready().say({"jsonrpc": "2.0", "id": 1, "result": {}}) is None


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"cursor": ""}, "CURSOR_INVALID"),
        ({"cursor": "x"}, "CURSOR_INVALID"),
        ({"cursor": 5}, "CURSOR_INVALID"),
        ([], "INVALID_PARAMS"),
    ],
)
def test_tools_list_has_one_page(profile: Profile, params: object, code: str) -> None:
    answer = Peer(profile).ready().request("tools/list", params)
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"code": f"MCP_LSP_GATEWAY/{code}"}
    assert code in answer["error"]["message"]


@pytest.mark.parametrize("params", [None, {}, {"cursor": None}, {"_meta": {"x": 1}}])
def test_tools_list(params: object) -> None:
    answer = Peer(HTTP).ready().request("tools/list", params)
    assert answer["result"] == {"tools": ["dotted", "2025-11-25"]}


@pytest.mark.parametrize(
    "params",
    [
        None,
        [],
        {},
        {"name": 5},
        {"name": None, "arguments": {}},
        {"name": "x" * 257},
        {"name": "c", "arguments": None},
        {"name": "c", "arguments": []},
        {"name": "c", "arguments": "x"},
        {"arguments": {}},
    ],
)
def test_a_tools_call_without_its_shape(params: object) -> None:
    peer = Peer(STDIO).ready()
    answer = peer.request("tools/call", params)
    assert answer["error"]["code"] == -32602
    assert answer["error"]["data"] == {"code": "MCP_LSP_GATEWAY/INVALID_PARAMS"}
    assert not peer.running and not peer.session.calls


def test_a_call_carries_what_the_session_fixed() -> None:
    peer = Peer(STDIO)
    peer.initialize("2025-03-26", client="mirror")
    call = peer.call(id="7", arguments={"a": 1}, _meta={"progressToken": "t", "other": 1}, extra=0)
    assert (call.id, call.tool, call.arguments) == ("7", "c", {"a": 1})
    assert (call.options.content, call.revision.name) == ("mirror", "2025-03-26")
    assert call.progress_token == "t"
    assert peer.call(id=8).arguments == {}
