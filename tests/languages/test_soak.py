"""A short run over four languages with edits and kills; ``make soak`` is the long one."""

from pathlib import Path

from tests.languages.soak import soak


async def test_a_short_soak(tmp_path: Path) -> None:
    seen = await soak(tmp_path, calls=60, seconds=300, seed=3, kill_every=20)
    assert seen.wrong == []
    assert seen.orphans == []
    assert seen.unseen == []
    assert seen.calls.total() == 60
    assert seen.edits > 5 and seen.kills > 0
