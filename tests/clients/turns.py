"""One turn of a real client: it starts, is asked, lets its model call tools, and ends.

The model is the stand-in of model.py. How each client is pointed at it, is the only thing told
here; how it finds Sightline is left to ``sightline config``.
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients.installed import QUIET, path_with
from tests.clients.room import Room
from tests.support.program import environment

__all__ = ["CLIENTS", "Model", "RealClient", "Turn", "model"]

_TURN_S = 150
PROMPT = "Where is area defined?"
KEY = "not-a-key"  # the stand-in asks for none, but clients insist on sending one


@dataclass(frozen=True)
class RealClient:
    """How one client is started for a turn."""

    #: Its name for ``sightline config``, and its command.
    key: str
    command: str
    #: The arguments of one turn without a person.
    arguments: Callable[[str], list[str]]
    #: The environment that leads to the model at an address.
    environment: Callable[[str], dict[str, str]] = lambda _: {}
    #: Files of the client below its home that must be there before, at an address.
    files: Callable[[str], dict[str, Any]] = lambda _: {}
    #: What the model sees a tool called, by its name in the catalogue.
    shown: Callable[[str], str] = lambda name: name
    #: What stands around a payload that the model sees.
    around: tuple[str, str] = ("", "")
    #: Whether the server's instructions reach the model.
    instructed: bool = True
    http: bool = True


def _underscored(prefix: str) -> Callable[[str], str]:
    return lambda name: prefix + name.replace(".", "_")


CLIENTS: Mapping[str, RealClient] = {
    client.key: client
    for client in (
        RealClient(
            "claude-code",
            "claude",
            lambda _: ["-p", PROMPT, "--allowedTools", "mcp__sightline", "--output-format", "json"],
            environment=lambda url: {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": KEY,
                "ENABLE_TOOL_SEARCH": "false",
                # It waits a little for its servers, which is too short on a busy machine.
                "CLAUDE_CODE_MCP_STARTUP_WAIT_MS": "60000",
            },
            shown=_underscored("mcp__sightline__"),
        ),
        RealClient(
            "codex",
            "codex",
            lambda url: [
                *("exec", "--skip-git-repo-check", "--json"),
                *("-c", f'model_providers.x={{name="x",base_url="{url}/v1",wire_api="responses"}}'),
                *("-c", "model_provider=x", "-c", "model=stand-in"),
                *("-c", 'mcp_servers.sightline.default_tools_approval_mode="approve"'),
                *("-c", "mcp_servers.sightline.required=true"),  # it waits for it, on any machine
                *("-c", 'approval_policy="never"', PROMPT),
            ],
            shown=_underscored("mcp__sightline/"),
            around=(r"Wall time: [0-9.]+ seconds\nOutput:\n", ""),
        ),
        RealClient(
            "gemini",
            "gemini",
            lambda _: [
                *("-p", PROMPT, "-m", "gemini-2.5-pro"),
                *("--approval-mode", "yolo", "--output-format", "json"),
            ],
            environment=lambda url: {
                "GEMINI_API_KEY": KEY,
                "GOOGLE_GEMINI_BASE_URL": url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
            },
            files=lambda _: {
                ".gemini/settings.json": {
                    "security": {"auth": {"selectedType": "gemini-api-key"}},
                    "privacy": {"usageStatisticsEnabled": False},
                }
            },
            shown=lambda name: f"mcp_sightline_{name}",
            around=("<untrusted_context>\n", "\n</untrusted_context>"),
            http=False,
        ),
        RealClient(
            "copilot-cli",
            "copilot",
            lambda _: ["-p", PROMPT, "--allow-all-tools", "--output-format", "json"],
            environment=lambda url: {
                "COPILOT_OFFLINE": "true",
                "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
                "COPILOT_PROVIDER_API_KEY": KEY,
                "COPILOT_MODEL": "stand-in",
            },
            shown=_underscored("sightline-"),
            instructed=False,
        ),
        RealClient(
            "opencode",
            "opencode",
            lambda _: ["run", "-m", "x/stand-in", "--auto", "--format", "json", PROMPT],
            files=lambda url: {
                ".config/opencode/opencode.json": {
                    "provider": {
                        "x": {
                            "npm": "@ai-sdk/openai-compatible",
                            "name": "x",
                            "options": {"baseURL": f"{url}/v1", "apiKey": KEY},
                            "models": {"stand-in": {"name": "stand-in"}},
                        }
                    }
                }
            },
            shown=_underscored("sightline_"),
        ),
    )
}


@dataclass
class Model:
    """A running stand-in and what it wrote down."""

    url: str
    log: Path
    process: subprocess.Popen[str]

    def heard(self) -> list[dict[str, Any]]:
        """Every request that came with tools, in order."""
        if not self.log.exists():
            return []
        entries = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines()]
        return [entry for entry in entries if entry.get("heard", {}).get("tools")]


@contextmanager
def model(room: Room, folder: Path, plan: Sequence[Mapping[str, Any]]) -> Iterator[Model]:
    """The stand-in with a plan of tool calls, in a room."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "plan.json").write_text(json.dumps(list(plan)), encoding="utf-8")
    log = folder / "heard.jsonl"
    argv: list[str | Path] = [
        sys.executable,
        "-m",
        "tests.clients.model",
        folder / "plan.json",
        log,
    ]
    process = subprocess.Popen(
        room.inside(argv),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent.parent,
    )
    assert process.stdout is not None
    try:
        port = int(process.stdout.readline())
        yield Model(f"http://127.0.0.1:{port}", log, process)
    finally:
        process.terminate()
        process.wait(10)
        process.stdout.close()


@dataclass
class Turn:
    """Where a client lives and works during the test."""

    client: RealClient
    room: Room
    home: Path
    project: Path
    folder: Path
    seconds: float = 0.0
    _path: str = ""

    def prepare(self, url: str) -> None:
        """Writes what the client needs to find its model."""
        for name, content in self.client.files(url).items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(json.dumps(content, indent=2), encoding="utf-8")

    def env(self, url: str = "") -> dict[str, str]:
        self._path = self._path or path_with(self.folder / "bin", self.client.command)
        return environment(self.home) | QUIET | self.client.environment(url) | {"PATH": self._path}

    def take(self, url: str) -> "subprocess.CompletedProcess[str]":
        """The whole turn, to the client's end."""
        began = time.monotonic()
        done = subprocess.run(
            self.room.inside([self.client.command, *self.client.arguments(url)]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TURN_S,
            check=False,
            env=self.env(url),
            cwd=self.project,
        )
        self.seconds = time.monotonic() - began
        return done
