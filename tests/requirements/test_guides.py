"""Rules about how the project is changed, as far as files can show that they are kept."""

import re
from pathlib import Path

import pytest

from sightline.cli.main import COMMANDS
from sightline.tools.catalogue import CATALOGUE

ROOT = Path(__file__).parent.parent.parent


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
def test_risky_changes_have_their_pages() -> None:
    guide = (ROOT / "AGENTS.md").read_text(encoding="utf-8")
    assert "## Before a risky change" in guide and "docs/decisions" in guide
    pages = sorted((ROOT / "docs/decisions").glob("[0-9]*.md"))
    assert pages and all(page.read_text(encoding="utf-8").startswith("# ") for page in pages)


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
