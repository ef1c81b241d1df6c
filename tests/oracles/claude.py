"""A real client: ``claude mcp list`` connects to every server it is configured with.

Its home is private, so that no configuration of the machine is read or written, and it is asked
to leave everything out that is not needed. No model is involved.
"""

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tools import node

__all__ = ["Claude"]

_RUN_S = 120


@dataclass(frozen=True)
class Claude:
    home: Path

    def add_http(self, name: str, url: str, token: str) -> None:
        header = ["--header", f"Authorization: Bearer {token}"]
        self._run(["mcp", "add", "--transport", "http", name, url, *header])

    def add_stdio(self, name: str, command: Sequence[str]) -> None:
        self._run(["mcp", "add", name, "--", *command])

    def states(self) -> dict[str, str]:
        """What ``claude mcp list`` says about each server, by name."""
        said = self._run(["mcp", "list"])
        rows = [line for line in said.splitlines() if ": " in line and " - " in line]
        return {line.partition(": ")[0]: line.rpartition(" - ")[2] for line in rows}

    def version(self) -> str:
        return self._run(["--version"]).split()[0]

    def _run(self, arguments: Sequence[str]) -> str:
        done = subprocess.run(
            [_executable(), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_RUN_S,
            check=False,
            cwd=self.home,
            env={
                "HOME": str(self.home),
                "PATH": os.environ["PATH"],
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_AUTOUPDATER": "1",
            },
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def _executable() -> Path:
    """The native program of the package, which needs no Node and no install script."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    system = platform.system().lower()
    folder = node.install("claude") / "@anthropic-ai" / f"claude-code-{system}-{machine}"
    if not folder.is_dir():
        raise node.Missing(f"this client is not published for {system} {machine}")
    return folder / "claude"
