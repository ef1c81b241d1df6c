"""The check of a client's file: what is in it is used, exactly as it is in it."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass

from sightline.cli.clients import own_check
from sightline.cli.clients.client import Client, Endpoint, rewrite
from sightline.cli.clients.handshake import Visit, visit
from sightline.cli.clients.lines import HttpLine, Line, StdioLine
from sightline.cli.clients.own_check import OwnCheck
from sightline.cli.clients.table import TOKEN_INPUT
from sightline.cli.exits import CommandError, Exit
from sightline.process.child import StartFailed, spawn

__all__ = ["Found", "Here", "check"]

_HELPER_S = 10.0


@dataclass(frozen=True)
class Here:
    """Where the check is made."""

    environment: Mapping[str, str]
    folder: str
    #: A folder that has nothing to do with the project.
    anywhere: str
    #: The project around the folder.
    project: str
    #: A file of the project to ask about, if there is one.
    example: str | None
    #: The token that is valid now, for clients that ask their user for it.
    token: str
    wait_s: float


@dataclass(frozen=True)
class Found:
    visit: Visit
    own: OwnCheck | None


async def check(client: Client, name: str, endpoint: Endpoint, here: Here) -> Found:
    """Makes the client's first steps, then asks the client itself."""
    if not endpoint.enabled:
        raise CommandError(f"{name} is switched off in the file; switch it on in {client.title}")
    line = await _line(client, name, endpoint, here)
    try:
        seen = await visit(
            line, client.name, client.revision, example=here.example, wait_s=here.wait_s
        )
    finally:
        await line.close()
    if not client.shows_structure and not seen.has_text:
        cure = (
            "run sightline serve with the settings file that --write put this client's needs into"
            if endpoint.url
            else "write the entry anew with --write"
        )
        raise CommandError(
            f"the answer has no text, and {client.title} shows its model nothing else; {cure}"
        )
    own = await own_check.run(client, name, here.environment, [here.project], here.folder)
    return Found(seen, own)


async def _line(client: Client, name: str, endpoint: Endpoint, here: Here) -> Line:
    if endpoint.wrong:
        wrong = " and ".join(endpoint.wrong)
        raise CommandError(f"{wrong} of the entry must be text; correct that, or use --write")
    if endpoint.url:
        again = rewrite(client.key, name, endpoint.url)
        headers = await _headers(endpoint, here)
        return HttpLine(endpoint.url, headers, again, sends_revision=client.sends_revision)
    if not endpoint.command:
        raise CommandError(
            "the entry has neither a command nor an address; replace it with --write"
        )
    # A client without a project may start it anywhere: then it must not matter where.
    folder = here.folder if client.starts_in == "project" else here.anywhere
    return await StdioLine.open(endpoint.command, {**here.environment, **endpoint.env}, folder)


async def _headers(endpoint: Endpoint, here: Here) -> Mapping[str, str]:
    if endpoint.helper:
        return await _from_helper(endpoint.helper, here)
    asked = f"${{input:{TOKEN_INPUT['id']}}}"
    return {key: text.replace(asked, here.token) for key, text in endpoint.headers.items()}


async def _from_helper(command: str, here: Here) -> Mapping[str, str]:
    """The headers a command prints, run the way clients run it: by the shell."""
    try:
        child = await spawn(["/bin/sh", "-c", command], cwd=here.folder, env=here.environment)
    except StartFailed as failed:
        raise CommandError(f"the command for the token cannot be started ({failed})") from None
    try:
        child.stdin.close()
        async with asyncio.timeout(_HELPER_S):
            said = await child.stdout.read()
            await child.wait()
        headers = json.loads(said)
        return {str(name): str(text) for name, text in headers.items()}
    except (TimeoutError, ValueError, RecursionError, AttributeError):
        raise CommandError(
            f"the command for the token ({command}) does not print headers; write the entry anew "
            "with --http --write",
            Exit.MISSING,
        ) from None
    finally:
        await child.end()
