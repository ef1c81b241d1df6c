"""Random edits: an engine that has seen them all answers like one that starts now.

Longer runs: ``python -m tests.languages.differential``.
"""

from pathlib import Path

import pytest

from tests.languages.differential import PROJECTS, differences
from tests.languages.samples import needs

#: Rounds in CI; the servers that start slowly get fewer.
_ROUNDS = {"pyright": 6, "vtsls": 6, "clangd": 10}


@pytest.mark.parametrize("server", PROJECTS)
async def test_edits_leave_nothing_behind(tmp_path: Path, server: str) -> None:
    needs(server)
    assert await differences(server, _ROUNDS.get(server, 15), 2, tmp_path) == []
