"""No requirement without a test, no claim without a requirement."""

from tests.requirements.manifest import claims, requirements


def test_every_requirement_has_a_test() -> None:
    unclaimed = sorted(requirements().keys() - claims().keys())
    assert not unclaimed


def test_every_claim_names_a_requirement() -> None:
    unknown = sorted(claims().keys() - requirements().keys())
    assert not unknown
