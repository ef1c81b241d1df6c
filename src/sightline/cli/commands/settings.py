"""``sightline settings``: each value and where it came from."""

import argparse
import json
import os
from typing import Any

import msgspec

from sightline.cli.folders import Folders
from sightline.cli.main import add_common, make_parser
from sightline.cli.plain import plain, plain_json
from sightline.cli.start import configuration_from


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Shows every setting, its value and whether a flag, the environment, the file or the "
        "default set it.",
        "sightline settings --set request_timeout_ms=1000",
    )
    made.add_argument("--json", action="store_true", help="as JSON")
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    folders = Folders(os.environ)
    configuration = configuration_from(arguments, folders)
    values = msgspec.to_builtins(configuration.settings)
    if arguments.json:
        rows = {k: {"value": v, "from": configuration.origins[k]} for k, v in values.items()}
        print(plain_json(json.dumps(rows, ensure_ascii=False)))
        return 0
    width = max(map(len, values))
    for key, value in values.items():
        print(f"{key:<{width}}  {_shown(value)}  ({configuration.origins[key]})")
    print(f"\nfile: {plain(folders.settings)}")
    return 0


def _shown(value: Any) -> str:  # noqa: ANN401 - any setting's type
    return plain_json(json.dumps(value, ensure_ascii=False))
