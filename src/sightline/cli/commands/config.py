"""``sightline config``: what a client needs to use Sightline, shown, written or checked."""

import argparse
import asyncio
import os
import re
import shlex
import sys
from pathlib import Path

from sightline.cli.clients import own_program, stanza, toml
from sightline.cli.clients.checking import Found, Here, check
from sightline.cli.clients.client import Client, Endpoint, Places, endpoint_of
from sightline.cli.clients.example import example_file
from sightline.cli.clients.files import UserFile
from sightline.cli.clients.overview import overview
from sightline.cli.clients.stanza import CannotChange, Wish
from sightline.cli.clients.table import CLIENTS
from sightline.cli.configuration import Configuration
from sightline.cli.exits import CommandError, Exit, fail
from sightline.cli.folders import Folders, private
from sightline.cli.main import add_common, add_wait, make_parser
from sightline.cli.plain import plain
from sightline.cli.start import configuration_from, roots_from
from sightline.server.tokens import BadTokenFile, TokenFile
from sightline.workspace.roots import default_root

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,24}\Z")
_TYPED_IN = "Bearer TOKEN"


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Shows what a client needs to use Sightline. With --write it is put into the client's own "
        "file for this user; the file as it was is kept beside it, and nothing else in it changes. "
        "With --check the file is read back and used: connect, list the tools, make one call, and "
        "the client's own check where it has one.",
        "sightline config claude-code --write --check",
    )
    made.add_argument(
        "client",
        nargs="?",
        choices=list(CLIENTS),
        metavar="CLIENT",
        help=", ".join(CLIENTS) + " (without one they are listed)",
    )
    made.add_argument(
        "roots",
        nargs="*",
        metavar="ROOT",
        help="folders to serve (default: the project the client runs in)",
    )
    made.add_argument("--write", action="store_true", help="put it into the client's file")
    made.add_argument("--check", action="store_true", help="use what is in the file")
    made.add_argument(
        "--http", action="store_true", help="use the running sightline serve (default: stdio)"
    )
    made.add_argument("--port", type=int, help="port of sightline serve (default: 3939)")
    made.add_argument("--name", default="sightline", help="what the client calls the server")
    made.add_argument("--file", type=Path, help="the client's file, if it is not the usual one")
    add_wait(made, "how long --check waits (default: 60)")
    add_common(made)
    return made


def run(arguments: argparse.Namespace) -> int:
    if arguments.client is None:
        home = Path(Folders(os.environ).home)
        print(overview(Places(home, os.environ, sys.platform)))
        return int(Exit.OK)
    return _Run(arguments).run()


