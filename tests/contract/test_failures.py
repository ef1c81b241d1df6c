"""The tree of failures: drawn as it is, each with advice, none with words of the wire."""

import inspect
import re
from typing import Any

import pytest

from sightline.contract import failures
from sightline.contract.failures import Failure


def tree(top: type[Failure] = Failure) -> list[type[Failure]]:
    return [top, *(found for child in top.__subclasses__() for found in tree(child))]


LEAVES = [kind for kind in tree() if not kind.__subclasses__()]


def make(kind: type[Failure]) -> Failure:
    extra: dict[str, Any] = {"waiting_for": "ty"} if kind is failures.NotReady else {}
    extra |= {"timeout_ms": 5} if kind is failures.TimedOut else {}
    return kind(**extra)


def test_the_drawing_is_the_tree() -> None:
    drawing = inspect.getdoc(failures) or ""
    drawn = set(re.findall(r"\b[A-Z][A-Za-z]+\b", drawing.split("A failure says")[0]))
    assert {kind.__name__ for kind in tree()} <= drawn


def test_every_class_is_public() -> None:
    assert {kind.__name__ for kind in tree()} == set(failures.__all__)


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.__name__)
def test_a_failure_says_what_to_do(kind: type[Failure]) -> None:
    failure = make(kind)
    assert str(failure) == failure.advice == kind.default_advice
    assert len(failure.advice) > 15 and not failure.advice.endswith(".")
    assert ("retryable" in failure.details) == kind.retryable
    assert "MCP_LSP_GATEWAY" not in failure.advice and "32" not in failure.advice


def test_details_are_a_copy() -> None:
    given = {"a": 1}
    failure = failures.TooMany(details=given)
    failure.details["b"] = 2
    assert given == {"a": 1}


def test_what_helps_a_retry_is_said() -> None:
    not_ready = failures.NotReady("wait", waiting_for="ty to start", details={"files": 3})
    assert not_ready.details == {"waitingFor": "ty to start", "files": 3, "retryable": True}
    assert {kind.__name__ for kind in LEAVES if kind.retryable} == {
        "NotReady",
        "TimedOut",
        "Overloaded",
    }
