"""No requirement without a test, no claim without a requirement."""

import pytest

from tests.requirements.manifest import claims, postponed, requirements

#: The capabilities that requirements may still wait for.
MISSING = {"index"}


def test_every_requirement_has_a_test() -> None:
    due = {row.id for row in requirements().values() if not row.later}
    assert not sorted(due - claims().keys())


def test_every_claim_names_a_requirement() -> None:
    assert not sorted(claims().keys() - requirements().keys())


def test_a_claimed_requirement_is_not_postponed_any_more() -> None:
    waiting = {name for names in postponed().values() for name in names}
    assert not sorted(waiting & claims().keys()), "take the `later` field away"


def test_postponed_requirements_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    """Shown on every run, so that nobody forgets them."""
    waiting = postponed()
    with capsys.disabled():
        for capability, ids in waiting.items():
            print(f"\n{len(ids)} requirements wait for {capability!r}: {', '.join(ids)}")
    assert waiting.keys() <= MISSING


def test_texts_are_sentences_of_their_own() -> None:
    texts = [requirement.text for requirement in requirements().values()]
    assert len(texts) == len(set(texts))
    assert all(text.endswith(".") and len(text) > 20 for text in texts)
