"""What a model hears in one request, whichever API carried it."""

import json
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Heard", "Offered", "events", "text_of"]


@dataclass(frozen=True)
class Offered:
    """A tool as the client describes it to the model."""

    name: str
    description: str
    schema: dict[str, Any]
    #: The group a client puts the tool into, where its API has groups.
    namespace: str = ""


@dataclass(frozen=True)
class Heard:
    """One request: the tools on offer, and every tool result so far, oldest first."""

    tools: list[Offered] = field(default_factory=list)
    results: list[str] = field(default_factory=list)
    instructions: str = ""


def text_of(content: Any) -> str:
    """The text of a content that is a string, a list of blocks, or JSON of another shape."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(
            str(block["text"]) if isinstance(block, dict) and "text" in block else text_of(block)
            for block in content
        )
    return json.dumps(content, ensure_ascii=False)


def events(*messages: dict[str, Any], named: bool = False, end: str = "") -> bytes:
    """Server-sent events; ``named`` puts each message's type in front of it."""
    lines = [
        (f"event: {message['type']}\n" if named else "") + f"data: {json.dumps(message)}\n\n"
        for message in messages
    ]
    return ("".join(lines) + end).encode()
