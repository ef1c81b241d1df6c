"""Writing the pages of docs/evidence: each says which command makes it."""

from pathlib import Path

__all__ = ["FOLDER", "marked", "write_page"]

FOLDER = Path(__file__).parent.parent / "docs/evidence"


def marked(command: str, text: str) -> str:
    """A page with a note of the command that writes it."""
    return f"<!-- Written by `{command}`. Do not edit. -->\n\n{text}"


def write_page(name: str, command: str, text: str) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / name).write_text(marked(command, text), encoding="utf-8")
