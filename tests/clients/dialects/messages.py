"""Anthropic's Messages API, streamed (Claude Code)."""

import json
from typing import Any

from tests.clients.dialects.heard import Heard, Offered, events, text_of

PATHS = ("/v1/messages",)


def read(body: dict[str, Any]) -> Heard:
    tools = [
        Offered(tool["name"], tool.get("description", ""), tool.get("input_schema", {}))
        for tool in body.get("tools", [])
        if "name" in tool
    ]
    blocks = [
        block
        for message in body.get("messages", [])
        if isinstance(message["content"], list)
        for block in message["content"]
    ]
    results = [text_of(b.get("content", "")) for b in blocks if b["type"] == "tool_result"]
    return Heard(tools, results, text_of(body.get("system", "")))


def call(tool: Offered, arguments: dict[str, Any], turn: int) -> bytes:
    block = {"type": "tool_use", "id": f"toolu_{turn:04}", "name": tool.name, "input": {}}
    delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
    return _message(block, delta, "tool_use")


def say(text: str, turn: int) -> bytes:
    return _message({"type": "text", "text": ""}, {"type": "text_delta", "text": text}, "end_turn")


def _message(block: dict[str, Any], delta: dict[str, Any], stop: str) -> bytes:
    usage = {"input_tokens": 1, "output_tokens": 1}
    start: dict[str, Any] = {
        "id": "msg_0001",
        "type": "message",
        "role": "assistant",
        "model": "stand-in",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return events(
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": None},
            "usage": usage,
        },
        {"type": "message_stop"},
        named=True,
    )
