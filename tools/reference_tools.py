"""The page of the tools: every tool as clients are told of it."""

from typing import Any

import msgspec

from sightline.calls.listing import Listing
from sightline.contract.settings import Settings
from sightline.protocol.revisions import NEWEST
from sightline.server.compose import catalogue_for

__all__ = ["tools_page"]

_FAMILIES = {
    "code": "What is asked by name",
    "lsp": "What a language server knows",
    "index": "What an index finds",
    "context": "What fits a token budget",
}


def tools_page() -> str:
    tools = catalogue_for(Settings())
    listing = Listing(tools, "0").result("dotted", "empty", NEWEST)
    entries = {tool["name"]: tool for tool in msgspec.json.decode(listing)["tools"]}
    parts = [
        "# Tools",
        (
            "What an agent can ask. The descriptions are those that its model reads. The shapes of "
            "the answers are in [SCHEMA](../SCHEMA.md), orders, caps and cursors in "
            "[CONTRACT](../CONTRACT.md). `sightline tools` prints all of this as JSON."
        ),
    ]
    for family, title in _FAMILIES.items():
        names = [tool.info.name for tool in tools if tool.info.family == family]
        if names:
            parts += [f"## {title}: `{family}`"]
            parts += [_tool(entries[name]) for name in names]
    return "\n\n".join(parts)


def _tool(tool: dict[str, Any]) -> str:
    schema = tool["inputSchema"]
    required = schema.get("required", [])
    rows = [
        f"| `{name}` | {_type(each)} | {'yes' if name in required else ''} | "
        f"{each.get('description', '')} |"
        for name, each in schema.get("properties", {}).items()
    ]
    head = "| argument | type | needed | meaning |\n|---|---|---|---|\n"
    table = head + "\n".join(rows) if rows else "It takes no arguments."
    return f"### `{tool['name']}`\n\n{tool['description']}\n\n{table}"


def _type(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kind = schema.get("type", "any")
    kind = " or ".join(kind) if isinstance(kind, list) else str(kind)
    if kind == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if kind == "object":
        inner = ", ".join(schema.get("properties", {}))
        return f"object ({inner})" if inner else kind
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f"{kind}, {low} to {high}"
    return kind if low is None else f"{kind}, {low} or more"
