"""Calls in flight: duplicate ids, both ways to cancel, progress, one answer each."""

import json
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from sightline.protocol.jsonrpc import Error, id_key
from sightline.protocol.session import Call, Profile
from tests.support.sessions import HTTP, STDIO, Peer

PROFILES = [pytest.param(HTTP, id="http"), pytest.param(STDIO, id="stdio")]
MCP, LSP = "notifications/cancelled", "$/cancelRequest"
MEMBER = {MCP: "requestId", LSP: "id"}


@pytest.mark.requirement("ST-7.2-ids")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize(("first", "second"), [(8, "8"), ("8", 8), (8, 8.0), ("a", "a"), (8, 8)])
@pytest.mark.parametrize("method", ["tools/call", "ping", "tools/list", "unknown"])
def test_an_id_in_flight_is_refused(profile: Profile, first: Any, second: Any, method: str) -> None:
    peer = Peer(profile).ready()
    call = peer.call(id=first)
    answer = peer.request(method, {"name": "c"}, id=second)
    assert answer["error"]["code"] == -32600 and answer["id"] == second
    assert peer.finish(call)["id"] == first
    assert peer.call(id=second).id == second, "the id is free again"


@pytest.mark.requirement("ST-7.1-stops", "ST-7.1-one-answer")
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("way", [MCP, LSP])
@pytest.mark.parametrize(("own", "named"), [(8, "8"), ("8", 8), (8, 8), (1.5, "1.5")])
def test_cancelling(profile: Profile, way: str, own: Any, named: Any) -> None:
    peer = Peer(profile).ready()
    call = peer.call(id=own)
    assert peer.notify(way, {MEMBER[way]: named, "reason": "enough"}) is None
    assert peer.cancelled == [call]
    silent = profile is STDIO and way == MCP
    answer = peer.finish(call)
    assert answer is None if silent else answer["id"] == own


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("way", [MCP, LSP])
@pytest.mark.parametrize(
    "params",
    [None, [], {}, {"requestId": None, "id": None}, {"requestId": True, "id": True},
     {"requestId": {}, "id": []}, {"requestId": "9", "id": 9}, {"requestId": "", "id": ""},
     {"requestId": int("9" * 400), "id": int("9" * 400)}, {"requestId": "x" * 999, "id": "x" * 9}],
)  # fmt: skip
def test_cancelling_what_is_not_there(profile: Profile, way: str, params: Any) -> None:
    peer = Peer(profile).ready()
    call = peer.call(id="true")
    assert peer.notify(way, params) is None
    assert not peer.cancelled
    assert peer.finish(call)["id"] == "true"


@pytest.mark.parametrize("way", [MCP, LSP])
def test_cancelling_twice_or_too_late_does_nothing(way: str) -> None:
    peer = Peer(HTTP).ready()
    call = peer.call(id=1)
    for _ in range(2):
        peer.notify(way, {MEMBER[way]: 1})
    assert peer.cancelled == [call]
    assert peer.finish(call)["id"] == 1
    peer.notify(way, {MEMBER[way]: 1})
    assert peer.cancelled == [call]


def test_the_first_way_to_cancel_decides() -> None:
    for first, second, answered in ((MCP, LSP, False), (LSP, MCP, True)):
        peer = Peer(STDIO).ready()
        call = peer.call(id=1)
        peer.notify(first, {MEMBER[first]: 1})
        peer.notify(second, {MEMBER[second]: 1})
        assert (peer.finish(call) is not None) == answered


def test_initialize_cannot_be_cancelled() -> None:
    peer = Peer(STDIO)
    peer.initialize()
    peer.notify(MCP, {"requestId": "init"})
    assert not peer.cancelled


@pytest.mark.parametrize("token", ["t", 7, 0, -1, 2**70])
def test_progress_goes_to_whoever_asked(token: Any) -> None:
    peer = Peer(STDIO).ready()
    call = peer.call(_meta={"progressToken": token})
    body = peer.session.progress(call, {"progress": 1, "message": "half"})
    assert body is not None
    assert json.loads(body) == {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": 1, "message": "half"},
    }


