"""Questions for every tool that is in the catalogue, made from what its schema asks for.

A tool that comes new is asked without anybody remembering to: if its required arguments have
names that are known here. Otherwise the test that needs the question says which name is missing.
"""

from pathlib import Path
from typing import Any

import jsonschema_rs
import msgspec

from sightline.calls.listing import Listing
from sightline.contract.settings import Settings
from sightline.server.compose import catalogue_for

__all__ = ["REFUSED", "families", "questions", "read_only_tools"]

#: A question that every client must be refused in words its model can read.
REFUSED = {
    "tool": "vscode.lsp.definition",
    "arguments": {
        "uri": "file:///elsewhere/main.py",
        "position": {"line": 0, "character": 0},
    },
}


#: What a tool needs although its schema cannot say so: one of several.
_BESIDES = {"show_file": {"path": "main.py"}}


def read_only_tools() -> list[dict[str, Any]]:
    """The catalogue as a client sees it, without the tools that change something."""
    from sightline.protocol.revisions import NEWEST

    listing = Listing(catalogue_for(Settings()), "0")
    tools: list[dict[str, Any]] = msgspec.json.decode(listing.result("dotted", "empty", NEWEST))[
        "tools"
    ]
    return [tool for tool in tools if tool["annotations"]["readOnlyHint"]]


def families() -> set[str]:
    """The families that have a tool which can be asked."""
    names = {tool["name"] for tool in read_only_tools()}
    return {tool.info.family for tool in catalogue_for(Settings()) if tool.info.name in names}


def questions(root: Path) -> list[dict[str, Any]]:
    """One call per tool, about the use of ``area`` in the sample workspace."""
    values: dict[str, Any] = {
        "uri": (root / "main.py").as_uri(),
        "position": {"line": 2, "character": 7},
        "query": "area",
        "path": "main.py",
        "budget": 1000,
        "cache": "sample",
        "root": str(root),
        "of": ["area"],
    }
    made: list[dict[str, Any]] = []
    for tool in read_only_tools():
        schema = tool["inputSchema"]
        unknown = [name for name in schema.get("required", []) if name not in values]
        assert not unknown, f"{tool['name']} needs {unknown}; give them values here"
        arguments = {name: values[name] for name in schema.get("required", [])}
        arguments |= _BESIDES.get(tool["name"], {})
        jsonschema_rs.validate(schema, arguments)
        made.append({"tool": tool["name"], "arguments": arguments})
    return made
