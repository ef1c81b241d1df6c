"""Peers that are installed from the package registry into a folder of their own when asked.

Aider's repository map is asked as its chat does it: the words of the question are given as
mentioned names, the budget as map tokens, tests are left out. It runs in its own environment.
"""

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.context_questions import Project
from bench.context_rivals import Reply

__all__ = ["Aider"]

_FOLDER = Path(__file__).parent.parent / ".cache" / "peers" / "aider"
_PINNED = "aider-chat==0.86.2"
_SERVER = """
import json, sys
from aider.io import InputOutput
from aider.repomap import RepoMap

class Model:
    def token_count(self, text):
        return (len(text.encode()) + 3) // 4

root, files = json.loads(sys.stdin.readline())
out, sys.stdout = sys.stdout, sys.stderr
maps = {}
for line in sys.stdin:
    words, budget = json.loads(line)
    if budget not in maps:
        maps[budget] = RepoMap(map_tokens=budget, root=root, main_model=Model(),
            io=InputOutput(yes=True, pretty=False), max_context_window=10**6, map_mul_no_files=1)
    text = maps[budget].get_repo_map([], files, set(), set(words))
    print(json.dumps(text or ""), file=out, flush=True)
"""


class Aider:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._heads = {(d.path, d.name): d.head for d in project.definitions}
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        root = self._project.root.resolve()
        self._process = subprocess.Popen(
            [_python(), "-c", _SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self._tell([str(root), [str(root / path) for path in self._project.sources]])
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def ask(self, question: str, budget: int) -> Reply:
        assert self._process is not None and self._process.stdout is not None
        self._tell([question.split(), budget])
        text: str = json.loads(self._process.stdout.readline())
        sections: dict[str, str] = {}
        path = ""
        for line in text.split("\n"):
            if line.endswith(":") and not line.startswith((" ", "│", "⋮")):
                path = line[:-1]
            sections[path] = sections.get(path, "") + line + "\n"
        seen = {name for name, head in self._heads.items() if head in sections.get(name[0], "")}
        return Reply(frozenset(seen), frozenset())

    def _tell(self, message: object) -> None:
        assert self._process is not None and self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


def _python() -> str:
    python = _FOLDER / "bin" / "python"
    if not (_FOLDER / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", str(_FOLDER)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", _PINNED],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        (_FOLDER / "installed").touch()
    return str(python)
