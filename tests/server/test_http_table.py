"""The transport table: every row, and which fault wins when there are several."""

import itertools
import json
from typing import Any

import pytest

from tests.support.http import ACCEPT, REVISION, Answer, HttpServer, in_session, initialize
from tests.vectors import load

VECTORS = load("gateway")
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
RESPONSE = {"jsonrpc": "2.0", "id": 1, "result": {}}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
MIB = 1 << 20


def refused(answer: Answer, status: int, **headers: str) -> None:
    """A status and not a byte more."""
    assert answer.status == status
    assert answer.body == b""
    assert answer.headers["content-length"] == "0"
    assert "content-type" not in answer.headers
    allowed = {"content-length", "connection", *headers}
    assert answer.headers.keys() <= allowed, "no server, date or CORS header"
    assert {name: answer.headers[name] for name in headers} == headers


def error(answer: Answer) -> dict[str, Any]:
    """The JSON-RPC error of an answer that is 200."""
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert list(answer.json) == ["jsonrpc", "id", "error"]
    found: dict[str, Any] = answer.json["error"]
    return found


@pytest.fixture(scope="module")
def session(server: HttpServer) -> str:
    return server.initialize()


# Before the application


@pytest.mark.requirement("GT-empty-body")
@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\nnonsense\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /mcp HTTP/9.9\r\nhost: localhost\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nhost: localhost\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nbad header\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: x\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ],
)
def test_what_is_not_http(server: HttpServer, data: bytes) -> None:
    with server.connect() as wire:
        wire.send(data)
        refused(wire.answer(), 400)
        assert wire.closed()


@pytest.mark.parametrize("size", [20_000, 100_000, 3 << 20])
@pytest.mark.parametrize("where", ["one header", "many headers", "the target"])
def test_oversized_headers(server: HttpServer, size: int, where: str) -> None:
    """However the bytes arrive: at once, or in pieces."""
    extra = {
        "one header": f"x-long: {'a' * size}\r\n",
        "many headers": "".join(f"x-{number}: {'a' * 90}\r\n" for number in range(size // 100)),
        "the target": "",
    }[where]
    query = "?" + "a" * size if where == "the target" else ""
    data = f"POST /mcp{query} HTTP/1.1\r\nhost: localhost\r\n{extra}\r\n".encode()
    with server.connect() as wire:
        wire.send(data)
        refused(wire.answer(), 431)
        assert wire.closed()


def test_headers_below_the_limit_pass(server: HttpServer) -> None:
    assert server.request(RESPONSE, headers={"x-long": "a" * 15_000}).status == 202


# Rows 1 to 6: the door


@pytest.mark.requirement("GT-empty-body", "GW-6.1-transport")
@pytest.mark.parametrize(
    "path",
    ["/", "/mcp/", "/MCP", "//mcp", "/%6dcp", "/mcp/x", "/mcp#x", "/x?/mcp", "/mcp%3F",
     "http://127.0.0.1/mcp", "http://localhost:3939/mcp", "*", "/.well-known/oauth-server"],
)  # fmt: skip
@pytest.mark.parametrize("method", ["POST", "GET"])
def test_the_path(server: HttpServer, path: str, method: str) -> None:
    refused(server.request(PING, path=path, method=method, drop=("authorization",)), 404)


@pytest.mark.parametrize("path", ["/mcp", "/mcp?", "/mcp?x=1&y=/mcp/z"])
def test_a_query_is_ignored(server: HttpServer, path: str) -> None:
    assert server.request(RESPONSE, path=path).status == 202


@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH", "TRACE"])
def test_the_method(server: HttpServer, method: str, session: str) -> None:
    refused(server.request(PING, method=method, drop=("authorization",)), 405, allow="POST")
    refused(server.request(b"", method=method, headers=in_session(session)), 405, allow="POST")


@pytest.mark.requirement("GT-host")
@pytest.mark.parametrize(
    "host",
    ["example.com", "127.0.0.2", "127.0.0.1.example.com", "localhost.example.com", "[::2]", "::1",
     "127.0.0.1:x", "127.0.0.1:", "127.0.0.1:1:2", "localhost:²", "[::1]x", "[::1]:", "", "0.0.0.0",
     "127.0.0.1, example.com", "user@localhost", "localhost/"],
)  # fmt: skip
def test_a_foreign_host(server: HttpServer, host: str) -> None:
    refused(server.request(PING, headers={"host": host}, drop=("authorization",)), 403)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:1", "localhost", "LOCALHOST:3939", "[::1]", "[::1]:3939"]
)
def test_our_own_host(server: HttpServer, host: str) -> None:
    assert server.request(RESPONSE, headers={"host": host}).status == 202


@pytest.mark.requirement("GA-origin")
@pytest.mark.parametrize(
    "origin",
    ["null", "http://127.0.0.1", "http://localhost:3939", "https://example.com", "x",
     "file://", "http://127.0.0.1/"],
)  # fmt: skip
def test_any_origin_is_refused_by_default(server: HttpServer, origin: str) -> None:
    refused(server.request(PING, headers={"origin": origin}, drop=("authorization",)), 403)


def test_an_empty_origin_is_none(server: HttpServer) -> None:
    assert server.request(RESPONSE, headers={"origin": ""}).status == 202


@pytest.mark.requirement("GA-auth-every-request")
@pytest.mark.parametrize("message", [PING, RESPONSE, INITIALIZED, initialize()])
@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Bearer x", "Basic {token}", "{token}", "Bearer {token}x",
     "Bearer {token} x", "Bearer {token},{token}", "Bearer\u00a0{token}", "Token {token}"],
)  # fmt: skip
def test_a_wrong_token(server: HttpServer, authorization: str, message: dict[str, Any]) -> None:
    given = authorization.format(token=server.token)
    answer = server.request(message, headers={"authorization": given})
    refused(answer, 401, **{"www-authenticate": "Bearer"})


