"""A stand-in for a model: it makes the tool calls of a plan, then repeats the last answer.

It imitates the APIs of tests/clients/dialects on loopback. A call whose answer asks for a retry is
made again, as a model that can read would. What the model would have seen is written down.

    python -m tests.clients.model PLAN LOG     prints its port; PLAN is JSON, LOG gets JSON lines
"""

import json
import re
import sys
import threading
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.clients.dialects import completions, gemini, messages, responses
from tests.clients.dialects.heard import Heard, Offered

__all__ = ["Step", "next_step", "serve"]

_DIALECTS: tuple[ModuleType, ...] = (messages, responses, completions, gemini)
_MAX_TRIES = 40
#: How the server's instructions begin.
_INSTRUCTIONS = "Sightline answers questions about this code"
Step = dict[str, Any]


def next_step(plan: list[Step], results: list[str]) -> Step | None:
    """The call to make now, worked out from every result so far; ``None`` at the end."""
    step = tries = 0
    for result in results:
        tries += 1
        if not asks_for_a_retry(result) or tries > _MAX_TRIES:
            step, tries = step + 1, 0
    return plan[step] if step < len(plan) else None


def asks_for_a_retry(result: str) -> bool:
    """What the error's own words say; clients do not show more of it."""
    return ("CAP_EXCEEDED" in result and "retry" in result) or "NO_INDEX" in result


def find_tool(tools: list[Offered], name: str) -> Offered | None:
    """Our tool as the client calls it: its name ends with ours, whatever became of the dots."""
    wanted = _letters(name)
    ours = [tool for tool in tools if "sightline" in tool.namespace + tool.name]
    found = [tool for tool in ours if _letters(tool.name).endswith(wanted)]
    return min(found, key=lambda tool: len(tool.name), default=None)


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def do_GET(self) -> None:
        self._answer(b'{"object":"list","data":[],"models":[]}', "application/json")

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        dialect = next((d for d in _DIALECTS if path.endswith(d.PATHS)), None)
        if dialect is None:
            self.server.note({"path": path, "ignored": True})
            self._answer(b"{}", "application/json", 404)
            return
        heard: Heard = dialect.read(body)
        step = next_step(self.server.plan, heard.results)
        tool = find_tool(heard.tools, step["tool"]) if step else None
        turn = len(heard.results)
        self.server.note(
            {
                "path": path,
                "heard": asdict(heard),
                "instructed": _INSTRUCTIONS in json.dumps(body, ensure_ascii=False),
                "asked": step if tool else None,
                "by": tool,
            }
        )
        said = dialect.call(tool, step["arguments"], turn) if step and tool else None
        last = heard.results[-1] if heard.results else "done"
        self._answer(said or dialect.say(last, turn), "text/event-stream")

    def _answer(self, data: bytes, kind: str, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the log file has it all."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, plan: list[Step], log: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.plan = plan
        self._log = log
        self._lock = threading.Lock()

    def note(self, entry: dict[str, Any]) -> None:
        with self._lock, self._log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry, default=asdict, ensure_ascii=False) + "\n")


def serve(plan: list[Step], log: Path) -> _Server:
    return _Server(plan, log)


def main(plan: str, log: str) -> None:
    server = serve(json.loads(Path(plan).read_text(encoding="utf-8")), Path(log))
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
