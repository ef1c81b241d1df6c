"""OpenAI's Responses API, streamed (Codex)."""

import json
from typing import Any

from tests.clients.dialects.heard import Heard, Offered, events, text_of

PATHS = ("/v1/responses", "/responses")


def read(body: dict[str, Any]) -> Heard:
    tools: list[Offered] = []
    for tool in body.get("tools", []):
        if tool["type"] == "namespace":
            tools += [_offered(inner, tool["name"]) for inner in tool["tools"]]
        elif tool["type"] == "function":
            tools.append(_offered(tool, ""))
    results = [
        text_of(item["output"])
        for item in body.get("input", [])
        if item.get("type") == "function_call_output"
    ]
    groups = [t.get("description", "") for t in body.get("tools", []) if t["type"] == "namespace"]
    return Heard(tools, results, "\n".join([body.get("instructions", ""), *groups]))


def _offered(tool: dict[str, Any], namespace: str) -> Offered:
    return Offered(tool["name"], tool.get("description", ""), tool.get("parameters", {}), namespace)


def call(tool: Offered, arguments: dict[str, Any], turn: int) -> bytes:
    item = {
        "type": "function_call",
        "id": f"fc_{turn:04}",
        "call_id": f"call_{turn:04}",
        "name": tool.name,
        "arguments": json.dumps(arguments),
    }
    return _response(item | ({"namespace": tool.namespace} if tool.namespace else {}))


def say(text: str, turn: int) -> bytes:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return _response(
        {"type": "message", "role": "assistant", "id": f"msg_{turn:04}", "content": content}
    )


def _response(item: dict[str, Any]) -> bytes:
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    response = {"id": "resp_0001", "object": "response", "status": "in_progress", "output": []}
    done = response | {"status": "completed", "output": [item], "usage": usage}
    return events(
        {"type": "response.created", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": done},
        named=True,
    )