@pytest.mark.parametrize("token", [None, True, 1.5, {}, [], "", int("9" * 400)])
def test_no_progress_without_a_token(token: Any) -> None:
    peer = Peer(STDIO).ready()
    call = peer.call(_meta={"progressToken": token})
    assert peer.session.progress(call, {"progress": 1}) is None


@pytest.mark.requirement("ST-7.3-no-progress", "ST-9.2-none-after-the-end")
def test_no_progress_after_a_cancel_or_the_end() -> None:
    peer = Peer(STDIO).ready()
    cancelled = peer.call(id=1, _meta={"progressToken": "a"})
    peer.notify(LSP, {"id": 1})
    assert peer.session.progress(cancelled, {"progress": 1}) is None
    finished = peer.call(id=2, _meta={"progressToken": "b"})
    peer.finish(finished)
    assert peer.session.progress(finished, {"progress": 1}) is None


def test_a_call_cannot_be_finished_twice() -> None:
    peer = Peer(STDIO).ready()
    call = peer.call()
    peer.finish(call)
    with pytest.raises(RuntimeError):
        peer.session.finish(call, Error(-32603, "again"))


class Conversation(RuleBasedStateMachine):
    """Random conversations against a model that is a dictionary.

    The model knows which ids are in flight and whether an answer is owed. Every request must get
    exactly one answer unless it was taken back silently, and no answer comes for anything else.
    """

    profile: Profile = STDIO
    calls = Bundle("calls")
    ids = st.sampled_from([1, "1", 2, 2.0, "2", "x", 1.5, "1.5"])

    def __init__(self) -> None:
        super().__init__()
        self.peer = Peer(self.profile).ready()
        self.owed: dict[str, bool] = {}
        self.taken_back: set[str] = set()

    @rule(target=calls, id=ids)
    def call(self, id: Any) -> Call | None:
        answer = self.peer.request("tools/call", {"name": "c"}, id=id)
        if id_key(id) in self.owed:
            assert answer["error"]["code"] == -32600 and answer["id"] == id
            return None
        assert answer is None
        self.owed[id_key(id)] = True
        return self.peer.running[-1]

    @rule(id=ids, method=st.sampled_from(["ping", "tools/list", "nothing"]))
    def ask(self, id: Any, method: str) -> None:
        answer = self.peer.request(method, id=id)
        assert answer["id"] == id
        in_flight = id_key(id) in self.owed
        expected = {"ping": None, "tools/list": None, "nothing": -32601}[method]
        assert answer.get("error", {}).get("code") == (-32600 if in_flight else expected)

    @rule(id=ids, way=st.sampled_from([MCP, LSP]))
    def cancel(self, id: Any, way: str) -> None:
        before = len(self.peer.cancelled)
        assert self.peer.notify(way, {MEMBER[way]: id}) is None
        key = id_key(id)
        counts = key in self.owed and key not in self.taken_back
        assert len(self.peer.cancelled) == before + counts
        if counts:
            self.taken_back.add(key)
            self.owed[key] = not (way == MCP and self.profile is STDIO)

    @rule(call=consumes(calls))
    def finish(self, call: Call | None) -> None:
        if call is None:
            return
        answer = self.peer.finish(call)
        owed = self.owed.pop(id_key(call.id))
        self.taken_back.discard(id_key(call.id))
        assert (answer is not None) == owed
        if owed:
            assert answer["id"] == call.id

    @rule(id=ids)
    def say_something_else(self, id: Any) -> None:
        assert self.peer.say({"jsonrpc": "2.0", "id": id, "result": 1}) is None
        assert self.peer.notify("whatever", {"id": id}) is None

    @invariant()
    def the_model_holds(self) -> None:
        assert set(self.peer.session.calls) == set(self.owed)


class HttpConversation(Conversation):
    profile = HTTP


@pytest.mark.requirement("ST-7.1-one-answer")
@pytest.mark.parametrize("conversation", [Conversation, HttpConversation])
def test_every_request_has_exactly_one_answer(conversation: type[Conversation]) -> None:
    run_state_machine_as_test(conversation)
