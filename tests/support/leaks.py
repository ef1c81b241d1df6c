"""Planted secrets, and a watch over everything that Sightline says during the whole suite.

The support classes plant marks (in every request body, in the name of the home folder, in the
environment), register tokens and session ids as secrets, and hand over every log line and every
answer. A text that holds a secret fails the test it was said in, or the run if that test is over.
"""

import re
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

__all__ = ["BODY", "ENVIRONMENT", "OUTSIDE", "Ledger", "ledger"]

#: Part of every request that the support classes send.
BODY = "PLANTED-body-5e1f0c"
#: Part of the home folder's name, which is never inside a root.
OUTSIDE = "PLANTED-outside-a77b21"
#: The value of a variable in the environment of every server.
ENVIRONMENT = "PLANTED-environment-30d9ee"
_KEPT = 500


@dataclass
class Ledger:
    """What must not be said, and what was said."""

    secrets: set[str] = field(default_factory=lambda: {BODY, OUTSIDE, ENVIRONMENT})
    count: int = 0
    _new_secrets: set[str] = field(default_factory=set)
    _new_texts: list[tuple[str, str]] = field(default_factory=list)
    #: The latest texts that were searched already, for secrets that become known later.
    _searched: deque[tuple[str, str]] = field(default_factory=lambda: deque(maxlen=_KEPT))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def secret(self, text: str) -> str:
        """From now on, and for what was said lately, this must not appear."""
        assert len(text) >= 16, "a short secret appears by accident"
        with self._lock:
            if text not in self.secrets:
                self.secrets.add(text)
                self._new_secrets.add(text)
        return text

    def hear(self, what: str, text: str | bytes) -> None:
        """Something that left the program."""
        spoken = text if isinstance(text, str) else text.decode("utf-8", "replace")
        with self._lock:
            self.count += 1
            self._new_texts.append((what, spoken))

    def leaks(self) -> list[str]:
        """Every text with a secret in it that has not been reported yet."""
        with self._lock:
            found = [
                *_with_secrets(self._searched, self._new_secrets),
                *_with_secrets(self._new_texts, self.secrets),
            ]
            self._searched.extend(self._new_texts)
            self._new_texts, self._new_secrets = [], set()
        return found


def _with_secrets(texts: Iterable[tuple[str, str]], secrets: set[str]) -> list[str]:
    if not secrets:
        return []
    pattern = re.compile("|".join(map(re.escape, sorted(secrets))))
    return [f"{what}: {text[:300]!r}" for what, text in texts if pattern.search(text)]


ledger = Ledger()
#: What the other test processes reported, where tests run in several.
_others: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def nothing_leaks() -> Iterator[None]:
    yield
    assert not ledger.leaks()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """What was said after the last test, such as log lines while servers stopped."""
    leaks = ledger.leaks()
    report = getattr(session.config, "workeroutput", None)
    if report is not None:  # one of several processes, which tells the one that reports
        report["leaks"] = {
            "found": leaks,
            "texts": ledger.count,
            "secrets": len(ledger.secrets),
        }
        return
    leaks += [leak for other in _others for leak in other["found"]]
    if leaks:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for leak in leaks:
            print(f"LEAK {leak}")


def pytest_testnodedown(node: Any, error: object) -> None:
    """One of several test processes has ended."""
    _others.append(node.workeroutput["leaks"])


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    texts = ledger.count + sum(other["texts"] for other in _others)
    secrets = len(ledger.secrets) + sum(other["secrets"] for other in _others)
    terminalreporter.write_line(f"leaks: {texts} texts searched for {secrets} planted secrets")
