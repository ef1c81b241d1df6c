"""One table of a TOML file is put in or replaced; every other byte of its user's text stays."""

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.cli.clients import toml

PATH = ["mcp_servers", "sightline"]
NEW = {"command": "sightline", "args": ["stdio", 'a "quoted" \\ word'], "on": True, "n": 1}

KEYS = st.text("abcdefgh-_", min_size=1, max_size=5)
TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=10)


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Tables with comments between and behind, in a person's spelling."""
    lines: list[str] = []
    for name in ["", *draw(st.lists(KEYS, unique=True, max_size=4))]:
        if name:
            lines.append(
                draw(st.sampled_from(["[{}]", "[ {} ] # table", "[other.{}]"])).format(name)
            )
        for key in draw(st.lists(KEYS, unique=True, max_size=3)):
            value = draw(
                st.sampled_from(["1", "'[x]'", "[1, # one\n 2]", '"""\n[a]\n"""', "1979-05-27"])
            )
            lines.append(f"{key} = {value}{draw(st.sampled_from(['', ' # why']))}")
        lines += draw(st.lists(st.sampled_from(["", "# a comment", "  "]), max_size=2))
    return "\n".join(lines) + draw(st.sampled_from(["", "\n"]))


@given(documents())
def test_a_new_table_follows_everything_else(text: str) -> None:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # the same table twice, say
    changed = toml.put(text, PATH, NEW)
    assert changed.startswith(text)
    assert tomllib.loads(changed) == before | {"mcp_servers": {"sightline": NEW}}


@given(documents(), st.sampled_from(["", "# why\n", "\n", 'extra = "kept"\n']))
def test_a_replaced_table_leaves_what_is_around_it(text: str, inside: str) -> None:
    head = "# first\n[mcp_servers.sightline]\n"
    whole = f'{head}command = "old"\n{inside}\n# about the next\n[last]\nx = 1\n'
    try:
        tomllib.loads(text.rstrip() + "\n" + whole)
    except tomllib.TOMLDecodeError:
        return
    changed = toml.put(text.rstrip() + "\n" + whole, PATH, NEW)
    assert changed.startswith(text.rstrip() + "\n" + head)
    assert changed.endswith("\n# about the next\n[last]\nx = 1\n")
    kept = {"extra": "kept"} if "extra" in inside else {}
    assert tomllib.loads(changed)["mcp_servers"]["sightline"] == NEW | kept


@given(
    st.dictionaries(TEXTS, st.booleans() | st.integers(-(2**60), 2**60) | TEXTS | st.lists(TEXTS))
)
def test_what_is_written_is_read(members: dict[str, Any]) -> None:
    path = ["clients", 'a "name" with. dots']
    assert toml.member(tomllib.loads(toml.table(path, members)), path) == members


def test_twice_is_once() -> None:
    once = toml.put("a = 1\n", PATH, NEW)
    assert toml.put(once, PATH, NEW) == once


def test_the_tables_below_and_the_users_members_stay() -> None:
    text = (
        "[mcp_servers.sightline]\n"
        'url = "http://127.0.0.1:1/mcp"\n'
        "tool_timeout_sec = 30\n"
        "[mcp_servers.sightline.tools.hover]\n"
        'approval_mode = "approve"\n'
    )
    changed = toml.put(text, PATH, {"command": "sightline"}, drop={"url"})
    assert changed == (
        "[mcp_servers.sightline]\n"
        "tool_timeout_sec = 30\n"
        'command = "sightline"\n'
        "[mcp_servers.sightline.tools.hover]\n"
        'approval_mode = "approve"\n'
    )


REFUSED = {
    "inline": 'mcp_servers = { sightline = { command = "x" } }\n',
    "dotted": '[mcp_servers]\nsightline.command = "x"\n',
    "not a table": "mcp_servers = 1\n",
    "a header inside a text": 'x = """\n[mcp_servers.sightline]\n"""\n',
    "an array of tables": '[[mcp_servers.sightline]]\ncommand = "x"\n',
    "not TOML": "a = \n",
    "a number of thousands of digits": f"a = {'9' * 5_000}\n",
    "arrays in arrays": f"a = {'[' * 100_000}\n",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    with pytest.raises(toml.BadToml):
        toml.put(text, PATH, NEW)


def test_a_table_of_another_way_to_reach_the_server_is_not_left_beside_the_new_one() -> None:
    text = "[mcp_servers.sightline]\nurl = 'u'\n[mcp_servers.sightline.http_headers]\nA = 'b'\n"
    with pytest.raises(toml.BadToml, match=r"remove that table and write again"):
        toml.put(text, PATH, {"command": "sightline"}, drop={"url", "http_headers"})
    kept = "[mcp_servers.sightline]\ncommand = 'x'\n[mcp_servers.sightline.env]\nA = 'b'\n"
    assert "[mcp_servers.sightline.env]" in toml.put(kept, PATH, {"command": "y"}, drop={"url"})
