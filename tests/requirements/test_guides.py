"""Rules about how the project is changed, as far as files can show that they are kept."""

import re
from pathlib import Path

import pytest

from sightline.cli.main import COMMANDS
from sightline.tools.catalogue import CATALOGUE

ROOT = Path(__file__).parent.parent.parent
DECISIONS = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
#: What a page about a decision has, as a section or as a paragraph.
PARTS = ("Context", "Options", "Choice", "Price", "Going back")


@pytest.mark.requirement("GW-9-together")
def test_the_guide_says_what_changes_together() -> None:
    guide = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    rows = [line for line in guide.splitlines() if line.startswith("| ")]
    schemas = next(row for row in rows if "schema" in row.split("|")[1])
    assert "docs/CONTRACT.md" in schemas and "tests/" in schemas
    transport = next(row for row in rows if "transport" in row.split("|")[1])
    assert "docs/PROTOCOL.md" in transport and "tests/server" in transport
    safety = next(row for row in rows if "tokens" in row.split("|")[1])
    assert "docs/SECURITY.md" in safety and "tests/" in safety


@pytest.mark.requirement("GA-planning")
@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.name[:4])
def test_a_decision_says_what_the_guide_asks_for(page: Path) -> None:
    """Each part, not empty, on about a page, about modules that exist."""
    text = page.read_text(encoding="utf-8")
    assert re.match(r"# \S", text) and len(text.splitlines()) <= 85
    for part in PARTS:
        # A paragraph that begins with its name, or a section of that name.
        bodies = re.findall(
            rf"^(?:\*\*{part}\b[^*\n]*\.\*\*|## {part}\n)\s*([^#*\s][^\n]+|[-*|] )",
            text,
            re.MULTILINE,
        )
        assert bodies, part
    for module in re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)+\.py)`", text):
        assert any((ROOT / top / module).exists() for top in ("src/sightline", "")), module


@pytest.mark.requirement("GA-planning")
def test_the_guide_asks_for_what_decisions_have() -> None:
    guide = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    section = guide.partition("## Before a risky change\n")[2].partition("\n## ")[0]
    asked = section.replace("\n", " ").lower()
    for words in ("cursors", "keys", "the gate", "tokens", "docs/decisions"):
        assert words in asked
    for words in ("context", "options with figures", "choice", "price", "how to go back"):
        assert words in asked
    numbers = [page.name[:4] for page in DECISIONS]
    assert DECISIONS and len(numbers) == len(set(numbers))


@pytest.mark.requirement("GA-no-invention")
def test_documents_name_only_what_exists() -> None:
    """Every ``sightline COMMAND`` and every ``vscode.lsp`` tool in the documents is real."""
    tools = {tool.info.name for tool in CATALOGUE}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`sightline ([a-z]+)\b", text):
            assert name in COMMANDS or name in PLANNED, f"{page.name}: sightline {name}"
        for name in re.findall(r"vscode\.lsp\.[A-Za-z.]*[A-Za-z]", text):
            assert name in tools, f"{page.name}: {name}"


#: Commands that the documents may already name while their part of the program is written.
PLANNED = {"servers", "index", "context", "config", "completion"}
