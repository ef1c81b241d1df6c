"""Writes docs/reference from the code: commands, settings, tools, errors, clients.

``python -m tools.reference`` writes the pages, ``--check`` fails when one is out of date. What
comes new to a catalogue, a parser or a table is on its page without anybody remembering to.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from tools.generated import write
from tools.reference_clients import clients_page
from tools.reference_commands import commands_page
from tools.reference_errors import errors_page
from tools.reference_settings import settings_page
from tools.reference_tools import tools_page

__all__ = ["FOLDER", "PAGES", "render"]

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "commands.md": commands_page,
    "settings.md": settings_page,
    "tools.md": tools_page,
    "errors.md": errors_page,
    "clients.md": clients_page,
}
_MARK = "<!-- Written from the code by `make docs`; checked by `make check`. Do not edit. -->\n\n"


def render(name: str) -> str:
    """A page as it should be."""
    return _MARK + PAGES[name]().rstrip() + "\n"


if __name__ == "__main__":
    sys.exit(write({FOLDER / name: render(name) for name in PAGES}, __doc__))
