"""The official conformance suites: exactly the scenarios that need no fixture pass."""

import pytest

from tests.oracles.conformance import SUITES, Suite, Verdict, baseline, judge, judge_all, page
from tools.evidence import FOLDER, marked

pytestmark = pytest.mark.slow

PASSING: dict[str, set[str]] = {
    "0.1.16": {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
    "0.2.0-alpha.12": {
        "server-initialize",
        "ping",
        "tools-list",
        "dns-rebinding-protection",
        "server-sse-multiple-streams",
        "server-session-lifecycle",
    },
}
NOTHING_TO_CHECK: dict[str, set[str]] = {"0.1.16": set(), "0.2.0-alpha.12": {"server-sse-polling"}}


@pytest.fixture(scope="module")
def verdicts() -> dict[Suite, Verdict]:
    return {suite: judge_all(suite) for suite in SUITES}


@pytest.mark.parametrize("suite", SUITES, ids=lambda suite: suite.version)
def test_exactly_these_scenarios_pass(suite: Suite, verdicts: dict[Suite, Verdict]) -> None:
    verdict = verdicts[suite]
    assert verdict.passing == PASSING[suite.version], verdict.output
    excused = verdict.scenarios.keys() - verdict.passing - NOTHING_TO_CHECK[suite.version]
    assert excused == baseline(suite).keys()
    assert verdict.exit_status == 0, verdict.output


def test_every_message_fits_the_schema_of_the_revision(verdicts: dict[Suite, Verdict]) -> None:
    scenarios = verdicts[SUITES[1]].scenarios.values()
    assert not [scenario for scenario in scenarios if "wire-schema-valid" in scenario.failed]
    unchecked = {s.name for s in scenarios if "wire-schema-valid" not in s.succeeded}
    # These send raw requests, past the client of the suite that does the comparing.
    assert unchecked == {
        "dns-rebinding-protection",
        "server-session-lifecycle",
        "server-sse-multiple-streams",
        "server-sse-polling",
    }


def test_the_one_excused_scenario_without_a_fixture_names_the_wrong_revision() -> None:
    """It passes as soon as its header says the revision that was agreed on."""
    name = "server-sse-multiple-streams"
    agreed = {"mcp-protocol-version": "2025-11-25"}
    verdict = judge(SUITES[0], "--scenario", name, replace=agreed)
    assert verdict.passing == {name}, verdict.output


def test_the_evidence_page_is_current(verdicts: dict[Suite, Verdict]) -> None:
    written = (FOLDER / "conformance.md").read_text(encoding="utf-8")
    assert written == marked("python -m tests.oracles.conformance", page(verdicts))
