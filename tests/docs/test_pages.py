"""Every page for users: its commands run and say what the page says; its snippets are valid."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from sightline.cli.configuration import configure
from sightline.cli.folders import Folders
from sightline.cli.main import COMMANDS
from sightline.cli.shape import Shape, shapes
from tests.docs.console import Step, blocks, commands, same, sandbox, take, updated

ROOT = Path(__file__).parent.parent.parent
#: Decisions and evidence are dated; what stands in them was true then.
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*.md"))
        if page.parent.name not in ("decisions", "evidence")
    ),
]
EACH = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
WITH_CONSOLE = [page for page in PAGES if "```console" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_CONSOLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_say_what_the_page_says(
    page: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    home = sandbox(tmp_path)
    text = page.read_text(encoding="utf-8")
    wrong: list[str] = []
    for block in list(blocks(text)):
        if block.language != "console":
            continue
        for step in commands(block.text):
            seen = take(step.command, home)
            if not same(step.output, seen):
                wrong.append(f"$ {step.command}\n{seen}")
                page_says = shown(step, step.output)
                text = text.replace(page_says, shown(step, updated(step.output, seen)))
    if request.config.getoption("--update-docs"):
        page.write_text(text, encoding="utf-8")
    else:
        assert not wrong, "\n".join(wrong)


def shown(step: Step, output: str) -> str:
    typed = "\n> ".join(step.command.split("\n"))
    return f"$ {typed}\n{output}"


@EACH
def test_commands_that_are_only_shown_exist(page: Path) -> None:
    """In ``sh`` blocks and in the text: the command, its actions and its flags."""
    known = {shape.path: shape for shape in shapes()}
    text = page.read_text(encoding="utf-8")
    lines = re.findall(r"(?<!`)`(sightline [^`\n]+)`(?!`)", text)
    for block in blocks(text):
        if block.language == "console":
            lines += [step.command for step in commands(block.text)]
        elif block.language == "sh":
            lines += block.text.replace("\\\n", "").splitlines()
    for line in lines:
        for typed in re.findall(r"(?:^|[;&|(] ?)sightline ([^|;&)>]+)", line):
            words = typed.partition(" #")[0].split()
            if words[0].islower() and words[0].isalpha():
                check(words, known)


def check(words: list[str], known: dict[tuple[str, ...], Shape]) -> None:
    typed = " ".join(words)
    assert words[0] in COMMANDS, typed
    path = max((path for path in known if tuple(words[: len(path)]) == path), key=len)
    if path[0] == "context":
        return  # its options are the original's, and are tested with it
    flags = known[path].parser._option_string_actions  # with those that help does not show
    for word in words:
        if word.startswith("--"):
            assert word.partition("=")[0] in flags, typed


@EACH
def test_snippets_are_valid(page: Path, home: Path) -> None:
    for block in blocks(page.read_text(encoding="utf-8")):
        if block.language == "json":
            json.loads(block.text)
        if block.language == "toml":
            tomllib.loads(block.text)
            if "mcp_servers" not in block.text:
                folders = Folders({"HOME": str(home)})
                folders.config.mkdir(parents=True, exist_ok=True)
                folders.settings.write_text(block.text, encoding="utf-8")
                assert configure(folders, {}).warnings == []


@EACH
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists() or promised(file), f"{page.name}: {target}"
        if anchor and file.suffix == ".md" and file.exists():
            assert anchor in anchors(file.read_text(encoding="utf-8")), f"{page.name}: {target}"


def promised(file: Path) -> bool:
    """Whether it is a page of evidence, or a picture on it, that its command has yet to write."""
    listed = (ROOT / "docs/evidence/README.md").read_text(encoding="utf-8")
    return file.parent == ROOT / "docs/evidence" and f"({file.stem}.md)" in listed


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_page_of_benchmarks_leads_to_every_page_of_evidence_with_a_command() -> None:
    listed = (ROOT / "docs/benchmarks.md").read_text(encoding="utf-8")
    told = (ROOT / "docs/evidence/README.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs/evidence").glob("*.md")):
        if page.name != "README.md":
            assert f"(evidence/{page.name})" in listed, page.name
            assert f"]({page.name}) |" in told, page.name
    rows = [row.split(" | ") for row in listed.splitlines() if "(evidence/" in row]
    assert all(len(row) == 4 and row[2].startswith("`") and len(row[3]) > 5 for row in rows)
