"""Edit, then ask at once: is the edit in the answer?

``python -m tests.system.freshness --rounds 300`` edits a small repository in every way there is and
after each edit asks a running server for all references of one function. What is right is counted
independently, with Python's tokenizer, from the files as they are on disk at that moment.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["EDITS", "Repository", "run_rounds"]

NAME = "target"
Place = tuple[str, int, int]


class Repository:
    """A repository that is edited at random, from a seed."""

    suffix = ".py"
    #: What a use looks like, and something else of the same length.
    use, other = f"{NAME}()\n", "t = 000;\n"[: len(f"{NAME}()\n") - 1] + "\n"

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.serial = 0
        root.mkdir(parents=True, exist_ok=True)
        self.core_file.write_text(self.core())
        for _ in range(12):
            self.create()
        self.git("init", "-q", "-b", "one")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "one")
        self.git("switch", "-q", "-c", "two")
        self.write()
        self.write()
        self.create()
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "two")

    @property
    def core_file(self) -> Path:
        return self.root / f"core{self.suffix}"

    def core(self) -> str:
        return "# core\n" * self.random.randrange(4) + f"def {NAME}() -> int:\n    return 1\n"

    def user(self, folder: Path) -> str:
        uses = f"{NAME}()\n" * self.random.randrange(1, 6)
        return "\n" * self.random.randrange(3) + f"from core import {NAME}\n{uses}"

    def users(self) -> list[Path]:
        files = self.root.rglob(f"user*{self.suffix}")
        return sorted(file for file in files if ".git" not in file.parts)

    def some_user(self) -> Path:
        return self.random.choice(self.users() or [self.create()])

    # Edits

    def write(self) -> None:
        if self.random.random() < 0.2:
            self.core_file.write_text(self.core())
        else:
            file = self.some_user()
            file.write_text(self.user(file.parent))

    def rename(self) -> None:
        """Atomic replacement, as editors save."""
        file = self.some_user()
        fresh = file.with_name(f".{file.name}.new")
        fresh.write_text(self.user(file.parent))
        fresh.replace(file)

    def delete(self) -> None:
        if len(self.users()) < 4:
            self.create()
        self.some_user().unlink()

    def create(self) -> Path:
        self.serial += 1
        folder = self.random.choice(self.folders())
        folder.mkdir(exist_ok=True)
        file = folder / f"user{self.serial}{self.suffix}"
        file.write_text(self.user(folder))
        return file

    def folders(self) -> list[Path]:
        """Where a new file may come."""
        return [self.root, self.root / f"pkg{self.serial % 3}", self.root / f"new{self.serial}"]

    def switch(self) -> None:
        """A branch switch that throws away what was edited since."""
        current = self.git("rev-parse", "--abbrev-ref", "HEAD").strip()
        self.git("clean", "-fdq")
        self.git("switch", "-q", "-f", "two" if current == "one" else "one")

    def disguise(self) -> None:
        """An edit that keeps size and modification time."""
        file = self.some_user()
        before = file.stat()
        text = file.read_text()
        use, other = self.use, self.other
        changed = text.replace(use, other, 1) if use in text else text.replace(other, use, 1)
        assert len(changed) == len(text)
        file.write_text(changed)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    # Truth

    def truth(self) -> set[Place]:
        """Every place of the name, by Python's own tokenizer."""
        places: set[Place] = set()
        for file in [self.core_file, *self.users()]:
            with file.open("rb") as stream:
                for token in tokenize.tokenize(stream.readline):
                    if token.type == tokenize.NAME and token.string == NAME:
                        places.add((file.as_uri(), token.start[0] - 1, token.start[1]))
        return places

    def definition(self) -> dict[str, int]:
        lines = self.core_file.read_text().splitlines()
        return {"line": next(i for i, t in enumerate(lines) if t.startswith("def")), "character": 5}

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.root,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout


EDITS: dict[str, Callable[[Repository], Any]] = {
    "write": Repository.write,
    "atomic rename": Repository.rename,
    "delete": Repository.delete,
    "create": Repository.create,
    "branch switch": Repository.switch,
    "same size and time": Repository.disguise,
}


def ask(server: StdioServer, repository: Repository) -> set[Place]:
    """All references, page by page."""
    uri = repository.core_file.as_uri()
    places: set[Place] = set()
    cursor = None
    while True:
        answer = server.call(
            "vscode.lsp.references",
            {
                "uri": uri,
                "position": repository.definition(),
                "includeDeclaration": True,
                "cursor": cursor,
            },
        )
        assert "result" in answer, answer
        content = answer["result"]["structuredContent"]
        for item in content["items"]:
            start = item["range"]["start"]
            places.add((item["uri"], start["line"], start["character"]))
        cursor = content["nextCursor"]
        if cursor is None:
            return places


def run_rounds(
    server: StdioServer, repository: Repository, kind: str, rounds: int
) -> list[dict[str, Any]]:
    """The stale answers of so many rounds of one kind of edit."""
    stale: list[dict[str, Any]] = []
    for number in range(rounds):
        EDITS[kind](repository)
        found = ask(server, repository)
        truth = repository.truth()
        if found != truth:
            stale.append(
                {"round": number, "missing": sorted(truth - found), "extra": sorted(found - truth)}
            )
    return stale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--modes", default="auto,sweep")
    parser.add_argument("--write", action="store_true", help="write docs/evidence/freshness.md")
    arguments = parser.parse_args()
    rows: list[str] = []
    failed = 0
    for mode in arguments.modes.split(","):
        with tempfile.TemporaryDirectory() as folder:
            home = Path(folder) / "home"
            home.mkdir()
            repository = Repository(Path(folder) / "ws", arguments.seed)
            options = [str(repository.root), "--set", f"change_detection={mode}"]
            server = StdioServer.start(options, home)
            server.initialize()
            for kind in EDITS:
                begin = time.monotonic()
                stale = run_rounds(server, repository, kind, arguments.rounds)
                took = time.monotonic() - begin
                failed += len(stale)
                name = "notification" if mode == "auto" else mode
                rows.append(f"| {name} | {kind} | {arguments.rounds} | {len(stale)} | {took:.1f} |")
                print(rows[-1], flush=True)
                for row in stale[:2]:
                    print(json.dumps(row), file=sys.stderr)
            server.stop()
    if arguments.write:
        command = f"python -m tests.system.freshness --rounds {arguments.rounds} --write"
        write_page("freshness.md", command, _PAGE.format(rows="\n".join(rows)))
    return 1 if failed else 0


_PAGE = """# Freshness

A small repository is edited in every way there is; after each edit, at once, a running server
(stdio, ty) is asked for all references of one function. What is right is counted with Python's
tokenizer from the files as they are on disk at that moment. An answer that differs in one place is
stale.

| change detection | edit | rounds | stale answers | wall s |
|---|---|---|---|---|
{rows}

Weakness: one small repository (about 15 files), one language, a local file system, one client.
"""


if __name__ == "__main__":
    sys.exit(main())
