"""Started where there is no project: what is advised must not pin a client's entry to one."""

from pathlib import Path

import pytest

from tests.support.program import run

NEXT = "start Sightline, or the client that starts it, in the folder of a project"


@pytest.mark.parametrize("words", ["stdio", "serve", "index status", "doctor"])
@pytest.mark.parametrize("folder", ["home", "/"])
def test_the_next_step_is_where_to_start(home: Path, words: str, folder: str) -> None:
    cwd = home if folder == "home" else Path(folder)
    done = run(home, *words.split(), cwd=cwd)
    assert done.returncode in (3, 6) and NEXT in done.stdout + done.stderr
    assert " pass " not in done.stdout + done.stderr


def test_a_folder_that_was_named_is_to_be_named_better(home: Path) -> None:
    assert "; pass a folder in it" in run(home, "stdio", home).stderr
    assert "; pass the folder of your project" in run(home, "stdio", "/").stderr
