"""A few hundred hostile caches at every run; ``make fuzz`` makes a hundred thousand."""

import pytest

from tests.fuzz_context import fuzz


@pytest.mark.requirement("CX-hostile")
def test_hostile_caches() -> None:
    outcomes = fuzz(cases=800, seed=20_260_101)
    # Both kinds of case occur: caches that are still good, and caches that are not.
    assert outcomes["resolve answered"] > 100
    assert outcomes["resolve cache_invalid"] > 200
