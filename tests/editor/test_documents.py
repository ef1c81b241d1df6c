"""docs/bridge.md lists exactly the messages and questions there are."""

import re
from pathlib import Path
from typing import get_args

import pytest

from sightline.editor import messages as m

PAGE = (Path(__file__).parents[2] / "docs/bridge.md").read_text(encoding="utf-8")


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
