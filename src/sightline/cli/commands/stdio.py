"""``sightline stdio``: one client over standard input and output."""

import argparse
import gc
import os
import sys

from sightline.cli.exits import CommandError, Exit
from sightline.cli.main import add_common, make_parser


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Serves one MCP client over standard input and output. Clients start this by themselves.",
        "claude mcp add sightline -- sightline stdio ~/src/project",
    )
    made.add_argument(
        "roots", nargs="*", metavar="ROOT", help="folders to serve (default: this project)"
    )
    made.add_argument(
        "--strict-v0",
        action="store_true",
        help="with --tools context: the lines of mcp-context-server 0.1.0, byte for byte",
    )
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.strict_v0:
        return _serve_strict_v0(arguments)
    # Nearly all that is made until the first client is served stays: there is nothing to collect.
    gc.disable()
    from sightline.cli.loops import loop_runner
    from sightline.cli.serve_stdio import serve_stdio

    with loop_runner() as runner:
        runner.run(serve_stdio(arguments))
    return 0


def _serve_strict_v0(arguments: argparse.Namespace) -> int:
    from sightline.cli.context_root import unsigned_seconds
    from sightline.cli.folders import Folders
    from sightline.cli.start import configuration_from
    from sightline.context.caches import Caches
    from sightline.contract.limits import MAX_CONTEXT_TIMEOUT_S
    from sightline.server.streams import claim_standard_streams
    from sightline.server.strict_v0 import StrictServer

    if configuration_from(arguments, Folders(os.environ)).settings.families != ("context",):
        raise CommandError("--strict-v0 goes with --tools context and nothing else", Exit.USAGE)
    root = os.environ.get("CONTEXT_CACHE_ROOT")
    seconds = unsigned_seconds(os.environ.get("CONTEXT_TOOL_TIMEOUT_SECS"))
    if root is None or seconds is None:
        problem = (
            "CONTEXT_CACHE_ROOT environment variable is not set"
            if root is None
            else "CONTEXT_TOOL_TIMEOUT_SECS must be a positive integer"
        )
        print(f"mcp-context-server: configuration error: {problem}", file=sys.stderr)
        return 1
    read_fd, write_fd = claim_standard_streams()
    timeout_s = min(seconds, MAX_CONTEXT_TIMEOUT_S)
    StrictServer(Caches(root, strict=True), timeout_s).serve(read_fd, write_fd)
    return 0
