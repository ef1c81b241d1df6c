"""docs/context.md says what the code does."""

import re
from pathlib import Path

from sightline.calls.families import CONTEXT_MESSAGES
from sightline.contract import limits

PAGE = (Path(__file__).parents[2] / "docs" / "context.md").read_text(encoding="utf-8")


def test_the_error_table_is_the_frozen_one() -> None:
    part = PAGE.partition("Errors are tool results")[2].partition("Arguments that do not fit")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", part, re.MULTILINE)
    assert dict(rows) == CONTEXT_MESSAGES


def test_the_limits_are_those_of_the_code() -> None:
    mib = limits.MIB
    assert f"{limits.MAX_CONTEXT_RESPONSE_BYTES // mib} MiB; a larger one" in PAGE
    assert f"{limits.MAX_CONTEXT_DOCUMENT_BYTES // mib} MiB a file" in PAGE
    assert f"{limits.MAX_CONTEXT_CACHE_BYTES // mib} MiB of documents" in PAGE
    assert f"about {limits.CONTEXT_LOADED_BYTES // mib} MiB" in PAGE
    assert f"{limits.CONTEXT_TIMEOUT_MS // 1000} if unset, at most a day" in PAGE
    assert limits.MAX_CONTEXT_TIMEOUT_S == 24 * 3600