def test_no_token(server: HttpServer) -> None:
    answer = server.request(initialize(), drop=("authorization",))
    refused(answer, 401, **{"www-authenticate": "Bearer"})


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER", "Bearer \t", " bearer"])
def test_the_scheme_is_read_as_http_says(server: HttpServer, scheme: str) -> None:
    given = {"authorization": f"{scheme} {server.token} "}
    assert server.request(RESPONSE, headers=given).status == 202


@pytest.mark.parametrize("blank", [" ", "\t", " \t "])
def test_blanks_around_a_value_are_not_part_of_it(server: HttpServer, blank: str) -> None:
    own = in_session(server.initialize()) | {"host": "127.0.0.1", "origin": ""}
    spaced = {name: f"{blank}{value}{blank}" for name, value in own.items()}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = server.request(ping, headers=spaced)
    assert (answer.status, answer.json) == (200, {"jsonrpc": "2.0", "id": 1, "result": {}})


def test_the_first_of_two_tokens_counts(server: HttpServer) -> None:
    twice = {"authorization": f"Bearer {server.token}\r\nauthorization: Bearer x"}
    assert server.request(RESPONSE, headers=twice).status == 202
    twice = {"authorization": f"Bearer x\r\nauthorization: Bearer {server.token}"}
    refused(server.request(RESPONSE, headers=twice), 401, **{"www-authenticate": "Bearer"})


@pytest.mark.parametrize(
    "media",
    ["", "text/plain", "application/jsonx", "application/json2", "text/json", "json",
     "application/json; charset=utf-16", "application/json, text/plain", "application /json",
     "application/x-www-form-urlencoded", "multipart/form-data"],
)  # fmt: skip
def test_the_content_type(server: HttpServer, media: str) -> None:
    refused(server.request(PING, headers={"content-type": media}), 415)


def test_no_content_type(server: HttpServer) -> None:
    refused(server.request(PING, drop=("content-type",)), 415)


@pytest.mark.parametrize(
    "media",
    ["Application/JSON", "application/json;charset=utf-8", 'application/json; charset="UTF-8"',
     "application/json ; x=y"],
)  # fmt: skip
def test_good_content_types(server: HttpServer, media: str) -> None:
    assert server.request(RESPONSE, headers={"content-type": media}).status == 202


@pytest.mark.parametrize(
    "accept",
    ["", "*/*", "application/json", "text/event-stream", "application/*, text/event-stream",
     "application/json, text/html", "application/json;q=0, text/event-stream",
     "application/jsonx, text/event-stream"],
)  # fmt: skip
def test_the_accepted_types(server: HttpServer, accept: str) -> None:
    refused(server.request(PING, headers={"accept": accept}), 406)


