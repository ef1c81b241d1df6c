"""A running server reads what clients get again, whenever and however the file changes."""

import os
from pathlib import Path

import pytest

from sightline.cli.client_tables import ClientTables
from sightline.cli.clients.files import UserFile
from sightline.cli.configuration import configure
from sightline.cli.folders import Folders


@pytest.mark.parametrize("links", [0, 1, 2])
def test_what_config_writes_is_read_also_behind_links(home: Path, links: int) -> None:
    """As those who keep their settings in a repository have it; the target is what is replaced."""
    folders = Folders({"HOME": str(home)})
    file = folders.settings
    file.parent.mkdir(parents=True)
    for number in range(links):
        target = home / f"kept-{number}.toml"
        file.symlink_to(target)
        file = target
    file.write_text("", encoding="utf-8")
    tables = ClientTables(folders, configure(folders, {}).settings, lambda: configure(folders, {}))
    assert tables.options_for("other").tool_names == "dotted"
    after = '[clients."other"]\ntool_names = "underscore"\n'
    UserFile(folders.settings).write("", after, secret=False, ours=True)
    assert os.path.islink(folders.settings) == bool(links)
    assert tables.options_for("other").tool_names == "underscore"
    file.write_text("", encoding="utf-8")
    assert tables.options_for("other").tool_names == "dotted"


def test_a_link_that_leads_elsewhere(home: Path) -> None:
    folders = Folders({"HOME": str(home)})
    folders.settings.parent.mkdir(parents=True)
    (home / "one.toml").write_text("", encoding="utf-8")
    folders.settings.symlink_to(home / "one.toml")
    tables = ClientTables(folders, configure(folders, {}).settings, lambda: configure(folders, {}))
    assert tables.options_for("other").tool_names == "dotted"
    (home / "two.toml").write_text('[clients."other"]\ntool_names = "underscore"\n')
    folders.settings.unlink()
    folders.settings.symlink_to(home / "two.toml")
    assert tables.options_for("other").tool_names == "underscore"
