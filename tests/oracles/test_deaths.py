"""Whoever dies, nobody is left behind. ``python -m tests.oracles.deaths`` does this 20 times."""

import pytest

from tests.oracles.deaths import CAUSES, Cause, tally

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.name.replace("`", ""))
def test_no_process_is_left(cause: Cause) -> None:
    """One round with nothing to do, one with a call in flight."""
    seen = tally(cause, rounds=2)
    assert (seen.rounds, seen.left, seen.not_answering) == (2, 0, 0)
