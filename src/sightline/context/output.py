"""JSON as v0 writes it: members in the order given, non-ASCII text raw, two layouts.

``compact`` has no blanks; ``pretty`` indents by two and puts every item on a line of its own.
"""

import json
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring

__all__ = ["Output", "compact", "pretty", "quoted"]

Output = bool | int | str | Sequence["Output"] | Mapping[str, "Output"]

#: A string in quotes: only quotes, backslashes and control characters are escaped.
quoted = encode_basestring


def compact(value: Output) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def pretty(value: Output) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode()
