"""``make serve`` and ``make test`` in a fresh clone with an empty home, as a page of evidence.

    python -m tools.fresh_clone [--serve-only]      writes docs/evidence/fresh-clone.md

What is committed is cloned, so what is only in the working tree is not used. The clone, the home
and everything that is installed lie in a temporary folder that is removed at the end.
"""

import argparse
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools.evidence import write_page

_ROOT = Path(__file__).parent.parent
_SERVE_S = 900
_TEST_S = 3_600
_STOP_S = 20

_PAGE = """\
# A fresh clone

The committed tree was cloned into an empty folder, with an empty home and a bare environment. A
package index and an npm registry were reachable.

| step | seconds | result |
|---|---|---|
{rows}

Weakness: one machine with two shared cores, whose package index was near; the seconds are mostly
downloads.
"""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.fresh_clone")
    parser.add_argument("--serve-only", action="store_true", help="leave make test out")
    chosen = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="sightline-fresh-") as folder:
        clone, home = Path(folder) / "sightline", Path(folder) / "home"
        home.mkdir()
        subprocess.run([_find("git"), "clone", "--quiet", str(_ROOT), str(clone)], check=True)
        rows = [_serve(clone, home)]
        if not chosen.serve_only:
            rows.append(_test(clone, home))
    text = "\n".join(f"| {step} | {seconds:.0f} | {result} |" for step, seconds, result, _ in rows)
    sys.stdout.write(text + "\n")
    if not chosen.serve_only:
        write_page("fresh-clone.md", "python -m tools.fresh_clone", _PAGE.format(rows=text))
    return 0 if all(good for *_, good in rows) else 1


def _find(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        sys.exit(f"{program} is missing: install it (Debian: apt-get install {program})")
    return found


def _environment(home: Path) -> dict[str, str]:
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
    return kept | {"HOME": str(home)}


def _serve(clone: Path, home: Path) -> tuple[str, float, str, bool]:
    """Starts ``make serve``, has ``initialize`` answered, and stops it like Ctrl-C does."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    began = time.monotonic()
    with subprocess.Popen(
        [_find("make"), "serve"],
        cwd=clone,
        env=_environment(home) | {"SIGHTLINE_PORT": str(port)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            answered = _wait_for(process, port, home)
            took = time.monotonic() - began
        finally:
            os.killpg(process.pid, signal.SIGINT)
            process.wait(_STOP_S)
    result = "answered `initialize`, stopped by Ctrl-C" if answered else "did not answer"
    return "`make serve`", took, result, answered


def _wait_for(process: subprocess.Popen[bytes], port: int, home: Path) -> bool:
    deadline = time.monotonic() + _SERVE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            return _initialize(port, home)
        except OSError:
            time.sleep(0.2)
    return False


def _initialize(port: int, home: Path) -> bool:
    tokens = home / ".local/share/sightline/tokens.json"
    headers = {
        "authorization": f"Bearer {json.loads(tokens.read_text(encoding='utf-8'))[0]}",
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
    }
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "fresh", "version": "1"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("POST", "/mcp", json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status == 200 and b'"result"' in answer.read()
    finally:
        connection.close()


def _test(clone: Path, home: Path) -> tuple[str, float, str, bool]:
    began = time.monotonic()
    done = subprocess.run(
        [_find("make"), "test"],
        cwd=clone,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_TEST_S,
        check=False,
    )
    summary = re.findall(r"\d+ (?:passed|failed|errors?|skipped|deselected)", done.stdout)
    if done.returncode != 0:
        sys.stdout.write(done.stdout[-4_000:])
    result = ", ".join(summary) or f"make ended with {done.returncode}"
    return "`make test`", time.monotonic() - began, result, done.returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