class _Run:
    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.client: Client = CLIENTS[arguments.client]
        self.folders = Folders(os.environ)
        self.configuration: Configuration = configuration_from(
            arguments, self.folders, port=arguments.port
        )
        places = Places(Path(self.folders.home), os.environ, sys.platform)
        self.path: Path | None = arguments.file or self.client.file(places)
        if not _NAME.match(arguments.name):
            raise CommandError(
                "--name takes up to 25 letters, digits, - and _, beginning with a letter",
                Exit.USAGE,
            )
        if arguments.http and self.client.http is None:
            raise CommandError(self.client.no_http, Exit.USAGE)

    def run(self) -> int:
        if not (self.arguments.write or self.arguments.check):
            return self._show()
        if self.path is None:
            raise CommandError("plain JSON has no file of its own; name one: --file", Exit.USAGE)
        if self.arguments.write:
            code = self._write(UserFile(self.path))
            if code != Exit.OK:
                return code
        return self._check(UserFile(self.path)) if self.arguments.check else int(Exit.OK)

    # Show

    def _show(self) -> int:
        wish = self._wish(_TYPED_IN)
        where = f"goes into {self._shown(self.path)}" if self.path else "for the client's file"
        again = self._command("--write")
        _note(f"{self.client.title}: {where}" + (f"; {again} puts it there" if self.path else ""))
        if own_program.is_temporary(list(wish.program)):
            _note(_TEMPORARY)
        if wish.url and self.client.credential == "file":
            _note("TOKEN is what sightline token show prints; keep it out of repositories")
        if wish.url and self.client.http_settings:
            _note(f"and into {self._shown(self.folders.settings)}:")
            for line in self._settings_table().splitlines():
                _note(f"    {line}")
        print(stanza.printed(wish), end="", flush=True)
        return int(Exit.OK)

    # Write

    def _write(self, file: UserFile) -> int:
        secret = self.arguments.http and self.client.credential == "file"
        wish = self._wish(f"Bearer {self._token()}" if secret else "")
        if own_program.is_temporary(list(wish.program)):
            raise CommandError(_TEMPORARY)
        before = file.read()
        try:
            after = stanza.with_entry(before, wish)
            doubles = stanza.doubles(after, wish)
        except CannotChange as problem:
            _note(f"put this in by hand, without the old {wish.name} if there is one:")
            print(stanza.printed(self._wish(_TYPED_IN)), end="")
            return fail(f"{self._shown(file.path)} was not changed: {problem}", Exit.REFUSED)
        if _is_ours(UserFile(file.backup), wish):
            file.drop_backup()  # earlier versions kept some with an entry, and its token
        title, shown = self.client.title, self._shown(file.path)
        if after == before:
            print(f"{title}: {plain(shown)} already says so")
        else:
            ours = stanza.holds_ours(before, wish)
            backup = file.write(before, after, secret=secret, ours=ours)
            kept = f" (as it was: {self._shown(backup)})" if backup else ""
            print(plain(f"{title}: {wish.name} is in {shown}{kept}"))
        if wish.url:
            self._write_settings()
        for other in doubles:
            _note(f"{other} in the same file leads to Sightline too; remove one of the two")
        if not self.arguments.check:
            print(f"try it now:  {plain(self._command('--check'))}")
            print(f"then:        {self.client.next_step}")
        return int(Exit.OK)

    def _write_settings(self) -> None:
        """The client's settings for the running server, by the name it gives itself."""
        if not self.client.http_settings:
            return
        file = UserFile(private(self.folders.config) / self.folders.settings.name)
        before = file.read()
        try:
            after = toml.put(before, ["clients", self.client.name], self.client.http_settings)
        except toml.BadToml as problem:
            _note("put this in by hand:")
            print(self._settings_table(), end="", file=sys.stderr, flush=True)
            raise CommandError(f"{self._shown(file.path)} was not changed: {problem}") from None
        if after != before:
            file.write(before, after, secret=False, ours="clients" in toml.value(before))
            where = plain(self._shown(file.path))
            print(f"settings for this client were added to {where}")

    def _settings_table(self) -> str:
        return toml.table(["clients", self.client.name], self.client.http_settings)

    # Check

    def _check(self, file: UserFile) -> int:
        name, title, shown = self.arguments.name, self.client.title, self._shown(file.path)
        try:
            found = stanza.entries(file.read(), self.client).get(name)
        except CannotChange as problem:
            raise CommandError(f"{shown} cannot be read: {problem}; repair it first") from None
        if found is None:
            again = self._command("--write")
            raise CommandError(f"{shown} has no server {name}; run {again}", Exit.NOT_FOUND)
        endpoint = endpoint_of(found)
        folder = os.getcwd()
        project = default_root(folder, home=self.folders.home)
        here = Here(
            environment=os.environ,
            folder=folder,
            anywhere=os.path.abspath(os.sep),
            project=project,
            example=example_file(project, self.configuration.registry),
            token=self._token_if_any(),
            wait_s=self.arguments.wait,
        )
        print(plain(f"{title}: {shown} has {name}, over {endpoint.transport}"), flush=True)
        seen = asyncio.run(check(self.client, name, endpoint, here))
        return self._report(seen, endpoint, project)

    def _report(self, found: Found, endpoint: Endpoint, project: str) -> int:
        seen, own = found.visit, found.own
        spoken = f"sightline {seen.version}, MCP {seen.revision}"
        print(plain(f"  connects  {spoken}, {seen.connect_s:.2f} s"))
        some = ", ".join(seen.tools[:3])
        print(plain(f"  lists     {len(seen.tools)} tools: {some}, ..."))
        if seen.tool is not None:
            asked = f"{seen.tool} of {seen.about}" if seen.about else seen.tool
            said = seen.summary or f"{seen.size} bytes"
            print(plain(f"  answers   {asked}: {said} ({seen.call_s:.2f} s)"))
        if seen.elsewhere:
            cure = (
                f"sightline roots add {shlex.quote(project)}"
                if endpoint.url
                else f"sightline config {self.client.key} {shlex.quote(project)} --write"
            )
            print(plain(f"  but       {project} is not served; to change that: {cure}"))
        if own is None:
            print(f"ready: {self.client.next_step}")
            return int(Exit.OK)
        print(plain(f"  {own.command}: {own.said}"))
        if own.good is False:
            said = f"Sightline is ready, but {self.client.title} does not connect yet: {own.cure}"
            return fail(said, Exit.REFUSED)
        print(f"ready: {self.client.next_step}")
        return int(Exit.OK)

    # What is wished

    def _wish(self, authorization: str) -> Wish:
        chosen = self.arguments
        url = f"http://127.0.0.1:{self.configuration.settings.port}/mcp" if chosen.http else ""
        flags = [f"--set={flag}" for flag in chosen.set]
        if chosen.tools:
            flags.append(f"--tools={chosen.tools}")
        if url and (chosen.roots or flags):
            raise CommandError(
                "with --http the folders and settings are those of sightline serve; name them "
                "there",
                Exit.USAGE,
            )
        return Wish(
            self.client,
            chosen.name,
            own_program.command(sys.argv[0]),
            self._roots(),
            flags,
            url,
            authorization,
        )

    def _roots(self) -> list[str]:
        given = self.arguments.roots
        if not given and (self.client.starts_in != "anywhere" or self.arguments.http):
            return []
        additional = set(self.configuration.settings.additional_allowed_roots)
        roots = roots_from(given, self.configuration, self.folders)
        return [root.given for root in roots if root.given not in additional]

    def _token(self) -> str:
        private(self.folders.data)
        try:
            return TokenFile(self.folders.tokens).provision()[0]
        except BadTokenFile as problem:
            raise CommandError(str(problem)) from None
        except OSError as problem:
            raise CommandError(f"the token file cannot be made ({problem.strerror})") from None

    def _token_if_any(self) -> str:
        try:
            return TokenFile(self.folders.tokens).read()[0]
        except BadTokenFile:
            return ""

    # How things are called

    def _command(self, flag: str) -> str:
        chosen = self.arguments
        words = ["sightline config", self.client.key, *chosen.roots]
        words += ["--http"] if chosen.http else []
        words += ["--port", str(chosen.port)] if chosen.port else []
        words += ["--name", chosen.name] if chosen.name != "sightline" else []
        words += ["--file", str(chosen.file)] if chosen.file else []
        return " ".join([*words, flag])

    def _shown(self, path: Path | None) -> str:
        home = self.folders.home.rstrip(os.sep) + os.sep
        text = str(path)
        return "~" + os.sep + text.removeprefix(home) if text.startswith(home) else text


_TEMPORARY = (
    "this Sightline is a temporary one (uvx, pipx run), which a client could not start later; "
    "install it first: uv tool install or pipx install, in place of uvx or pipx run"
)


def _is_ours(file: UserFile, wish: Wish) -> bool:
    """Whether a file that Sightline keeps has an entry of Sightline; not if it cannot be read."""
    try:
        return stanza.holds_ours(file.read(), wish)
    except (CannotChange, CommandError):
        return False


def _note(text: str) -> None:
    """Beside what is printed, so that the output alone is what to paste."""
    print(f"# {plain(text)}", file=sys.stderr, flush=True)