@pytest.mark.parametrize(
    "accept",
    ["text/event-stream,application/json", "*/*, Application/JSON, TEXT/event-stream",
     "application/json;q=0.1, text/event-stream;q=x",
     "application/json\r\naccept: text/event-stream"],
)  # fmt: skip
def test_good_accepted_types(server: HttpServer, accept: str) -> None:
    assert server.request(RESPONSE, headers={"accept": accept}).status == 202


# Rows 10 to 12: the message


@pytest.mark.requirement("GT-strict-json", "GA-strict-envelope")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"[%b]" % json.dumps(PING).encode(),
        b"null",
        b"\xef\xbb\xbf" + json.dumps(PING).encode(),
        b'{"jsonrpc":"2.0","id":1,"method":"\xff"}',
        b'{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","x":1}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%b1%b}' % (b"[" * 64, b"]" * 64),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","params":%b' % (b"[" * 500_000),
        b'{"jsonrpc":"2.0","id":1,"method":"ping","result":1}',
        b'{"jsonrpc":"2.0","result":1}',
    ],
)
def test_what_is_not_a_message(server: HttpServer, session: str, body: bytes) -> None:
    refused(server.request(body), 400)
    refused(server.say(body, session), 400)


def test_a_response_is_accepted_at_any_time(server: HttpServer, session: str) -> None:
    refused(server.request(RESPONSE), 202)
    refused(server.say(RESPONSE, session), 202)
    refused(server.request(RESPONSE, headers={"mcp-session-id": "unknown"}), 202)


@pytest.mark.parametrize("row", VECTORS["http_cases"], ids=lambda row: row["name"])
def test_known_cases(server: HttpServer, session: str, row: dict[str, Any]) -> None:
    body = row["raw"].encode("latin-1") if "raw" in row else row["body"]
    headers = {"authorization": f"{row.get('scheme', 'Bearer')} {server.token}"}
    if row["session"]:
        headers |= in_session(session if row["session"] == "<SESSION>" else row["session"])
    answer = server.request(body, headers=headers)
    assert answer.status == row["status"]
    if answer.status != 200:
        refused(answer, row["status"])
        return
    assert error(answer)["code"] == row["error"]
    assert answer.json["id"] == row["id"]
    assert error(answer).get("data", {}).get("code") == row["code"]


# Rows 13 to 17: no session header


@pytest.mark.requirement("GT-lifecycle")
def test_without_a_session(server: HttpServer) -> None:
    refused(server.request({"jsonrpc": "2.0", "method": "initialize"}), 400)
    refused(server.request(INITIALIZED), 400)
    refused(server.request(INITIALIZED | {"id": 1}), 400)
    refused(server.request({"jsonrpc": "2.0", "method": "tools/call"}), 400)
    for method in ("ping", "tools/list", "tools/call", "unknown"):
        found = error(server.request(PING | {"method": method}))
        assert found == {"code": -32600, "message": "Not initialized"}
    with_version = server.request(PING, headers={"mcp-protocol-version": REVISION})
    assert error(with_version)["message"] == "Not initialized"


@pytest.mark.requirement("GT-discover")
def test_discover_keeps_the_connection(server: HttpServer) -> None:
    with server.connect() as wire:
        discover = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}
        newer = {"mcp-protocol-version": "2026-07-28"}
        wire.send(server.encode(discover, headers=newer, close=False))
        assert error(wire.answer())["code"] == -32601
        wire.send(server.encode(initialize()))
        assert wire.answer().json["result"]["protocolVersion"] == REVISION


@pytest.mark.parametrize(
    "headers", [{}, {"mcp-protocol-version": "1999-01-01"}, {"mcp-protocol-version": REVISION}]
)
def test_initialize(server: HttpServer, headers: dict[str, str]) -> None:
    answer = server.request(initialize(revision="2025-06-18"), headers=headers)
    assert answer.status == 200
    result = answer.json["result"]
    assert result["protocolVersion"] == REVISION
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert result["serverInfo"]["name"] == "sightline"
    assert 0 < len(result["instructions"]) <= 1_000
    assert len(answer.headers["mcp-session-id"]) == 22


def test_a_failed_initialize_opens_no_session(server: HttpServer) -> None:
    answer = server.request({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})
    assert error(answer)["code"] == -32602
    assert "mcp-session-id" not in answer.headers


