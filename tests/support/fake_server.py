"""A scripted language server, for the faults that real ones cannot be made to have.

Run as ``python fake_server.py SCRIPT``. The script is JSON: per method a list of actions, one per
message, the last one repeated. A state file beside the script counts across restarts, and a log
file beside it records every message received, so that tests can wait for and check them.

Actions (several may stand in one object, carried out in this order):
  params      take this action only for a message with exactly these params
  after       wait until this file exists (how a test makes an answer late)
  notify      send these first: [[method, params], ...]; a request has its id as a third member
  bodies      send these texts as messages, ``$ID`` standing for the id of what was asked
  crash       end at once with this status
  half        write half of the answer, then end
  raw         write this text instead of an answer
  huge        answer with a string of so many bytes
  hang        never answer
  hold        keep the answer; it is sent after the answer of the next request
  error       answer with this error
  result      answer with this result
  then        send these afterwards, written as for ``notify``

A notification is answered by nothing; its actions are ``after``, ``notify``, ``bodies`` and
``then``.
"""

import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    from watching import wait_for  # type: ignore[import-not-found]
else:
    from tests.support.watching import wait_for

Message = dict[str, Any]

_CAPABILITIES = {
    "workspaceSymbolProvider": True,
    "diagnosticProvider": {"interFileDependencies": True, "workspaceDiagnostics": True},
}
#: The longest that an answer is kept back, if the test has not ended the server by then.
_LATE_S = 600
DEFAULTS: dict[str, list[Message]] = {
    "initialize": [
        {"result": {"capabilities": _CAPABILITIES, "serverInfo": {"name": "fake", "version": "1"}}}
    ],
    "shutdown": [{"result": None}],
}


class FakeServer:
    def __init__(self, script: Path) -> None:
        self.script: dict[str, list[Message]] = DEFAULTS | json.loads(script.read_text())
        self.state = script.with_suffix(".state")
        self.log = script.with_suffix(".log")
        self.held: list[Message] = []

    def run(self) -> None:
        while (message := self.read()) is not None:
            action: Message | None = None
            if "method" in message and ("id" in message or message["method"] in self.script):
                action = self.next_action(message["method"], message.get("params"))
            # Whoever sees it in the log may end this process: its turn has been taken by then.
            with self.log.open("a") as log:
                log.write(json.dumps(message) + "\n")
            if message.get("method") == "exit":
                return
            if action is not None:
                if "after" in action:
                    wait_for(Path(action["after"]).exists, Path(action["after"]).parent, _LATE_S)
                self.say(action.get("notify", []))
                for text in action.get("bodies", []):
                    self.write_text(text.replace("$ID", str(message.get("id"))))
                if "id" in message:
                    self.answer(message, action)
                self.say(action.get("then", []))

    def say(self, messages: list[list[Any]]) -> None:
        """Notifications and requests of the server's own."""
        for method, params, *number in messages:
            own = {"id": number[0]} if number else {}
            self.write({"jsonrpc": "2.0", **own, "method": method, "params": params})

    def answer(self, message: Message, action: Message) -> None:
        reply: Message = {"jsonrpc": "2.0", "id": message["id"]}
        if "crash" in action:
            os._exit(action["crash"])
        if "half" in action:
            body = json.dumps(reply | {"result": action["half"]}).encode()
            self.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body[: len(body) // 2]))
            os._exit(0)
        if "raw" in action:
            self.send(action["raw"].encode("latin-1"))
        elif "huge" in action:
            self.write(reply | {"result": "x" * action["huge"]})
        elif "hang" in action:
            return
        elif "hold" in action:
            self.held.append(reply | {"result": action["hold"]})
        else:
            error = {"error": action["error"]} if "error" in action else None
            self.write(reply | (error or {"result": action.get("result")}))
            while self.held:
                self.write(self.held.pop(0))

    def next_action(self, method: str, params: Any) -> Message:
        unknown: list[Message] = [{"error": {"code": -32601, "message": "unknown"}}]
        actions = self.script.get(method, unknown)
        key = method
        if any("params" in action for action in actions):
            actions = [a for a in actions if a.get("params", params) == params] or unknown
            key = f"{method} {json.dumps(params, sort_keys=True)}"
        return actions[min(self.take_turn(key), len(actions) - 1)]

    def take_turn(self, key: str) -> int:
        """How often this was asked before; servers of several roots may follow one script."""
        spelled = json.dumps(key)
        with self.state.open("a+") as state:
            fcntl.flock(state, fcntl.LOCK_EX)
            state.seek(0)
            turn = state.read().splitlines().count(spelled)
            state.write(f"{spelled}\n")  # at its end: one that is killed here loses nothing
        return turn

    def read(self) -> Message | None:
        length = 0
        while (line := sys.stdin.buffer.readline()) != b"\r\n":
            if not line:
                return None
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        message: Message = json.loads(sys.stdin.buffer.read(length))
        return message

    def write(self, message: Message) -> None:
        self.write_text(json.dumps(message))

    def write_text(self, text: str) -> None:
        body = text.encode()
        self.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def logged(folder: Path) -> list[Message]:
    """What the server of a script in this folder was told so far.

    A message that is being written may be seen in part: only whole lines count.
    """
    log = folder / "script.log"
    text = log.read_text() if log.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


if __name__ == "__main__":
    FakeServer(Path(sys.argv[1])).run()
