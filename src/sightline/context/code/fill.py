"""Filling a budget: each candidate in full, as a signature, or not at all.

Every step (take the signature, take the whole, replace the signature by the whole) has a gain and
a price in tokens. A piece that was not taken yet also costs its reader the members around its
text; the budget is one of texts, so that is not counted in it, but it weighs in the price: a few
whole functions are worth more than a long tail of names. The first candidate, the best, is taken in
some form before any other. Then the step with the most gain per token that still fits is taken,
again and again, until nothing fits. All numbers are whole, and ties are broken by the candidates'
order, so that the outcome is the same everywhere.
"""

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

__all__ = ["FULL", "NOTHING", "SIGNATURE", "Candidate", "fill"]

NOTHING, SIGNATURE, FULL = 0, 1, 2

#: Gains per token are compared as whole numbers of this fineness.
_FINE = 1_000_000
#: What stands around a text in the answer (id, digest, score, reasons): 220 bytes, measured.
_AROUND = 55


class Candidate(NamedTuple):
    #: How much it is wanted.
    worth: int
    full_tokens: int
    #: ``None`` where there is no shorter form.
    short_tokens: int | None
    #: How much of its worth the short form has, in hundredths; and whether more is wanted at all.
    share: int
    only_short: bool = False


def fill(candidates: Sequence[Candidate], budget: int, pause: Callable[[], None]) -> list[int]:
    """For each candidate ``FULL``, ``SIGNATURE`` or ``NOTHING``, within the budget."""
    state = [NOTHING] * len(candidates)
    steps: list[tuple[int, int, int, int, int]] = []

    def offer(number: int, target: int, gain: int, price: int) -> None:
        around = _AROUND if state[number] == NOTHING else 0
        rate = gain * _FINE // max(price + around, 1)
        if number == 0 and state[0] == NOTHING:
            rate += 1 << 256  # above all others
        heapq.heappush(steps, (-rate, number, target, gain, price))

    for number, candidate in enumerate(candidates):
        _first_step(number, candidate, offer)
    left = budget
    turns = 0
    while steps:
        turns += 1
        if turns % 256 == 0:
            pause()
        _, number, target, _, price = heapq.heappop(steps)
        candidate = candidates[number]
        if price > left:
            if target == FULL and state[number] == NOTHING and candidate.short_tokens is not None:
                gain = candidate.worth * candidate.share // 100
                offer(number, SIGNATURE, gain, candidate.short_tokens)
            continue
        left -= price
        before, state[number] = state[number], target
        if target == SIGNATURE and before == NOTHING and not candidate.only_short:
            assert candidate.short_tokens is not None
            gain = candidate.worth - candidate.worth * candidate.share // 100
            offer(number, FULL, gain, candidate.full_tokens - candidate.short_tokens)
    return state


def _first_step(
    number: int, candidate: Candidate, offer: Callable[[int, int, int, int], None]
) -> None:
    """The better of taking the signature first and taking the whole at once."""
    worth, full, short = candidate.worth, candidate.full_tokens, candidate.short_tokens
    if short is None:
        offer(number, FULL, worth, full)
        return
    gain = worth * candidate.share // 100
    if candidate.only_short or gain * (full + _AROUND) >= worth * (short + _AROUND):
        offer(number, SIGNATURE, gain, short)
    else:
        offer(number, FULL, worth, full)
