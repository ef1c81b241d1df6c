"""The ``tools/list`` result, made from the catalogue and the schema files.

The bytes are the same in every process. They differ only by how tools are named, by what the
negotiated revision has (annotations since 2025-03-26, output schemas since 2025-06-18), and for
clients that read text alone. Such a client takes the JSON of an error for a payload (Gemini CLI
0.61 does), finds that it does not fit the tool's output schema, and shows its model that complaint
in place of the error. So the families whose errors are JSON texts have no output schema there. What
``code`` answers is text for every client, so it has none anywhere.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from sightline.calls.calls import underscored
from sightline.calls.validate import load_schema
from sightline.contract.settings import Content, ToolNames
from sightline.protocol.revisions import Revision
from sightline.tools.tool import Tool

__all__ = ["Listing"]


class Listing:
    def __init__(self, catalogue: Sequence[Tool[Any]], tooling_version: str) -> None:
        self._catalogue = tuple(catalogue)
        self._tooling_version = tooling_version
        self.result = lru_cache(self._result)

    def names(self, style: ToolNames) -> tuple[str, ...]:
        return tuple(_spelled(tool.info.name, style) for tool in self._catalogue)

    def _result(self, style: ToolNames, content: Content, revision: Revision) -> msgspec.Raw:
        tools = [self._entry(tool, style, content, revision) for tool in self._catalogue]
        return msgspec.Raw(msgspec.json.encode({"tools": tools}))

    def _entry(
        self, tool: Tool[Any], style: ToolNames, content: Content, revision: Revision
    ) -> dict[str, Any]:
        info = tool.info
        versions = {"schemaVersion": info.schema_version, "toolingVersion": self._tooling_version}
        entry: dict[str, Any] = {
            "name": _spelled(info.name, style),
            "title": info.title,
            "description": info.description,
            "inputSchema": load_schema(info.name),
        }
        has_schema = info.family == "lsp" or (info.family != "code" and content != "mirror")
        if revision.structured and has_schema:
            entry["outputSchema"] = load_schema(info.name, output=True)
        if revision.annotations:
            entry["annotations"] = _annotations(info.read_only)
        return entry | versions | {"_meta": versions}


def _annotations(read_only: bool) -> dict[str, bool]:
    if read_only:
        return {"readOnlyHint": True}
    return {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True}


def _spelled(name: str, style: ToolNames) -> str:
    return underscored(name) if style == "underscore" else name
