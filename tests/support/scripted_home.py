"""A user's home in which the scripted language server stands in for the default one of Python."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support import fake_server

__all__ = ["install"]


def install(home: Path, script: Mapping[str, Any], **overrides: str | int) -> Path:
    """Makes it follow a script (see fake_server.py); the folder of the script and of its log.

    ``overrides`` are members of its registry entry.
    """
    folder = home / "programs"
    folder.mkdir(parents=True)
    (folder / "script.json").write_text(json.dumps(script))
    command = [sys.executable, fake_server.__file__, str(folder / "script.json")]
    entry: dict[str, Any] = {
        "command": command,
        "found": "path",
        "folder": "root",
        "restart_on": [],
        # It is asked what the script answers, and nothing besides.
        "declarations": "server",
        "unknown_members": "",
        "doubts_nothing": False,
    }
    entry |= {"python_environment": "", **overrides}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    config = home / ".config/sightline"
    config.mkdir(parents=True)
    (config / "sightline.toml").write_text("\n".join(["[servers.ty]", *lines, ""]))
    return folder
