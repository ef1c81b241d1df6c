"""``servers install`` runs no program of the repository that it is started in.

npm, npx and yarn put ``node_modules/.bin`` of a project, and of the folders above it, in front of
the search path.
"""

import os
from pathlib import Path

import pytest

from sightline.lsp.install.downloads import Tools
from tests.support.program import run

PROGRAM = "#!/bin/sh\ntouch '%s'\nexit 1\n"


def planted(folder: Path, name: str, ran: Path) -> str:
    """A program that would leave a trace, and its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(PROGRAM % ran)
    (folder / name).chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("start", ["", "packages/one", "packages/nested/deep"])
@pytest.mark.parametrize("linked", [False, True])
def test_no_program_of_the_repository(home: Path, tmp_path: Path, start: str, linked: bool) -> None:
    repository = tmp_path / "repository"
    here = repository / start
    here.mkdir(parents=True)
    (repository / ".git").mkdir()
    if "nested" in start:
        (repository / "packages/nested/.git").mkdir()
    ran = tmp_path / "ran"
    tools = planted(repository / "node_modules/.bin", "npm", ran)
    planted(repository / "node_modules/.bin", "node", ran)
    if linked:
        os.symlink(tools, tmp_path / "tools")
        tools = str(tmp_path / "tools")
    extra = {"PATH": os.pathsep.join([tools, "/usr/bin", "/bin"])}
    extra |= {"npm_config_registry": "http://127.0.0.1:1", "npm_config_fetch_retries": "0"}
    done = run(home, "servers", "install", "tsgo", cwd=here, extra=extra)
    assert not ran.exists()
    assert done.returncode == 6, done.stderr


def test_one_that_is_only_there_is_named_as_such(home: Path, tmp_path: Path) -> None:
    repository, ran = tmp_path / "repository", tmp_path / "ran"
    tools = planted(repository / "tools", "npm", ran)
    done = run(home, "servers", "install", "tsgo", cwd=repository, extra={"PATH": tools})
    assert not ran.exists()
    assert done.returncode == 6
    assert "npm lies in the project around the current folder" in done.stderr


def test_a_link_to_one_is_not_run(tmp_path: Path) -> None:
    inside = planted(tmp_path / "repository", "npm", tmp_path / "ran")
    outside = tmp_path / "bin"
    outside.mkdir()
    (outside / "npm").symlink_to(Path(inside) / "npm")
    usual = planted(tmp_path / "usual", "npm", tmp_path / "ran")
    tools = Tools({"PATH": os.pathsep.join([inside, str(outside), usual])}, (inside,))
    assert tools.npm() == [f"{usual}/npm"]
    assert inside not in tools.child_environment()["PATH"].split(os.pathsep)
