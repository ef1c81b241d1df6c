"""OpenAI's older chat completions API, streamed (opencode, Copilot CLI)."""

import json
from typing import Any

from tests.clients.dialects.heard import Heard, Offered, events, text_of

PATHS = ("/v1/chat/completions", "/chat/completions")


def read(body: dict[str, Any]) -> Heard:
    functions = [tool["function"] for tool in body.get("tools", []) if tool["type"] == "function"]
    tools = [
        Offered(f["name"], f.get("description", ""), f.get("parameters", {})) for f in functions
    ]
    said = body.get("messages", [])
    results = [text_of(message["content"]) for message in said if message["role"] == "tool"]
    system = "".join(text_of(m["content"]) for m in said if m["role"] in ("system", "developer"))
    return Heard(tools, results, system)


def call(tool: Offered, arguments: dict[str, Any], turn: int) -> bytes:
    function = {"name": tool.name, "arguments": json.dumps(arguments)}
    wanted = {"index": 0, "id": f"call_{turn:04}", "type": "function", "function": function}
    return _chunks({"role": "assistant", "content": None, "tool_calls": [wanted]}, "tool_calls")


def say(text: str, turn: int) -> bytes:
    return _chunks({"role": "assistant", "content": text}, "stop")


def _chunks(delta: dict[str, Any], finish: str) -> bytes:
    head = {"id": "chat_0001", "object": "chat.completion.chunk", "created": 0, "model": "stand-in"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return events(
        head | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        head | {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage},
        end="data: [DONE]\n\n",
    )
