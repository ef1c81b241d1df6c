"""The wheel in a clean home, by each installer: the command is there, and answers.

The dependencies come from the package index of the machine.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sightline import __version__
from tests.support.program import environment

pytestmark = [pytest.mark.install, pytest.mark.slow]

ROOT = Path(__file__).parent.parent.parent
PIPX = "pipx==1.8.0"
_LIMIT_S = 600


def environment_of(home: Path) -> dict[str, str]:
    """A bare one, but for what leads this machine to its package index."""
    wanted = ("SSL_CERT_", "PIP_", "UV_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
    index = {key: text for key, text in os.environ.items() if key.upper().startswith(wanted)}
    tools = Path(sys.executable).parent
    path = f"{home}/.local/bin:{tools.with_name('no-tools')}:/usr/bin:/bin"
    bare = environment(home) | index | {"PATH": path}
    del bare["PYTHONWARNINGS"]  # pip is not ours
    return bare


def do(home: Path, *argv: str | Path, cwd: Path | None = None) -> str:
    done = subprocess.run(
        [str(word) for word in argv],
        env=environment_of(home),
        cwd=cwd or home,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def smoke(home: Path, sample: Path, *program: str | Path) -> None:
    """The first things a new user does."""
    assert do(home, *program, "--version") == f"sightline {__version__}\n"
    assert "MISSING" not in do(home, *program, "doctor", cwd=sample)
    said = do(home, *program, "call", "vscode.lsp.workspaceSymbols", '{"query":"area"}', cwd=sample)
    assert '"name":"area"' in said
    assert re.search(r"Indexed \d files", do(home, *program, "index", "build", cwd=sample))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    argv = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(argv, cwd=ROOT, check=True, capture_output=True, timeout=120)
    return folder / f"sightline-{__version__}-py3-none-any.whl"


def uv() -> Path:
    return Path(sys.executable).with_name("uv")


def test_uv_tool_install(wheel: Path, home: Path, sample: Path) -> None:
    do(home, uv(), "tool", "install", "--quiet", "--python", sys.executable, wheel)
    smoke(home, sample, home / ".local/bin/sightline")
    written = do(home, home / ".local/bin/sightline", "config", "codex", "--write", cwd=sample)
    assert "sightline is in" in written


def test_uvx(wheel: Path, home: Path, sample: Path) -> None:
    once = (
        uv(),
        "tool",
        "run",
        "--quiet",
        "--python",
        sys.executable,
        "--from",
        wheel,
        "sightline",
    )
    smoke(home, sample, *once)


def test_pipx(wheel: Path, home: Path, sample: Path) -> None:
    pipx = (uv(), "tool", "run", "--quiet", "--python", sys.executable, "--from", PIPX, "pipx")
    do(home, *pipx, "install", "--python", sys.executable, wheel)
    smoke(home, sample, home / ".local/bin/sightline")
    do(home, *pipx, "uninstall", "sightline")
    assert not (home / ".local/bin/sightline").exists()


def test_offline_from_a_folder_of_wheels(wheel: Path, home: Path, sample: Path) -> None:
    wheels = home / "wheels"
    do(home, sys.executable, "-m", "pip", "download", "--quiet", wheel, "--dest", wheels)
    do(home, sys.executable, "-m", "venv", home / "venv")
    offline = ("--no-index", "--find-links", wheels, "--isolated")
    do(home, home / "venv/bin/python", "-m", "pip", "install", "--quiet", *offline, "sightline")
    smoke(home, sample, home / "venv/bin/sightline")
