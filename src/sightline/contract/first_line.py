"""The program that the first line of a script names.

>>> [program_of(line) for line in (b"#!/usr/bin/env -S bash -e", b"#! /opt/python3.12 -u", b"# no")]
['bash', 'python', '']
>>> [program_of(line) for line in (b"#!/usr/bin/env A=1 ts-node", b"#!/usr/bin/env -S uv run -s")]
['ts-node', 'uv']
"""

import re

from sightline.contract.possessive import possessive

__all__ = ["FIRST_BYTES", "program_of"]

#: So much of a file is looked at. Kernels heed 127 or 255 bytes.
FIRST_BYTES = 256

_PATH = rb"(?:[^\s/]*+/)*+"
_ENV = rb"(?:env[ \t]++(?:-S[ \t]*+|-\S++[ \t]++|\w++=\S*+[ \t]++)*+)?"
_NAMED = re.compile(
    possessive(rb"#![ \t]*+%b%b%b([A-Za-z][A-Za-z+-]*+)[0-9.]*+(?=\s|\Z)" % (_PATH, _ENV, _PATH))
)


def program_of(head: bytes) -> str:
    """The name of the program, without its folder and its version; nothing if there is none."""
    found = _NAMED.match(head[:FIRST_BYTES])
    return found[1].decode() if found is not None else ""
