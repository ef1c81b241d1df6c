"""Filling a budget: never over it, whole where there is room, the same every time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.context.code.fill import FULL, NOTHING, SIGNATURE, Candidate, fill
from tests.context.support import PATIENT


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    full = draw(st.integers(1, 400))
    short = draw(st.none() | st.integers(1, full))
    worth = draw(st.integers(1, 10**8))
    return Candidate(worth, full, short, draw(st.integers(1, 99)), draw(st.booleans()))


def quiet() -> None:
    pass


def price(candidate: Candidate, state: int) -> int:
    if state == NOTHING:
        return 0
    return candidate.full_tokens if state == FULL else candidate.short_tokens or 0


@PATIENT
@given(st.lists(candidates(), max_size=40), st.integers(0, 5_000))
@pytest.mark.requirement("CX-code-budget")
def test_the_budget_holds(given_: list[Candidate], budget: int) -> None:
    found = fill(given_, budget, quiet)
    assert sum(map(price, given_, found)) <= budget
    assert found == fill(list(given_), budget, quiet)
    for candidate, state in zip(given_, found, strict=True):
        assert state != SIGNATURE or candidate.short_tokens is not None
        left = budget - sum(map(price, given_, found))
        least = candidate.full_tokens
        if candidate.short_tokens is not None:
            least = candidate.short_tokens
        assert state != NOTHING or least > left, "something that fits was left out"


@PATIENT
@given(st.lists(candidates(), max_size=30))
def test_with_room_for_all_everything_is_whole(given_: list[Candidate]) -> None:
    for candidate, state in zip(given_, fill(given_, 10**6, quiet), strict=True):
        short = candidate.only_short and candidate.short_tokens is not None
        assert state == (SIGNATURE if short else FULL)


def test_the_best_is_taken_in_full_before_the_rest() -> None:
    best = Candidate(10_000, 90, 20, 30)
    rest = [Candidate(100, 90, 20, 60) for _ in range(5)]
    assert fill([best, *rest], 110, quiet) == [FULL, SIGNATURE, 0, 0, 0, 0]
