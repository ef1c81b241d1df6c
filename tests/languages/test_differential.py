"""Random edits: an engine that has seen them all answers like one that starts now.

Longer runs: ``python -m tests.languages.differential``.
"""

from pathlib import Path

import pytest

from tests.languages.differential import differences
from tests.languages.differential_projects import PROJECTS
from tests.languages.samples import needs

#: Rounds in CI; the servers that start slowly get fewer.
_ROUNDS = {"pyright": 6, "vtsls": 6, "clangd": 10}
_SEVERAL_ROOTS = 5


@pytest.mark.parametrize("name", PROJECTS)
async def test_edits_leave_nothing_behind(tmp_path: Path, name: str) -> None:
    project = PROJECTS[name]
    needs(project.server)
    rounds = _ROUNDS.get(project.server, 15) if project.roots == ("",) else _SEVERAL_ROOTS
    assert await differences(project, rounds, 2, tmp_path) == []
