"""Searches that are compared: how each is installed, started, built and asked.

Each runs with its defaults and without a network. What it is asked for is ten hits.
"""

import csv
import io
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tarfile
import time
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from bench.kernel import Tree
from bench.peers import OFFLINE, Client, kill
from sightline.index.cutting.cut import cut
from sightline.index.reading.languages import language_of

__all__ = ["SIDES", "Hit", "Side"]

_FOLDER = Path(__file__).parent.parent / ".cache" / "peers" / "search"
_TOP = 10
_BUILD_S = 900
_JCODEMUNCH = "1.108.399"
_SEMBLE = "0.7.0"
_PROBE = "0.6.0-rc325"


class Hit(NamedTuple):
    """A path relative to the root, and 1-based lines of which the last is one."""

    path: str
    first: int
    last: int


class Side(ABC):
    name: ClassVar[str]

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home

    @abstractmethod
    def build(self) -> float:
        """Makes ready to be asked; returns the CPU seconds of it."""

    @abstractmethod
    def ask(self, text: str) -> tuple[list[Hit], int]:
        """The hits in their order, and how many bytes were returned."""

    @abstractmethod
    def cpu_s(self) -> float:
        """What asking has cost so far."""

    def close(self) -> None:  # noqa: B027 - most start nothing
        """Ends what was started."""

    def environment(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "HF_HUB_OFFLINE": "1"}

    def run(self, *command: str) -> str:
        done = subprocess.run(
            [*OFFLINE, *command],
            capture_output=True,
            text=True,
            cwd=self.root,
            env=self.environment(),
            timeout=_BUILD_S,
            check=False,
        )
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip() or "failed").splitlines()[-1]
            raise ValueError(last[:200])
        return done.stdout


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class _Served(Side):
    """A server over stdio: its CPU time is that of its processes."""

    client: Client | None = None

    def start(self, *command: str) -> None:
        self.client = Client(list(command), self.root, self.environment())
        self._tree = Tree(self.client.process.pid)

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        assert self.client is not None
        answer = self.client.request("tools/call", {"name": tool, "arguments": arguments})
        if "result" not in answer or answer["result"].get("isError"):
            raise ValueError(json.dumps(answer)[:300])
        result: dict[str, Any] = answer["result"]
        return result

    def cpu_s(self) -> float:
        self._tree.look()
        return self._tree.cpu_s

    def close(self) -> None:
        if self.client is not None:
            kill(self.client)


class Sightline(_Served):
    name = "Sightline, words and vectors"

    def build(self) -> float:
        program = str(Path(sys.executable).with_name("sightline"))
        before = _children_s()
        self.run(program, "index", "build", str(self.root))
        spent = _children_s() - before
        self.start(program, "stdio", str(self.root), "--tools", "index")
        return spent

    def ask(self, text: str) -> tuple[list[Hit], int]:
        given = self.call("search", {"query": text, "pageSize": _TOP})
        items = given["structuredContent"]["items"]
        hits = [Hit(item["path"], item["startLine"], item["endLine"]) for item in items]
        return hits, len(given["content"][0]["text"].encode())


class Words(Sightline):
    name = "Sightline, words alone"

    def environment(self) -> dict[str, str]:
        return super().environment() | {"SIGHTLINE_DENSE": "false"}


class Jcodemunch(_Served):
    name = f"jcodemunch-mcp {_JCODEMUNCH}"

    def build(self) -> float:
        program = str(_python(f"jcodemunch-mcp=={_JCODEMUNCH}").with_name("jcodemunch-mcp"))
        before = _children_s()
        self.run(program, "index", str(self.root))
        spent = _children_s() - before
        self.start(program)
        listed = json.loads(self.call("list_repos", {})["content"][0]["text"])
        self._repository = listed["repos"][0]["repo"]
        return spent

    def ask(self, text: str) -> tuple[list[Hit], int]:
        given = {"repo": self._repository, "query": text, "max_results": _TOP}
        answer = self.call("search_symbols", given)["content"][0]["text"]
        columns = re.search(r"__tables=s:results:(\S+)", answer)
        names = columns[1].split("|") if columns else []
        rows = [row for row in csv.reader(io.StringIO(answer)) if row and row[0] == "s"]
        found = [dict(zip(names, row[1:], strict=False)) for row in rows]
        hits = [Hit(row["file"], int(row["line"]), int(row["line"])) for row in found]
        return hits, len(answer.encode())


