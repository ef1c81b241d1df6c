"""Sightline beside two other bridges, on the same questions, in one run and without a network.

``python -m bench peers`` writes docs/evidence/peers.md. Each peer is a published, pinned version,
installed from a lock with hashes, and runs in a network namespace without a network. What is right
is judged the same way for all, and roughly: an answer must name every file in which the asked name
is used (counted with Python's tokenizer), and a file that was just added, and not one just deleted.
Every warm question is about another name, so that nobody answers it from memory.
"""

import json
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.corpora import django
from bench.kernel import loads
from bench.peers_page import page
from bench.peers_questions import Question, questions
from sightline.process.memory import tree_memory
from tools import node
from tools.evidence import write_page

__all__ = ["OFFLINE", "Client", "kill", "run"]

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).with_name("results") / "peers.json"
OFFLINE = ["unshare", "--map-root-user", "--net", "--"]
_FIRST = ("django/utils/encoding.py", "force_str")
_WARM = int(os.environ.get("BENCH_QUESTIONS", "20"))
_EDITS = int(os.environ.get("BENCH_EDITS", "10"))
_ANSWER_S = 240
#: How long a peer's children may live on after it was killed.
_AFTER_KILL_S = 3.0


@dataclass(frozen=True)
class Peer:
    """One bridge: how it is started, and how it is asked for references."""

    name: str
    command: Callable[[Path, Path], list[str]]
    environment: Callable[[Path], dict[str, str]]
    tool: str
    arguments: Callable[[Path, Question], dict[str, Any]]


class Client:
    """An MCP client over stdio: one question at a time."""

    def __init__(self, command: list[str], root: Path, environment: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [*OFFLINE, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=root,
            env=environment,
            start_new_session=True,
        )
        self._ids = 0
        self._buffer = b""
        client = {"name": "bench", "version": "1"}
        self.request(
            "initialize",
            {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> Any:
        self._ids += 1
        self._send({"jsonrpc": "2.0", "id": self._ids, "method": method, "params": params})
        while True:
            message = json.loads(self._line())
            if "method" in message and "id" in message:
                self._send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            elif message.get("id") == self._ids:
                return message

    def ask(self, peer: Peer, root: Path, question: Question) -> str:
        """The answer as text; 'not ready' is asked again."""
        given = {"name": peer.tool, "arguments": peer.arguments(root, question)}
        limit = time.monotonic() + _ANSWER_S
        while True:
            answer = self.request("tools/call", given)
            details = answer.get("error", {}).get("data", {}).get("details", {})
            if not details.get("retryable") or time.monotonic() > limit:
                return json.dumps(answer)

    def _send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _line(self) -> bytes:
        assert self.process.stdout is not None
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], _ANSWER_S)
            chunk = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not chunk:
                raise TimeoutError("no answer")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def run() -> bool:
    corpus = django()
    peers = [sightline(), cclsp(), serena()]
    results: dict[str, Any] = {"load_before": loads(), "rows": []}
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "django"
        shutil.copytree(corpus, root)
        asked = questions(root, _FIRST, _WARM)
        results |= {"files": len(asked[0].files), "questions": len(asked)}
        for peer in peers:
            home = Path(folder) / f"home-{peer.name.split()[0]}"
            home.mkdir()
            try:
                row = measure(peer, root, home, asked)
            except (TimeoutError, OSError, KeyError) as problem:
                row = {"name": peer.name, "failed": str(problem) or type(problem).__name__}
            results["rows"].append(row)
            print(json.dumps(row), flush=True)
    results["load_after"] = loads()
    _RESULTS.parent.mkdir(exist_ok=True)
    _RESULTS.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    write_page("peers.md", "python -m bench peers", page(results))
    own = results["rows"][0]
    return not own.get("failed") and own["right"] == len(asked) and own["stale"] == own["left"] == 0


def measure(peer: Peer, root: Path, home: Path, asked: list[Question]) -> dict[str, Any]:
    begin = time.monotonic()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), **peer.environment(home)}
    client = Client(peer.command(root, home), root, environment)
    try:
        first = client.ask(peer, root, asked[0])
        first_s = time.monotonic() - begin
        named = sum(name in first for name in asked[0].files)
        right, times = int(named == len(asked[0].files)), []
        for question in asked[1:]:
            started = time.perf_counter()
            answer = client.ask(peer, root, question)
            times.append((time.perf_counter() - started) * 1000)
            right += all(name in answer for name in question.files)
        started = time.perf_counter()
        client.ask(peer, root, asked[0])
        repeat_ms = (time.perf_counter() - started) * 1000
        memory = tree_memory(client.process.pid)
        stale = rounds(client, peer, root, asked[0])
        left = kill(client)
    finally:
        kill(client)
    return {
        "name": peer.name,
        "first_s": first_s,
        "named": named,
        "right": right,
        "bytes": len(first),
        "warm_ms": statistics.median(times),
        "worst_ms": max(times),
        "repeat_ms": repeat_ms,
        "memory_mb": memory >> 20,
        "rounds": 2 * _EDITS,
        "stale": stale,
        "left": left,
    }


