"""The code family at the wire: what is listed, pages, edits, waiting, and the same bytes."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.settings import Settings
from sightline.protocol.revisions import NEWEST
from sightline.server.compose import catalogue_for, listed_for, surface_for
from tests.code.test_archives import text_of
from tests.conftest import Workspace
from tests.support.files import write_files
from tests.support.http import HttpServer
from tests.support.program import run
from tests.support.stdio import StdioServer

Stdio = Callable[..., StdioServer]
V1 = 7
AGENT = ["find", "read", "uses", "check"]
MORE = re.compile(r"more: page=(\d+-[a-z2-7]{6})\Z")
CALLS = "".join(f"    add({number})\n" for number in range(300))
FILES = {
    "cart.py": "def add(item: int) -> None: ...\n",
    **{
        f"use_{number}.py": f"from cart import add\n\n\ndef go() -> None:\n    add({number})\n"
        for number in range(40)
    },
    "many.py": f"from cart import add\n\n\ndef go() -> None:\n{CALLS}",
}


def uses(server: StdioServer | HttpServer, **arguments: Any) -> str:
    return text_of(server.call("uses", arguments))


# What is listed


def names(**settings: Any) -> list[str]:
    parsed, _ = Settings.parse(settings)
    return [tool.info.name for tool in listed_for(parsed)]


def test_a_profile_says_what_is_listed() -> None:
    everything = names()
    assert names(profile="agent") == AGENT
    assert names(profile="all") == everything
    assert names(profile="contract") == [name for name in everything if name not in AGENT]
    assert names(families=["lsp"]) == names(families=["lsp"], profile="contract")
    assert len(names(families=["lsp"])) == V1
    assert names(families=["lsp"], profile="agent") == []


def test_what_a_profile_does_not_list_is_answered(stdio: Stdio, sample: Path) -> None:
    server = stdio(sample, "--set", "profile=agent")
    initialized = server.initialize()["result"]
    listed = server.request("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in listed] == AGENT
    assert "vscode.lsp" not in json.dumps(initialized)
    hidden = server.call("workspace_status", {})["result"]
    assert not hidden["isError"]


def test_what_the_families_leave_out_is_not_there(stdio: Stdio, sample: Path) -> None:
    server = stdio(sample, "--set", "profile=agent", "--tools", "code")
    server.initialize()
    answer = server.request("tools/call", {"name": "workspace_status", "arguments": {}})
    assert answer["error"]["code"] == -32602


def test_what_is_listed_for_agents_is_small() -> None:
    settings, _ = Settings.parse({"profile": "agent"})
    listing = bytes(surface_for(settings).tools("dotted", "empty", NEWEST))
    assert len(listing) <= 9_000
    assert b"outputSchema" not in listing
    assert {tool.info.name for tool in catalogue_for(settings)} > {*AGENT, "search"}


# Pages


def pages(server: StdioServer | HttpServer, **arguments: Any) -> list[str]:
    found = [uses(server, **arguments)]
    while more := MORE.search(found[-1]):
        found.append(uses(server, **arguments, page=more[1]))
    return found


@pytest.mark.parametrize("budget", [200, 500, 2_000, None])
def test_the_pages_are_the_whole_and_each_keeps_its_budget(
    stdio: Stdio, workspace: Workspace, budget: int | None
) -> None:
    server = stdio(workspace(FILES))
    server.initialize()
    whole = uses(server, of=["add"], budget=60_000)
    head, blocks = whole.split("\n")[:2], whole.split("\n")[2:]
    assert head[1] == "381 uses in 41 files: 340 calls, 41 imports; unaccounted 0"
    cut = pages(server, of=["add"], **({"budget": budget} if budget else {}))
    lines: list[str] = []
    for page in cut:
        assert len(page.encode()) <= (budget or 2_000) * 4
        assert page.split("\n")[:2] == head
        lines += [line for line in page.split("\n")[2:] if not line.startswith("more:")]
    repeated = [line for place, line in enumerate(lines) if line.endswith(".py")]
    assert list(dict.fromkeys(repeated)) == [line for line in blocks if line.endswith(".py")]
    assert [line for line in lines if line not in repeated] == [
        line for line in blocks if line not in repeated
    ]
    ends = [page.split("\n")[-2] for page in cut[:-1]]
    small = [line for line in ends if "many.py" not in line and "add(" in line]
    assert small, "a page ends behind a line"


def test_a_page_of_a_small_file_is_not_cut_in_two(stdio: Stdio, workspace: Workspace) -> None:
    files = {name: text for name, text in FILES.items() if name != "many.py"}
    server = stdio(workspace(files))
    server.initialize()
    for page in pages(server, of=["add"], budget=200):
        titles = [line for line in page.split("\n")[2:] if line.endswith(".py")]
        assert page.count("\n  ") == 2 * len(titles)


def test_a_page_of_another_tree_or_question_is_refused(stdio: Stdio, workspace: Workspace) -> None:
    root = workspace(FILES)
    server = stdio(root)
    server.initialize()
    more = MORE.search(uses(server, of=["add"], budget=200))
    assert more is not None
    changed = "error: the workspace changed since that page was made, or the question did"
    assert uses(server, of=["add"], budget=300, page=more[1]).startswith(changed)
    assert uses(server, of=["add"], tests="only", budget=200, page=more[1]).startswith(changed)
    (root / "more.py").write_text("from cart import add\nadd(1)\n", encoding="utf-8")
    assert uses(server, of=["add"], budget=200, page=more[1]).startswith(changed)


# Freshness and sameness


def test_an_edit_is_in_the_next_answer(stdio: Stdio, sample: Path) -> None:
    server = stdio(sample)
    server.initialize()
    assert "1 use in 1 file" not in uses(server, of=["area"])
    assert "shapes.py:1" in uses(server, of=["area"])
    shapes = sample / "shapes.py"
    shapes.write_text("# moved\n" + shapes.read_text(encoding="utf-8"), encoding="utf-8")
    (sample / "more.py").write_text("from shapes import area\narea(1, 1)\n", encoding="utf-8")
    answer = uses(server, of=["area"])
    assert "shapes.py:2" in answer
    assert "more.py\n  1 -  import  from shapes import area\n  2 -  call  area(1, 1)" in answer
    assert uses(server, of=["border"]).startswith("error: no symbol is called border")
    shapes.write_text(
        shapes.read_text(encoding="utf-8") + "\ndef border(): ...\n", encoding="utf-8"
    )
    assert uses(server, of=["border"]).startswith("function shapes.border")


def test_two_processes_and_both_transports_say_the_same(
    stdio: Stdio, serve: Callable[..., HttpServer], workspace: Workspace
) -> None:
    root = workspace(FILES)
    first, second, third = stdio(root), stdio(root), serve(root)
    first.initialize()
    second.initialize()
    second.call("read", {"of": ["cart.py"]})  # another history
    asked: list[dict[str, Any]] = [{"of": ["add"], "budget": 300}, {"of": ["go"]}, {"of": ["ad"]}]
    for arguments in asked:
        assert pages(first, **arguments) == pages(second, **arguments) == pages(third, **arguments)


# Waiting


def test_ten_questions_at_once_from_cold_are_ten_answers(stdio: Stdio, sample: Path) -> None:
    server = stdio(sample)
    server.initialize()
    asked = [("area", "uses"), ("shapes.area", "uses"), ("main.py:3:area", "uses")]
    asked += [("area", "read"), ("shapes.py", "read")]
    for number, (name, tool) in enumerate([*asked, *asked]):
        params = {"name": tool, "arguments": {"of": [name], "budget": 1_000 + number}}
        server.send(
            {"jsonrpc": "2.0", "id": f"at-once-{number}", "method": "tools/call", "params": params}
        )
    found: dict[str, Any] = {}
    while len(found) < 2 * len(asked):
        message = server.receive()
        found[message["id"]] = message
    texts = [text_of(found[f"at-once-{number}"]) for number in range(2 * len(asked))]
    assert not [text for text in texts if text.startswith("error: ")]
    assert texts[:5] == texts[5:]
    assert texts[0] == texts[1] == texts[2]
    assert "2 uses in 1 file: 1 call, 1 import; unaccounted 0" in texts[0]


# The commands


def test_the_commands_print_the_same(installed: Path, sample: Path, stdio: Stdio) -> None:
    server = stdio(sample)
    server.initialize()
    said = run(installed, "uses", "area", cwd=sample)
    assert (said.stdout, said.stderr, said.returncode) == (uses(server, of=["area"]) + "\n", "", 0)
    read = text_of(server.call("read", {"of": ["area"]}))
    assert run(installed, "read", "area", cwd=sample).stdout == read + "\n"
    called = run(installed, "call", "uses", '{"of": ["area"]}', "--root", sample)
    assert called.stdout == said.stdout


def test_the_commands_answer_as_data(installed: Path, sample: Path) -> None:
    answer = json.loads(run(installed, "uses", "area", "--json", cwd=sample).stdout)
    (item,) = answer["items"]
    assert (item["of"], item["total"], item["unaccounted"]) == ("area", 2, [])
    assert [(use["path"], use["line"], use["role"]) for use in item["uses"]] == [
        ("main.py", 1, "import"),
        ("main.py", 3, "call"),
    ]


def test_a_command_that_finds_nothing_exits_4_with_near_names(
    installed: Path, sample: Path
) -> None:
    done = run(installed, "uses", "aera", cwd=sample)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == ("sightline: no symbol is called aera; did you mean\n  shapes.py::area\n")


# What is not shown


def test_links_out_of_the_roots_and_private_folders_are_not_there(
    stdio: Stdio, sample: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def area(): ...\n\n\ndef secret_outside(): ...\n", encoding="utf-8")
    (sample / "link.py").symlink_to(outside)
    (sample / "same.py").symlink_to(sample / "shapes.py")
    (sample / ".git").mkdir()
    (sample / ".git" / "config.py").write_text("def area(): ...\n", encoding="utf-8")
    server = stdio(sample)
    server.initialize()
    assert uses(server, of=["area"]).startswith("function shapes.area  shapes.py:1  (width: int")
    for name in ("secret_outside", "secret_outsid", "link.py", "link.py::area", ".git/config.py"):
        answer = text_of(server.call("read", {"of": [name], "show": "source"}))
        assert answer.startswith("error: ") and "def " not in answer
        assert "link.py::" not in answer.replace(name, "") and str(outside) not in answer


def test_what_no_server_is_needed_for_is_answered_without_one(
    stdio: Stdio, workspace: Workspace
) -> None:
    text = "export class Cart {\n  constructor() {\n    this.items = [];\n  }\n}\n"
    server = stdio(workspace({"cart.js": text}))
    server.initialize()
    said = text_of(server.call("read", {"of": ["Cart.items"]}))
    assert said == "attribute Cart.items  cart.js:3  []\n3      this.items = [];"
    refused = uses(server, of=["Cart.items"])
    assert refused == (
        "error: no language server for JavaScript is installed; run sightline doctor"
    )


def test_symbols_of_several_roots_are_told_apart(stdio: Stdio, tmp_path: Path) -> None:
    one = write_files(tmp_path / "one", {"a.py": "def area(): ...\n\n\narea()\n"})
    two = write_files(tmp_path / "two", {"a.py": "def area(): ...\n"})
    server = stdio(one, two)
    server.initialize()
    said = uses(server, of=["area"]).split("\n\n")
    assert [part.split("  ")[1].split("\n")[0] for part in said] == ["one/a.py:1", "two/a.py:1"]
    assert "1 use in 1 file: 1 call" in said[0] and "0 uses" in said[1]
    assert uses(server, of=["one/a.py::area"]) == said[0]


def test_a_file_that_takes_a_grammar_minutes_costs_half_a_second(
    stdio: Stdio, workspace: Workspace
) -> None:
    quotes = "area " + "'" * (256 << 10)
    server = stdio(workspace({"shape.ts": "export function area() {}\n", "slow.ts": quotes}))
    server.initialize()
    began = time.monotonic()
    said = text_of(server.call("read", {"of": ["area"]}))
    assert said == "function area  shape.ts:1  ()\n1  export function area() {}"
    assert text_of(server.call("read", {"of": ["slow.ts"]})).startswith("error: ")
    assert time.monotonic() - began < 25
