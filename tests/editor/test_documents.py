"""docs/bridge.md lists the messages there are, docs/vscode.md the settings and commands."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest

from sightline.editor import messages as m

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/bridge.md").read_text(encoding="utf-8")


def listed(heading: str) -> dict[str, str]:
    """The first two cells of a table's rows."""
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \|([^|]*)\|", section, re.MULTILINE)
    return {name: members.strip() for name, members in rows}


@pytest.mark.parametrize(
    ("heading", "union"), [("From the extension", m.FromEditor), ("From the child", m.ToEditor)]
)
def test_every_message_is_described(heading: str, union: object) -> None:
    coded = {kind.__struct_config__.tag: kind for kind in get_args(union)}
    documented = listed(heading)
    assert documented.keys() == coded.keys()
    for name, kind in coded.items():
        for member in kind.__struct_fields__:
            assert member in documented[name] or name == "question", (name, member)


def test_every_question_is_described() -> None:
    assert list(listed("Questions")) == list(get_args(m.Ask))


def test_every_setting_and_command_of_the_extension_is_described() -> None:
    page = (ROOT / "docs/vscode.md").read_text(encoding="utf-8")
    manifest = json.loads((ROOT / "editors/vscode/package.json").read_text(encoding="utf-8"))
    parts = manifest["contributes"]
    declared = {
        name: json.dumps(setting["default"])
        for part in parts["configuration"]
        for name, setting in part["properties"].items()
    }
    rows = re.findall(
        r"^\| `((?:mcpLspGateway|sightline)\.\w+)` \| `([^`]*)` \|", page, re.MULTILINE
    )
    assert dict(rows) == declared
    for command in parts["commands"]:
        title = ": ".join(filter(None, [command.get("category"), command["title"]]))
        assert f"`{title}`" in page, title