class Probe(Side):
    name = f"probe {_PROBE}"

    def build(self) -> float:
        self._program = _probe()
        self._before = _children_s()
        return 0.0

    def ask(self, text: str) -> tuple[list[Hit], int]:
        answer = self.run(
            str(self._program), "search", text, str(self.root),
            *("--max-results", str(_TOP), "--format", "json"),
        )  # fmt: skip
        begin = answer.find("{")
        results = json.loads(answer[begin:])["results"] if begin >= 0 else []
        hits = [
            Hit(os.path.relpath(found["file"], self.root), *found["lines"]) for found in results
        ]
        return hits, sum(len(found["code"].encode()) + len(found["file"]) for found in results)

    def cpu_s(self) -> float:
        return _children_s()


class Semble(Side):
    name = f"semble {_SEMBLE}"

    def build(self) -> float:
        self._program = str(_python(f"semble=={_SEMBLE}").with_name("semble"))
        before = _children_s()
        self.run(self._program, "search", "warm up", str(self.root))
        return _children_s() - before

    def ask(self, text: str) -> tuple[list[Hit], int]:
        answer = self.run(self._program, "search", text, str(self.root), "-k", str(_TOP))
        rows = json.loads(answer)["results"]
        return [Hit(r["file_path"], r["start_line"], r["end_line"]) for r in rows], len(answer)

    def cpu_s(self) -> float:
        return _children_s()


class FullText(Side):
    """SQLite's full-text search in this process, over the chunks that Sightline cuts."""

    name = f"SQLite {sqlite3.sqlite_version} FTS5"

    def build(self) -> float:
        began = time.process_time()
        self._chunks: list[Hit] = []
        self._base = sqlite3.connect(self.home / "chunks.db")
        self._base.execute("create virtual table t using fts5(path, name, body, tokenize='porter')")
        for file in sorted(self.root.rglob("*")):
            if file.is_file() and not file.is_symlink() and file.stat().st_size <= 400_000:
                self._add(str(file.relative_to(self.root)), file.read_bytes())
        self._base.commit()
        return time.process_time() - began

    def _add(self, path: str, data: bytes) -> None:
        if b"\0" in data:
            return
        for chunk in cut(data, language_of(path.rpartition("/")[2]).name):
            text = b"\n".join(data[a:b] for a, b in chunk.spans).decode("utf-8", "replace")
            first = data.count(b"\n", 0, chunk.spans[0][0]) + 1
            last = data.count(b"\n", 0, max(chunk.spans[-1][1] - 1, 0)) + 1
            self._chunks.append(Hit(path, first, last))
            row = (len(self._chunks), *map(_apart, (path, chunk.name, text)))
            self._base.execute("insert into t(rowid, path, name, body) values (?, ?, ?, ?)", row)

    def ask(self, text: str) -> tuple[list[Hit], int]:
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", _apart(text)))
        sql = "select rowid, body from t where t match ? order by bm25(t, 2, 6, 1) limit ?"
        rows = list(self._base.execute(sql, (words, _TOP))) if words else []
        return [self._chunks[row[0] - 1] for row in rows], sum(len(row[1]) for row in rows)

    def cpu_s(self) -> float:
        return time.process_time()

    def close(self) -> None:
        self._base.close()


def _apart(text: str) -> str:
    """Names taken apart, which FTS5 does not do by itself."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text.replace("_", " "))


def _python(pinned: str) -> Path:
    """An environment with one package in it."""
    folder = _FOLDER / pinned
    if not (folder / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", pinned]
        subprocess.run(pip, check=True, stderr=subprocess.DEVNULL)
        (folder / "installed").touch()
    return folder / "bin/python"


def _probe() -> Path:
    """The program in the npm package; installing the package itself needs more than a registry."""
    folder = _FOLDER / f"probe-{_PROBE}"
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        pack = ["npm", "pack", "--silent", "--ignore-scripts", f"@probelabs/probe@{_PROBE}"]
        subprocess.run(pack, check=True, cwd=folder.parent, stdout=subprocess.DEVNULL)
        with tarfile.open(folder.parent / f"probelabs-probe-{_PROBE}.tgz") as package:
            [inner] = [m for m in package if m.name.endswith("x86_64-unknown-linux-musl.tar.gz")]
            held = package.extractfile(inner)
            assert held is not None
            with tarfile.open(fileobj=held) as archive:
                archive.extractall(folder, filter="data")
    [program] = folder.rglob("probe")
    return program


SIDES: tuple[type[Side], ...] = (Sightline, Words, FullText, Jcodemunch, Probe, Semble)
