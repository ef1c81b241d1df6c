"""The client's own check of its servers, run the way its user would run it.

The program is looked for on the search path, outside of any root. What it says about our server
is passed on; whether that is good news is decided here, because some say it and still exit with 0.
"""

import asyncio
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sightline.cli.clients.client import Client
from sightline.process.child import StartFailed, spawn
from sightline.process.environment import find_program, safe_path

__all__ = ["OwnCheck", "run"]

_LIMIT_S = 90.0
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_GOOD = re.compile(r"✔ Connected|- Connected|✓ \S+ *connected|enabled: true|Status: Enabled")
_UNTRUSTED = re.compile(r"folder is untrusted")


@dataclass(frozen=True)
class OwnCheck:
    #: The command, as a user would type it.
    command: str
    #: ``None``: it could not be run.
    good: bool | None
    said: str
    #: What to do when it is not good.
    cure: str = ""


async def run(
    client: Client, name: str, environment: Mapping[str, str], roots: Sequence[str], cwd: str
) -> OwnCheck | None:
    """What the client's own check says; ``None`` for a client that has none."""
    if not client.check:
        return None
    argv = [name if word == "NAME" else word for word in client.check]
    typed = " ".join(argv)
    path = safe_path(environment.get("PATH", os.defpath), roots)
    program = find_program(argv[0], path, roots)
    if program is None:
        return OwnCheck(typed, None, f"{argv[0]} is not on the search path, so it was not asked")
    try:
        output = await _output([program, *argv[1:]], environment, cwd)
    except StartFailed as failed:
        return OwnCheck(typed, None, f"it cannot be started ({failed})")
    except TimeoutError:
        said = f"it did not end in {_LIMIT_S:.0f} s"
        return OwnCheck(typed, False, said, f"run {typed} to see more")
    return _judged(typed, name, output)


async def _output(argv: list[str], environment: Mapping[str, str], cwd: str) -> str:
    child = await spawn(argv, cwd=cwd, env=environment)
    try:
        child.stdin.close()
        async with asyncio.timeout(_LIMIT_S):
            said = await child.stdout.read()
            await child.wait()
    finally:
        await child.end()
    return _ESCAPES.sub("", said.decode(errors="replace") + "\n" + child.stderr_tail())


def _judged(typed: str, name: str, output: str) -> OwnCheck:
    lines = [line.strip(" │●▲") for line in output.splitlines()]
    about = [line for line in lines if re.search(rf"(^|\W){re.escape(name)}\b", line)]
    states = [line for line in lines if line.startswith(("Status:", "enabled:", "Issue:"))]
    if _UNTRUSTED.search(output):
        said = "its servers are off, because it does not trust this folder"
        program = typed.partition(" ")[0]
        return OwnCheck(typed, False, said, f"start {program} here and trust the folder")
    telling = states or about
    if not telling:
        return OwnCheck(typed, False, f"it does not name {name}", f"run {typed} to see more")
    good = any(map(_GOOD.search, telling))
    return OwnCheck(typed, good, "; ".join(telling), f"run {typed} to see more")