def rounds(client: Client, peer: Peer, root: Path, question: Question) -> int:
    """A file with a use comes, and goes again; each is followed at once by the question."""
    stale = 0
    for number in range(_EDITS):
        name = f"fresh_{number}_file"
        file = root / "django/utils" / f"{name}.py"
        used = question.name
        file.write_text(f"from django.utils.encoding import {used}\n\n{used}(b'')\n")
        stale += name not in client.ask(peer, root, question)
        file.unlink()
        stale += name in client.ask(peer, root, question)
    return stale


def kill(client: Client) -> int:
    """Kills the peer, and counts which of its processes live on."""
    family = _descendants(client.process.pid)
    client.process.kill()
    client.process.wait()
    limit = time.monotonic() + _AFTER_KILL_S
    left = family
    while left and time.monotonic() < limit:
        left = [pid for pid in left if _lives(pid)]
        time.sleep(0.1)
    for pid in left:
        os.kill(pid, signal.SIGKILL)  # they are ours: children of what this bench started
    return len(left)


def _descendants(pid: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, task.read_text(encoding="ascii").split()):
            found += [child, *_descendants(child)]
    return found


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def sightline() -> Peer:
    program = str(Path(sys.executable).with_name("sightline"))
    return Peer(
        "Sightline",
        lambda root, home: [program, "stdio", str(root), "--tools", "lsp"],
        lambda home: {},
        "vscode.lsp.references",
        lambda root, question: {
            "uri": (root / question.file).as_uri(),
            "position": {"line": question.line, "character": 4},
            "includeDeclaration": True,
        },
    )


def cclsp() -> Peer:
    modules = node.install("cclsp")
    version = json.loads((modules / "cclsp/package.json").read_text(encoding="utf-8"))["version"]
    ty = str(Path(sys.executable).with_name("ty"))

    def environment(home: Path) -> dict[str, str]:
        settings = home / "cclsp.json"
        server = {"extensions": ["py"], "command": [ty, "server"], "rootDir": "."}
        settings.write_text(json.dumps({"servers": [server]}), encoding="utf-8")
        return {"CCLSP_CONFIG_PATH": str(settings)}

    return Peer(
        f"cclsp {version} with ty",
        lambda root, home: [str(node.node()), str(modules / "cclsp/dist/index.js")],
        environment,
        "find_references",
        lambda root, question: {
            "file_path": str(root / question.file),
            "symbol_name": question.name,
            "include_declaration": True,
        },
    )


def serena() -> Peer:
    venv = _serena_environment()
    ty = str(Path(sys.executable).with_name("ty"))

    def command(root: Path, home: Path) -> list[str]:
        # JSON is YAML. What a server is started with counts only in the user's own settings.
        user = home / ".serena/serena_config.yml"
        user.parent.mkdir(exist_ok=True)
        servers = {"ls_specific_settings": {"python_ty": {"ls_path": ty}}, "projects": []}
        user.write_text(json.dumps(servers), encoding="utf-8")
        project = root / ".serena/project.yml"
        project.parent.mkdir(exist_ok=True)
        chosen = {"project_name": "django", "language_servers": ["python_ty"]}
        project.write_text(json.dumps(chosen), encoding="utf-8")
        return [
            str(venv / "bin/serena"),
            *("start-mcp-server", "--project", str(root), "--agent-interface", "tools"),
            *("--enable-web-dashboard", "false"),
        ]

    return Peer(
        "Serena 2.1.0 with ty",
        command,
        lambda home: {"PATH": f"{venv / 'bin'}:{os.environ['PATH']}"},
        "find_referencing_symbols",
        lambda root, question: {"name_path": question.name, "relative_path": question.file},
    )


def _serena_environment() -> Path:
    """A virtual environment of its own, because Serena pins much."""
    lock = _ROOT / "requirements/peers.txt"
    venv = _ROOT / ".cache/peers"
    stamp = venv / "installed"
    if not stamp.exists() or stamp.read_bytes() != lock.read_bytes():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        pip = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--require-hashes"]
        subprocess.run([*pip, "-r", str(lock)], check=True, stderr=subprocess.DEVNULL)
        shutil.copy(lock, stamp)
    return venv
