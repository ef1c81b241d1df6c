"""Every answer of every tool is as its own listing says. Clients check it and drop what is not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.clients.questions import questions
from tests.context.support import build
from tests.support.stdio import StdioServer

Stdio = Callable[..., StdioServer]


def steps(root: Path) -> list[tuple[str, dict[str, Any]]]:
    """Before there is an index, while it is made, and with it; each tool and its other shapes."""
    asked = [(step["tool"], step["arguments"]) for step in questions(root)]
    built = [
        ("index_build", {}),
        *asked,
        ("search", {"query": "area", "explain": True}),
        ("search", {"query": "area", "mode": "literal", "pageSize": 1}),
        ("search", {"query": "ar.a", "mode": "regex"}),
        ("search", {"query": "nothing like this", "mode": "literal"}),
        ("index_build", {"force": True}),
        ("context.resolve", {"cache": f"workspace:{root.name}", "query": "area", "budget": 1000}),
        ("context.resolve", {"cache": f"workspace:{root.name}", "query": "", "budget": 0}),
        ("context.resolve", {"cache": "docs", "query": "beta", "budget": 100}),
        ("context.inspect_cache", {"cache": "docs"}),
    ]
    return [*asked, *built]


def test_every_answer_is_as_the_listing_says(stdio: Stdio, home: Path, sample: Path) -> None:
    caches = home / ".local/share/sightline/context"
    caches.mkdir(parents=True)
    build(caches, {"a.md": "alpha beta", "b.md": "beta\n"}, "docs")
    server = stdio(sample)
    server.initialize()
    listed = server.request("tools/list")["result"]["tools"]
    shaped = {tool["name"]: tool["outputSchema"] for tool in listed if "outputSchema" in tool}
    schemas = {name: jsonschema_rs.validator_for(schema) for name, schema in shaped.items()}
    assert {tool["name"] for tool in listed} - schemas.keys() == {"find", "read", "uses", "check"}
    answered: set[str] = set()
    for tool, arguments in steps(sample):
        answer = server.call(tool, arguments)
        result = answer.get("result")
        if result is None or result["isError"]:
            # A client must not find something here that is not the tool's payload.
            assert "structuredContent" not in (result or {}), tool
            continue
        if tool not in schemas:  # it answers in words
            assert "structuredContent" not in result and result["content"][0]["text"], tool
            continue
        problems = [
            f"{e.instance_path}: {e.message}"
            for e in schemas[tool].iter_errors(result["structuredContent"])
        ]
        assert not problems, (tool, arguments, problems)
        answered.add(tool)
    assert answered == schemas.keys()


def test_an_error_that_is_taken_for_a_payload_is_not_checked_as_one(
    stdio: Stdio, sample: Path
) -> None:
    """One client reads the JSON of any text as structured content and checks it as such."""
    server = stdio("--set", "content=mirror", sample)
    server.initialize()
    tools = server.request("tools/list")["result"]["tools"]
    listed = {tool["name"] for tool in tools if "outputSchema" in tool}
    assert listed == {tool["name"] for tool in tools if tool["name"].startswith("vscode.lsp.")}
    wrong: list[tuple[str, dict[str, Any]]] = [
        ("context.resolve", {"cache": "no-such-cache", "query": "area", "budget": 10}),
        ("show_file", {"path": "no-such-file.py"}),
        ("search", {"query": "area", "cursor": "bad"}),
        ("vscode.lsp.hover", {"uri": "file:///elsewhere", "position": {"line": 0, "character": 0}}),
    ]
    errors = 0
    for tool, arguments in wrong:
        answer = server.call(tool, arguments)
        errors += "error" in answer or answer["result"]["isError"]
        assert "error" in answer or tool not in listed
    assert errors == 4
