"""Messages through the reader, the session and the validators, without I/O.

Both transports' sessions hear every message. Calls that start are validated as the real path does,
and end later, in any order. Exactly one answer per request is enforced all the way.
"""

from dataclasses import dataclass, field

import msgspec

from sightline.calls import families
from sightline.calls.validate import Validator
from sightline.contract.failures import Cancelled, InvalidArguments, UnknownTool
from sightline.contract.settings import Settings
from sightline.protocol import jsonrpc
from sightline.protocol.jsonrpc import Error, Malformed, Request, id_key
from sightline.protocol.session import (
    Call,
    Cancel,
    Outcome,
    Profile,
    Send,
    Session,
    Start,
    Violation,
)
from sightline.server.compose import surface_for
from sightline.tools.catalogue import CATALOGUE
from tests.fuzz.generate import Generator
from tests.fuzz.grammar import OutOfContract, check_answer
from tests.support.sessions import HTTP, STDIO

__all__ = ["InProcess"]

_RESULT = msgspec.Raw(b'{"isError":false,"structuredContent":{},"content":[]}')
_LIFETIME = 500


@dataclass
class InProcess:
    """``run`` sends messages and counts what became of them."""

    seed: int
    counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.generator = Generator(self.seed)
        self.surface = surface_for(Settings(families=("lsp",)))
        self._validators = {
            tool.info.name: Validator(tool.info.name, tool.arguments) for tool in CATALOGUE
        }
        #: Answers are compared with the grammar once each: most of them come again and again.
        self._known: set[bytes] = set()

    def run(self, messages: int) -> None:
        for number in range(messages):
            if number % _LIFETIME == 0:
                peers = [Peer(self, STDIO), Peer(self, HTTP)]
                for peer in peers[: self.generator.random.randrange(3)]:
                    peer.greet()
            body = self.generator.message()
            for peer in peers:
                try:
                    peer.hear(body)
                except Exception as error:
                    raise OutOfContract(f"seed {self.seed}, message {number}: {body!r}") from error

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def outcome(self, call: Call) -> Outcome:
        """What the path of a call says before any engine is asked."""
        if call.cancelled:
            return families.failed("lsp", Cancelled())
        validator = self._validators.get(call.tool)
        if validator is None:
            return families.failed("lsp", UnknownTool())
        try:
            validator.check(call.arguments)
        except InvalidArguments as invalid:
            return families.failed("lsp", invalid)
        return _RESULT

    def check(self, body: bytes) -> None:
        if body not in self._known:
            check_answer(body)
            if len(body) < 300 and len(self._known) < 100_000:
                self._known.add(body)


class Peer:
    def __init__(self, owner: InProcess, profile: Profile) -> None:
        self._owner = owner
        self._profile = profile
        self._session = Session(owner.surface, profile)
        self._running: list[Call] = []

    def greet(self) -> None:
        hello = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"x"}}'
        self.hear(hello)
        self.hear(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def hear(self, body: bytes) -> None:
        """One message, and now and then the end of a call."""
        random = self._owner.generator.random
        try:
            message = jsonrpc.read(body)
        except Malformed as malformed:
            self._owner.count("malformed")
            error = Error(malformed.fault.value, _WORDS[malformed.fault.value])
            self._owner.check(jsonrpc.error_bytes(malformed.id, error))
            return
        before = set(self._session.calls)
        effects = self._session.receive(message)
        assert len(effects) <= 1
        asked = isinstance(message, Request)
        match effects:
            case [Send(answer)]:
                assert asked, "only requests are answered"
                self._owner.check(answer)
                self._owner.count("answered")
            case [Start(call)]:
                assert asked and id_key(call.id) not in before
                self._running.append(call)
                self._owner.count("called")
            case [Cancel(call)]:
                assert not asked and call in self._running
                self._owner.count("cancelled")
            case [Violation()]:
                assert not asked or self._profile is HTTP, "refused by its status"
            case _:
                assert not effects and not asked, "a request is answered, now or later"
        while self._running and random.random() < 0.15:
            self._finish(self._running.pop(random.randrange(len(self._running))))

    def _finish(self, call: Call) -> None:
        if call.progress_token is not None:
            told = self._session.progress(call, {"progress": 1, "message": "half"})
            assert (told is None) == call.cancelled
        body = self._session.finish(call, self._owner.outcome(call))
        assert (body is None) == call.silent
        if body is not None:
            self._owner.check(body)
        assert id_key(call.id) not in self._session.calls


_WORDS = {-32700: "Parse error", -32600: "Invalid Request"}
