"""The real clients, from pinned packages, each as a command of its usual name.

A folder for the search path is made of them, so that everything that looks for a client finds the
pinned one. Each is told by its own switches to leave out what it does not need.
"""

import json
import os
import platform
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tools import node

__all__ = ["PROGRAMS", "Program", "path_with"]


def _machine() -> str:
    names = {"x86_64": "x64", "aarch64": "arm64"}
    return names.get(platform.machine(), platform.machine())


def _system() -> str:
    return platform.system().lower()


@dataclass(frozen=True)
class Program:
    """One client: the set it is installed from, and its main file."""

    package: str
    #: Below node_modules; ``{system}`` and ``{machine}`` are npm's words.
    file: str
    #: The package.json that has its version.
    manifest: str
    #: Whether Node runs it.
    script: bool = False

    def path(self) -> Path:
        modules = node.install(self.package)
        found = modules / self.file.format(system=_system(), machine=_machine())
        matches = sorted(modules.glob(str(found.relative_to(modules))))
        if not matches:
            raise node.Missing(f"this client is not published for {_system()} {_machine()}")
        return matches[0]

    def version(self) -> str:
        manifest = node.install(self.package) / self.manifest.format(
            system=_system(), machine=_machine()
        )
        version: str = json.loads(manifest.read_text(encoding="utf-8"))["version"]
        return version.partition("-")[0]


PROGRAMS: Mapping[str, Program] = {
    "claude": Program(
        "claude",
        "@anthropic-ai/claude-code-{system}-{machine}/claude",
        "@anthropic-ai/claude-code/package.json",
    ),
    "codex": Program(
        "codex",
        "@openai/codex-{system}-{machine}/vendor/*/bin/codex",
        "@openai/codex/package.json",
    ),
    "gemini": Program(
        "gemini",
        "@google/gemini-cli/bundle/gemini.js",
        "@google/gemini-cli/package.json",
        script=True,
    ),
    "copilot": Program(
        "copilot",
        "@github/copilot-{system}-{machine}/copilot",
        "@github/copilot/package.json",
    ),
    "opencode": Program(
        "opencode",
        "opencode-{system}-{machine}/bin/opencode",
        "opencode-{system}-{machine}/package.json",
    ),
    "mcp-inspector": Program(
        "inspector",
        "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
        "@modelcontextprotocol/inspector/package.json",
        script=True,
    ),
}

#: No telemetry, no updates, nothing that is not needed.
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "GEMINI_TELEMETRY_ENABLED": "false",
    "COPILOT_AUTO_UPDATE": "false",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "DO_NOT_TRACK": "1",
    "NO_COLOR": "1",
    "NO_UPDATE_NOTIFIER": "1",
}


def path_with(folder: Path, *names: str) -> str:
    """A search path on which these clients are found first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        program = PROGRAMS[name]
        argv = [str(node.node()), str(program.path())] if program.script else [str(program.path())]
        file = folder / name
        file.write_text(f'#!/bin/sh\nexec {shlex.join(argv)} "$@"\n', encoding="utf-8")
        file.chmod(0o755)
    return os.pathsep.join([str(folder), os.environ["PATH"]])
