"""Writes src/sightline/lsp/registry.json from registry.toml beside it: the same data, for starting.

``python -m tools.registry_data`` writes it, ``--check`` fails when it is out of date.
"""

import json
import sys
import tomllib
from pathlib import Path

from tools.generated import write

__all__ = ["render"]

_TOML = Path(__file__).parent.parent / "src/sightline/lsp/registry.toml"
_JSON = _TOML.with_suffix(".json")


def render() -> str:
    return json.dumps(tomllib.loads(_TOML.read_text(encoding="utf-8")), indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(write({_JSON: render()}, __doc__))
