"""``sightline tools``: the catalogue, exactly as ``tools/list`` gives it."""

import argparse
import os

from sightline.cli.folders import Folders
from sightline.cli.main import add_common, make_parser
from sightline.cli.plain import write_json
from sightline.cli.start import configuration_from
from sightline.protocol.revisions import NEWEST
from sightline.server.compose import surface_for


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Prints the tool catalogue as JSON.",
        "sightline tools --tools lsp | jq '.tools[].name'",
    )
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    settings = configuration_from(arguments, Folders(os.environ)).settings
    listing = surface_for(settings).tools(settings.tool_names, settings.content, NEWEST)
    write_json(bytes(listing))
    return 0
