"""The official conformance suites against a live ``sightline serve``.

    python -m tests.oracles.conformance      runs both and writes docs/evidence/conformance.md

Most scenarios call tools, prompts and resources that a server has to offer under names the suite
made up. Sightline's catalogue is its contract, so those scenarios cannot pass. They are listed,
with what they would need, in baselines/; every other scenario has to pass.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.oracles.proxy import TokenProxy
from tests.oracles.sample import serving
from tools import node
from tools.evidence import write_page

__all__ = ["SUITES", "Scenario", "Suite", "baseline", "judge"]

_BASELINES = Path(__file__).with_name("baselines")
_SUITE_S = 300
_INTRODUCTION = """\
# Conformance

The official suites `@modelcontextprotocol/conformance`, run against `sightline serve` through a
loopback proxy that adds the bearer token. Every scenario is listed. An excused scenario needs a
tool, prompt, resource or capability that the suite made up and Sightline's contract does not have;
the one exception, `server-sse-multiple-streams` of 0.1.16, names another revision in its requests
than the one it agreed on. It passes when the proxy corrects that header (tests/oracles).

`server-sse-polling` looks at event streams of a tool `test_reconnection`; 0.2 finds nothing to
check. `wire-schema-valid` (0.2) compares every message with the schema of the revision; it must
succeed in excused scenarios too. The suites send the server's own address as their origin, which
the run puts into `allowed_origins`: by default Sightline refuses every origin.

Weakness: the suites have no mode for stdio, and the 0.2 suite is a pre-release."""


@dataclass(frozen=True)
class Suite:
    version: str
    package: str
    #: Which scenarios: everything it has for servers, or everything one revision requires.
    selection: tuple[str, ...]

    @property
    def baseline_file(self) -> Path:
        return _BASELINES / f"{self.version}.yml"


SUITES = (
    Suite("0.1.16", "conformance-0.1", ("--suite", "all")),
    Suite("0.2.0-alpha.12", "conformance-0.2", ("--requirements", "2025-11-25")),
)


@dataclass(frozen=True)
class Scenario:
    """What one scenario found: the checks that succeeded, and those that failed or warned."""

    name: str
    succeeded: tuple[str, ...]
    failed: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """A scenario that found nothing to check has not passed."""
        if self.failed:
            return "no"
        return "yes" if self.succeeded else "nothing to check"


@dataclass(frozen=True)
class Verdict:
    exit_status: int
    scenarios: dict[str, Scenario]
    output: str

    @property
    def passing(self) -> set[str]:
        return {name for name, scenario in self.scenarios.items() if scenario.outcome == "yes"}


def judge(suite: Suite, *options: str, replace: Mapping[str, str] | None = None) -> Verdict:
    """Runs a suite. It plays a browser page of the server's own address, which is allowed here.

    ``replace`` changes header values on the way, to see what a scenario fails about.
    """
    program = node.install("protocol") / suite.package / "dist/index.js"
    with TokenProxy(replace) as proxy, tempfile.TemporaryDirectory() as results:
        own_address = f"http://127.0.0.1:{proxy.port}"
        with serving("--set", f"allowed_origins={own_address}") as server:
            proxy.target = (server.port, server.token)
            url = ["--url", f"{own_address}/mcp"]
            done = subprocess.run(
                [node.node(), program, "server", *url, "-o", results, *options],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SUITE_S,
                check=False,
                cwd=results,
            )
        found = [_scenario(folder) for folder in sorted(Path(results).iterdir())]
        scenarios = {scenario.name: scenario for scenario in found}
        return Verdict(done.returncode, scenarios, done.stdout + done.stderr)


def judge_all(suite: Suite) -> Verdict:
    """Every scenario of a suite, with the suite's own judgement about the baseline."""
    return judge(suite, *suite.selection, "--expected-failures", str(suite.baseline_file))


def baseline(suite: Suite) -> dict[str, str]:
    """The scenarios that cannot pass and why, from the suite's own file format."""
    reasons: dict[str, str] = {}
    for line in suite.baseline_file.read_text(encoding="utf-8").splitlines():
        name, separator, reason = line.partition(" # ")
        if separator and name.startswith("  - "):
            reasons[name.removeprefix("  - ").strip()] = reason.strip()
    return reasons


def _scenario(folder: Path) -> Scenario:
    """One folder of results: ``server-<scenario>-<time>/checks.json``."""
    checks = json.loads((folder / "checks.json").read_text(encoding="utf-8"))
    name = folder.name.removeprefix("server-")[: -len("-2000-01-01T00-00-00-000Z")]
    good = [check["id"] for check in checks if check["status"] == "SUCCESS"]
    bad = [check["id"] for check in checks if check["status"] in ("FAILURE", "WARNING")]
    return Scenario(name, tuple(good), tuple(bad))


def page(verdicts: dict[Suite, Verdict]) -> str:
    lines = [_INTRODUCTION]
    for suite, verdict in verdicts.items():
        reasons = baseline(suite)
        passing = len(verdict.passing)
        lines += [
            "",
            f"## {suite.version} (`{' '.join(suite.selection)}`)",
            "",
            f"{passing} of {len(verdict.scenarios)} scenarios pass, {len(reasons)} are excused.",
            "",
            "| scenario | passes | checks that succeeded | why not |",
            "|---|---|---|---|",
        ]
        lines += [
            f"| {name} | {scenario.outcome} | {len(scenario.succeeded)} | {reasons.get(name, '')} |"
            for name, scenario in sorted(verdict.scenarios.items())
        ]
    return "\n".join(lines) + "\n"


def main() -> int:
    verdicts = {suite: judge_all(suite) for suite in SUITES}
    write_page("conformance.md", "python -m tests.oracles.conformance", page(verdicts))
    bad = [suite.version for suite, verdict in verdicts.items() if verdict.exit_status]
    print("failed: " + ", ".join(bad) if bad else "every scenario is as the baselines say")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
