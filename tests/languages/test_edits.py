"""After every kind of edit every server answers from the new state, at once or not at all."""

from pathlib import Path

import pytest

from tests.languages.edits import EDITS, REPOSITORIES, Repository
from tests.languages.rounds import ask, edited, run_rounds
from tests.languages.samples import needs

CASES = [(server, kind) for server, kinds in REPOSITORIES.items() for kind in kinds]


@pytest.mark.slow
@pytest.mark.parametrize(("server", "kind"), CASES, ids=[f"{s}-{k.__name__}" for s, k in CASES])
async def test_rounds_of_edits(server: str, kind: type[Repository], tmp_path: Path) -> None:
    needs(server)
    async with edited(server, kind, tmp_path, seed=7) as (running, repository):
        assert await ask(running, repository) == repository.truth()
        for edit in EDITS:
            assert await run_rounds(running, repository, edit, 3) == [], edit