# Rows 18 to 26: in a session


@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28", "", "x", f"{REVISION},{REVISION}"])
def test_another_version_header(server: HttpServer, session: str, version: str) -> None:
    own = {"mcp-session-id": session, "mcp-protocol-version": version}
    refused(server.request(PING, headers=own), 400)


def test_no_version_header(server: HttpServer, session: str) -> None:
    refused(server.request(PING, headers={"mcp-session-id": session}), 400)
    refused(server.request(PING, headers={"mcp-session-id": "unknown"}), 400)


@pytest.mark.parametrize("name", ["x", "{session}x", "{session},{session}", "A" * 22, "é"])
def test_an_unknown_session(server: HttpServer, session: str, name: str) -> None:
    given = in_session(name.format(session=session))
    refused(server.request(PING, headers=given), 404)
    refused(server.request(INITIALIZED, headers=given), 404)


def test_an_empty_session(server: HttpServer) -> None:
    refused(server.request(PING, headers=in_session("")), 400)


def test_the_gate_of_a_new_session(server: HttpServer) -> None:
    session = server.request(initialize()).headers["mcp-session-id"]
    for method in ("tools/list", "unknown"):
        assert error(server.say(PING | {"method": method}, session)) == {
            "code": -32600,
            "message": "Not initialized",
            "data": {"detail": "notifications/initialized not received"},
        }
    assert server.say(PING, session).json == {"jsonrpc": "2.0", "id": 1, "result": {}}
    found = error(server.say(INITIALIZED | {"id": 1}, session))
    assert found == {"code": -32600, "message": "Invalid Request"}
    refused(server.say({"jsonrpc": "2.0", "method": "tools/call"}, session), 202)
    refused(server.say(INITIALIZED, session), 202)
    refused(server.say(INITIALIZED, session), 202)
    assert "tools" in server.say(PING | {"method": "tools/list"}, session).json["result"]


def test_in_a_ready_session(server: HttpServer, session: str) -> None:
    assert error(server.say(PING | {"method": "x"}, session)) == {
        "code": -32601,
        "message": "Method not found",
    }
    refused(server.say({"jsonrpc": "2.0", "method": "initialize"}, session), 400)
    assert error(server.say(initialize(), session))["message"] == "Already initialized"
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}
    refused(server.say(cancel, session), 202)


def test_json_is_compact_and_raw(server: HttpServer, session: str) -> None:
    answer = server.say(PING | {"id": "é😀\u2028"}, session)
    assert answer.body == '{"jsonrpc":"2.0","id":"é😀\u2028","result":{}}'.encode()


# Which fault wins


FAULTS: list[tuple[str, int, dict[str, Any]]] = [
    ("path", 404, {"path": "/other"}),
    ("method", 405, {"method": "PUT"}),
    ("host", 403, {"headers": {"host": "example.com"}}),
    ("origin", 403, {"headers": {"origin": "http://example.com"}}),
    ("token", 401, {"headers": {"authorization": "Bearer wrong"}}),
    ("content type", 415, {"headers": {"content-type": "text/plain"}}),
    ("accept", 406, {"headers": {"accept": "*/*"}}),
    ("size", 413, {"body": b"x" * (MIB + 1)}),
    ("json", 400, {"body": b"{"}),
    ("version", 400, {"headers": {"mcp-protocol-version": "x", "mcp-session-id": "x"}}),
    ("session", 404, {"headers": {"mcp-session-id": "x"}}),
]


@pytest.mark.requirement("GT-order")
@pytest.mark.parametrize(
    ("first", "second"),
    list(itertools.combinations(FAULTS, 2)),
    ids=lambda fault: fault[0],
)
def test_the_first_fault_decides(
    server: HttpServer, session: str, first: tuple[str, int, Any], second: tuple[str, int, Any]
) -> None:
    headers = in_session(session) | {"accept": ACCEPT}
    merged: dict[str, Any] = {"body": json.dumps(PING).encode()}
    for _, _, change in (second, first):
        merged |= {key: value for key, value in change.items() if key != "headers"}
        headers |= change.get("headers", {})
    body = merged.pop("body")
    answer = server.request(body, headers=headers, **merged)
    assert (answer.status, answer.body) == (first[1], b"")
