"""``python -m tests.index.kills --rounds 100``: kill -9 during builds and updates.

Every round starts ``sightline index build`` as a process of its own on a workspace that was just
edited, kills it and its workers at a moment that moves from round to round, and then asks: is the
index whole, and does it answer like a fresh one?
"""

import argparse
import asyncio
import os
import random
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.support.corpus import WORDS, python_file, write_corpus
from tests.support.index import Bench, bench, build, found
from tests.support.processes import children_of, left_after
from tests.support.program import command, environment
from tests.support.watching import HANG_S
from tools.evidence import write_page

__all__ = ["Killer"]

FILES = 120


class Killer:
    """A workspace, its index, and builds of it that are killed."""

    def __init__(self, folder: Path, tools: Bench, seed: int) -> None:
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.root = folder / "ws"
        self.tools = tools
        self.rng = random.Random(seed)
        self.cache = self.home / ".cache/sightline"
        self.fresh = 0
        write_corpus(self.root, FILES, seed=seed, functions=4)

    def edit(self) -> None:
        files = sorted(self.root.rglob("*.py"))
        for file in self.rng.sample(files, self.rng.randrange(1, 30)):
            file.write_text(python_file(self.rng, 3), encoding="utf-8")
        self.rng.choice(files).unlink()
        (self.root / f"new{self.rng.randrange(10**6)}.py").write_text(python_file(self.rng, 2))

    def build_and_kill(self, *, force: bool) -> str:
        """How the build ended: ``killed`` at some moment, or ``done`` before it."""
        words = ["index", "build", str(self.root), *(["--force"] if force else [])]
        process = subprocess.Popen(
            command(*words), env=environment(self.home), stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, cwd=self.home,
        )  # fmt: skip
        # After so many changes in the index folder, so that every step of a build has its turn.
        changes = self.rng.randrange(1, 9)
        seen = self._look()
        while changes and process.poll() is None:
            now = self._look()
            changes -= now != seen
            seen = now
        if process.poll() is not None:
            return "done"
        tree = _tree(process.pid)
        victims = tree if self.rng.random() < 0.5 else [process.pid]
        for pid in victims:
            _kill(pid)
        process.wait(HANG_S)
        assert left_after(20, tree) == [], "workers end with whoever started them"
        return "killed"

    def _look(self) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for file in (self.cache / "index").glob("*/*"):
            try:
                found.append((file.name, file.stat().st_size))
            except FileNotFoundError:
                continue
        return sorted(found)

    async def check(self) -> None:
        """The index opens, and answers as a fresh one does."""
        self.fresh += 1
        queries = [" ".join(self.rng.sample(WORDS, 3)) for _ in range(4)]
        index_cache = self.cache
        async with (
            # By words alone: whether vectors are there yet is a matter of time.
            self.tools.open(self.root, str(index_cache), dense=False) as index,
            self.tools.open(self.root, f"fresh{self.fresh}", dense=False) as fresh,
        ):
            builder = index.builders[str(self.root)]
            await builder.peek()
            assert builder.library.store.damage in ("", "there is no manifest", "it is empty")
            await build(index)
            await build(fresh)
            assert not builder.library.store.damage
            for query in queries:
                assert await found(index, query) == await found(fresh, query)
            literal = self.rng.choice(WORDS)
            expected = await found(fresh, literal, mode="literal")
            assert await found(index, literal, mode="literal") == expected
        shutil.rmtree(self.tools.cache / f"fresh{self.fresh}")

    async def rounds(self, count: int) -> dict[str, int]:
        ended = {"killed": 0, "done": 0}
        for number in range(count):
            if number % 10 == 9:
                shutil.rmtree(self.cache / "index", ignore_errors=True)  # a first build again
            self.edit()
            ended[self.build_and_kill(force=number % 3 == 2)] += 1
            await self.check()
        return ended


def _tree(pid: int) -> list[int]:
    found = [pid]
    for place in found:
        found += children_of(place)
    return found


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


async def main(rounds: int, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with bench(Path(folder) / "cache") as tools:
            ended = await Killer(Path(folder), tools, seed).rounds(rounds)
    write_page(
        "kills.md",
        f"python -m tests.index.kills --rounds {rounds}",
        _PAGE.format(rounds=rounds, seed=seed, files=FILES, **ended),
    )
    print(f"{rounds} rounds: {ended['killed']} builds killed, {ended['done']} finished before; "
          "every index was whole and answered like a fresh one")  # fmt: skip


_PAGE = """# Builds of the index that are killed

Each round edits a workspace of about {files} files, starts `sightline index build` on it as a
process of its own, and kills it with SIGKILL after a random number of changes in the folder of the
index, in every second case together with its workers. Every third build is a forced one, every
tenth a first one. After each round no process may be left, the index must open without damage, and
after taking up what is missing it must answer four ranked questions and a literal one with the same
bytes as an index built at once. The command fails at the first round that does not.

| what | count |
|---|---|
| rounds (seed {seed}) | {rounds} |
| builds killed on the way | {killed} |
| builds that were done before the kill | {done} |
| indexes damaged | 0 |
| wrong answers | 0 |

Weakness: a killed process loses nothing that the kernel has; power loss is not tested. The moments
are those at which a file appears or grows, as seen from outside.
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    asyncio.run(main(given.rounds, given.seed))
