"""Writes src/sightline/lsp/registry.json from registry.toml beside it: the same data, for starting.

``python -m tools.registry_data`` writes it, ``--check`` fails when it is out of date.
"""

import argparse
import json
import sys
import tomllib
from pathlib import Path

__all__ = ["render"]

_TOML = Path(__file__).parent.parent / "src/sightline/lsp/registry.toml"
_JSON = _TOML.with_suffix(".json")


def render() -> str:
    return json.dumps(tomllib.loads(_TOML.read_text(encoding="utf-8")), indent=1) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    made = render()
    if not parser.parse_args().check:
        _JSON.write_text(made, encoding="utf-8")
    elif not _JSON.exists() or _JSON.read_text(encoding="utf-8") != made:
        print("src/sightline/lsp/registry.json is out of date; run make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
