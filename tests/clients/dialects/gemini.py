"""Google's generateContent API, streamed (Gemini CLI)."""

from typing import Any

from tests.clients.dialects.heard import Heard, Offered, events, text_of

#: The path holds the model's name; its end says what is asked.
PATHS = (":streamGenerateContent",)


def read(body: dict[str, Any]) -> Heard:
    declared = [
        function
        for group in body.get("tools", [])
        for function in group.get("functionDeclarations", [])
    ]
    tools = [
        Offered(
            function["name"],
            function.get("description", ""),
            function.get("parametersJsonSchema") or function.get("parameters") or {},
        )
        for function in declared
    ]
    parts = [part for content in body.get("contents", []) for part in content.get("parts", [])]
    results = [
        _result(part["functionResponse"]["response"])
        for part in parts
        if "functionResponse" in part
    ]
    system = body.get("systemInstruction", {}).get("parts", [])
    return Heard(tools, results, text_of(system))


def _result(response: dict[str, Any]) -> str:
    """The one member a client wraps a text into, or the whole response."""
    texts = [value for value in response.values() if isinstance(value, str)]
    return texts[0] if len(response) == 1 and texts else text_of(response)


def call(tool: Offered, arguments: dict[str, Any], turn: int) -> bytes:
    wanted = {"id": f"call_{turn:04}", "name": tool.name, "args": arguments}
    return _candidate({"functionCall": wanted})


def say(text: str, turn: int) -> bytes:
    return _candidate({"text": text})


def _candidate(part: dict[str, Any]) -> bytes:
    content = {"role": "model", "parts": [part]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    return events(
        {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": usage,
            "modelVersion": "stand-in",
        }
    )
