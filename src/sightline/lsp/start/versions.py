"""What servers call their version, and which of two is older.

>>> plain('{"Version": "v0.24.0", "Settings": []}')
'v0.24.0'
>>> plain("Ubuntu clangd version 18.1.3 (1ubuntu1)")
'18.1.3'
>>> is_older("1.85.1 (4eb1612 2025-03-15)", "1.97"), is_older("1.97.1", "1.97"), is_older("", "1")
(True, False, True)
"""

import re

import msgspec

__all__ = ["is_older", "plain"]

_LONGEST = 80
_IN_A_SENTENCE = re.compile(r"\bversion (v?\d\S*)")


class _BuildInformation(msgspec.Struct):
    """What gopls tells instead of a version."""

    Version: str


def plain(version: str) -> str:
    """The version in one short line."""
    try:
        version = msgspec.json.decode(version, type=_BuildInformation).Version
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    sentence = _IN_A_SENTENCE.search(version)
    return (sentence[1] if sentence else version.strip())[:_LONGEST]


def is_older(version: str, oldest: str) -> bool:
    """Whether a version comes before another. One without numbers comes before all."""
    return bool(oldest) and _numbers(version) < _numbers(oldest)


def _numbers(version: str) -> tuple[int, ...]:
    found = re.match(r"\D{0,8}(\d{1,9}(?:\.\d{1,9}){0,4})", version)
    return tuple(map(int, found[1].split("."))) if found else ()
