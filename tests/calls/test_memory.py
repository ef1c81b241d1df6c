"""What is kept between calls stays within its budget, counted by what Python really takes."""

import gc
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.calls.memory import AnswerCache, Retained, RetainedSet, Store
from sightline.contract import limits
from sightline.contract.failures import CursorExpired, SnapshotTooLarge
from sightline.contract.values import Location, Position, Range
from sightline.tools.tool import Paged


def still() -> float:
    return 0.0


def _set(items: list[bytes]) -> RetainedSet:
    return RetainedSet(items, lambda count, cut, flags: "", (), sum(map(len, items)))


#: Other threads of the process may take memory meanwhile: what our lines took is counted.
_OURS = [tracemalloc.Filter(True, place) for place in (f"*/{Path(__file__).name}", "*/sightline/*")]


def _taken(fill: Callable[[], Store[object]]) -> tuple[int, Store[object]]:
    gc.collect()  # what was freed before would be taken again, and not counted
    tracemalloc.start()
    try:
        store = fill()
        traces = tracemalloc.take_snapshot().filter_traces(_OURS).traces
        return sum(trace.size for trace in traces), store
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("items", [0, 1, 20])
def test_the_budget_of_result_sets_counts_what_they_take(items: int) -> None:
    def fill() -> Store[object]:
        retained = Retained(still)
        for number in range(2_000):
            made = [b"%0160d" % (number * 100 + item) for item in range(items)]
            kept = _set(made)
            kept.last = ((0, number), b"".join(made), f"Returned {number} references.")
            retained.keep(f"{number:064x}", kept)
        return retained.store  # type: ignore[return-value]

    taken, store = _taken(fill)
    assert len(store) == 2_000
    assert taken <= store.size * 1.05


def test_places_that_are_encoded_when_asked_for_count_twice() -> None:
    def fill() -> Store[object]:
        retained = Retained(still)
        for number in range(300):
            found = [_place(number, line) for line in range(1_000, 1_020)]
            kept = RetainedSet.of(Paged(found, lambda count, cut, flags: "", item_bytes=110))
            kept.prepare(0, len(found))
            retained.keep(f"{number:064x}", kept)
        return retained.store  # type: ignore[return-value]

    taken, store = _taken(fill)
    assert len(store) == 300
    assert taken <= store.size * 1.05


def _place(number: int, line: int) -> Location:
    return Location("file:///x/y.py", Range(Position(line, number), Position(line, number + 300)))


@pytest.mark.parametrize("size", [0, 120, 4_000])
def test_the_budget_of_answers_counts_what_they_take(size: int) -> None:
    def fill() -> Store[object]:
        answers = AnswerCache(still)
        for number in range(2_000):
            place = (f"file:///home/somebody/src/project/module{number}.py", number, 0)
            key = (("vscode.lsp.hover", place), f"{number:064x}", (number + 10**12,) * 3, "empty")
            answers.put(key, b"%0*d" % (size, number), f"Hover {number} available.")
        return answers.store  # type: ignore[return-value]

    taken, store = _taken(fill)
    assert len(store) == 2_000
    assert taken <= store.size * 1.05


def test_a_flood_of_empty_answers_pushes_out_the_oldest() -> None:
    answers = AnswerCache(still)
    for number in range(100_000):
        answers.put(number, b"", "")
    assert answers.store.size <= limits.ANSWER_CACHE_TOTAL_BYTES
    assert len(answers.store) < 50_000
    assert answers.get(0) is None and answers.get(99_999) is not None


def test_a_set_that_is_too_large_by_its_own_bytes_is_refused() -> None:
    retained = Retained(still)
    half = b"x" * (limits.RETAINED_SET_BYTES // 2)
    retained.keep("fits", _set([half, half]))
    assert retained.require("fits").size == limits.RETAINED_SET_BYTES
    with pytest.raises(SnapshotTooLarge):
        retained.keep("does not", _set([half, half, b"x"]))
    with pytest.raises(CursorExpired):
        retained.require("does not")
