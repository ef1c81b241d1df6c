"""Sessions of real language servers, recorded once and played again by the scripted server.

``python -m tests.languages.recording gopls rust-analyzer`` asks the servers on PATH everything
about their samples, through Sightline and once more through a bare client that does not wait until
they are ready, and writes tests/languages/recorded/SERVER.json. Paths of the machine become
``{root}``, ``{cache}`` and ``{home}``; a recording that still has another one is not written. What
a server writes into its log, and how far it has come, is left out.
"""

import argparse
import asyncio
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec

from bench.bare import BareClient
from bench.language_sides import connected
from sightline.lsp.install.store import Store
from sightline.lsp.registry import Registry
from sightline.lsp.start.launcher import Launcher
from tests.languages.questions import all_questions
from tests.languages.samples import ON_PATH, Sample, only
from tests.support import tap
from tests.support.engine import INSTALLED, engine

__all__ = ["FOLDER", "MACHINE", "Recording", "recorded"]

FOLDER = Path(__file__).with_name("recorded")
_LEFT_OUT = ("window/logMessage", "window/showMessage", "telemetry/event")
#: What a session must not say of the machine that it was recorded on.
MACHINE = re.compile(r"(?<![\w.}/])/(?:home|root|tmp|usr|var|opt|work|Users)/[^\s\"]+")
#: How long a server is asked again while it loads.
_LOADING_S = 60


class Recording(msgspec.Struct, frozen=True):
    """What one server said about its sample."""

    server: str
    version: str
    #: How many places a client that does not wait was told, in order, repeats left out.
    while_loading: list[int]
    script: dict[str, list[dict[str, Any]]]


def recorded(server: str, root: Path, cache: Path) -> Recording:
    """A recording as if it had been made on this machine."""
    text = (FOLDER / f"{server}.json").read_text(encoding="utf-8")
    for name, path in (("{root}", root), ("{cache}", cache), ("{home}", cache)):
        text = text.replace(name, str(path))
    return msgspec.json.decode(text, type=Recording)


def script_of(log: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The server's part of a session: what it said to each message of the client."""
    script: dict[str, list[dict[str, Any]]] = {}
    asked: dict[Any, dict[str, Any]] = {}
    last: dict[str, Any] = {}
    for entry in log:
        message, method = entry["message"], entry["message"].get("method")
        if entry["from"] == "client":
            if method is None:
                continue  # an answer to the server
            last = (
                {}
                if "id" not in message or method == "initialize"
                else {"params": message.get("params")}
            )
            script.setdefault(method, []).append(last)
            if "id" in message:
                asked[message["id"]] = last
        elif method is None:
            kept = {key: message[key] for key in ("result", "error") if key in message}
            asked[message["id"]].update(kept)
        elif not _is_left_out(message):
            own = [message["id"]] if "id" in message else []
            when = "then" if {"result", "error"} & last.keys() else "notify"
            last.setdefault(when, []).append([method, message.get("params"), *own])
    # Messages that nothing was said to need no action, except to keep the count.
    return {method: actions for method, actions in script.items() if any(actions)}


def _is_left_out(message: dict[str, Any]) -> bool:
    value = message.get("params", {}).get("value")
    report = isinstance(value, dict) and value.get("kind") == "report"
    return message["method"] in _LEFT_OUT or report


async def through_sightline(server: str, sample: Sample, folder: Path) -> list[dict[str, Any]]:
    """Every question about the sample; the whole conversation with the server."""
    log, cache = folder / "log", folder / "cache"
    cache.mkdir()
    known = only(server)
    spec = known.servers[server]
    program = _launcher(known, folder).find(server, [str(folder / "ws")]).command
    command = (sys.executable, tap.__file__, str(log), *program)
    tapped = Registry(
        known.languages, {server: msgspec.structs.replace(spec, command=command)}, known.packages
    )
    async with engine(
        sample.write(folder / "ws"),
        cache=cache,
        registry=tapped,
        environment={"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]},
        trusted=lambda root: True,
    ) as running:
        await all_questions(running, server, sample)
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def while_loading(server: str, sample: Sample, folder: Path) -> list[int]:
    """What a client is told that asks for references at once, and again and again."""
    root = sample.write(folder / "ws")
    file, line, character = sample.place(sample.places[0])
    language = only(server).servers[server].languages[0]
    home = Path(os.environ["HOME"])
    client, _ = connected(server, language, root, folder / "cache", home, BareClient)
    counts: list[int] = []
    limit = time.monotonic() + _LOADING_S
    while counts[-1:] != [len(sample.places)] and time.monotonic() < limit:
        found = len(client.references(root / file, line, character))
        if counts[-1:] != [found]:
            counts.append(found)
        time.sleep(0.05)
    client.close()
    return counts


def _launcher(registry: Registry, folder: Path) -> Launcher:
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    return Launcher(environment, folder / "cache", Store(INSTALLED), registry)


def record(server: str) -> Path:
    sample = ON_PATH[server]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        (folder / "loading").mkdir()
        loading = while_loading(server, sample, folder / "loading")
        log = asyncio.run(through_sightline(server, sample, folder))
        script = script_of(log)
        version = script["initialize"][0]["result"]["serverInfo"]["version"]
        text = json.dumps(
            {"server": server, "version": version, "while_loading": loading, "script": script},
            indent=1,
        )
        for path, word in (
            (folder / "ws", "{root}"),
            (folder / "cache", "{cache}"),
            (Path(os.environ["HOME"]), "{home}"),
        ):
            text = text.replace(str(path), word)
    if found := MACHINE.search(text):
        raise SystemExit(f"{server}: the recording speaks of this machine: {found[0][:200]}")
    FOLDER.mkdir(exist_ok=True)
    target = FOLDER / f"{server}.json"
    target.write_text(text + "\n", encoding="utf-8")
    return target


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("servers", nargs="+", choices=list(ON_PATH))
    for server in parser.parse_args().servers:
        target = record(server)
        print(f"{target.name}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
