"""``python -m tests.index.grown --sequences 100``: indexes that grew by edits beside fresh ones.

Each sequence is a workspace made and edited at random from its own seed: files are created,
changed, cut short, renamed, deleted, ignored and no longer ignored. Its index takes up the edits
as they come; at the end the same questions are asked of it and of an index built at once, and
every answer must have the same bytes, its scores and reasons included.
"""

import argparse
import asyncio
import random
import tempfile
from pathlib import Path
from typing import NamedTuple

from sightline.index.index import Index
from sightline.index.searching.search import Item
from tests.support.corpus import WORDS, source_file
from tests.support.index import Bench, bench, build, found
from tools.evidence import write_page

__all__ = ["Tally", "Tree", "answers", "one_sequence"]

SUFFIXES = (".py", ".py", ".go", ".ts", ".md", ".json", ".txt")
EDITS = 8


class Tally(NamedTuple):
    """What one sequence was made of."""

    edits: int
    questions: int
    hits: int


class Tree:
    """A workspace that is edited at random, from a seed."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.rng = random.Random(seed)
        root.mkdir(parents=True)
        for _ in range(12):
            self.create()

    def files(self) -> list[Path]:
        return sorted(file for file in self.root.rglob("*") if file.is_file())

    def place(self) -> Path:
        folder = self.root / self.rng.choice(["", "src", "src/core", "tests", "docs"])
        folder.mkdir(parents=True, exist_ok=True)
        suffix = self.rng.choice(SUFFIXES)
        return folder / f"{self.rng.choice(WORDS)}{self.rng.randrange(40)}{suffix}"

    def create(self) -> None:
        file = self.place()
        file.write_text(source_file(self.rng, file.suffix), encoding="utf-8")

    def change(self) -> None:
        file = self.rng.choice(self.files())
        text = file.read_text(encoding="utf-8")
        extra = source_file(self.rng, file.suffix)
        file.write_text(self.rng.choice([text + extra, extra, text[: len(text) // 2], text]))

    def delete(self) -> None:
        self.rng.choice(self.files()).unlink()

    def rename(self) -> None:
        self.rng.choice(self.files()).rename(self.place())

    def ignore(self) -> None:
        kept = self.rng.choice(["", "docs/\n", "*.txt\n", "src/core\n", "*.json\n!core*.json\n"])
        (self.root / ".gitignore").write_text(kept)

    def edit(self) -> None:
        steps = [self.create, self.change, self.change, self.rename, self.ignore]
        if len(self.files()) > 3:
            steps += [self.delete]
        self.rng.choice(steps)()


async def answers(index: Index, rng: random.Random) -> list[list[Item]]:
    """Ranked, literal and pattern searches, all of each."""
    got: list[list[Item]] = []
    for _ in range(6):
        words = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(1, 5)))
        got.append(await found(index, words, explain=True))
    got.append(await found(index, rng.choice(WORDS), mode="literal"))
    got.append(await found(index, rf"{rng.choice(WORDS)}\w+\(", mode="regex"))
    got.append(await found(index, rng.choice(WORDS) + "_" + rng.choice(WORDS)))
    return got


async def one_sequence(tools: Bench, root: Path, seed: int) -> Tally:
    """One workspace from its first file to its last edit, and what was compared there."""
    tree = Tree(root, seed)
    edits = 0
    async with tools.open(root, f"grown{seed}") as grown:
        await build(grown)
        for step in range(EDITS):
            for _ in range(tree.rng.randrange(1, 4)):
                tree.edit()
                edits += 1
            questions = random.Random(f"{seed}/{step}")
            if step % 2:
                await answers(grown, questions)
        after = await answers(grown, random.Random(seed))
        async with tools.open(root, f"fresh{seed}") as fresh:
            await build(fresh)
            assert await answers(fresh, random.Random(seed)) == after
    compared = sum(len(items) for items in after)
    assert compared > 20, "questions that find something"
    return Tally(edits, len(after), compared)


async def main(sequences: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with bench(Path(folder) / "cache") as tools:
            tallies = [
                await one_sequence(tools, Path(folder) / f"ws{seed}", seed)
                for seed in range(sequences)
            ]
    edits, questions, hits = (sum(column) for column in zip(*tallies, strict=True))
    write_page(
        "grown.md",
        f"python -m tests.index.grown --sequences {sequences}",
        _PAGE.format(sequences=sequences, edits=edits, questions=questions, hits=hits),
    )
    print(f"{sequences} sequences, {edits} edits, {hits} hits: all the same")


_PAGE = """# Indexes that grew by edits

An index that took up edits one after another answers with the same bytes as one that was built at
once from the files as they are at the end. Each sequence begins with 12 files in five languages and
is edited at random from its own seed: files are created, changed, cut short, renamed, deleted,
ignored and no longer ignored. Half of the time a search comes between the edits, so that they are
taken up in small steps. Compared are ranked, literal and pattern searches: every hit of each, with
its lines, score, snippet and reasons. The command fails at the first difference.

| what | count |
|---|---|
| sequences | {sequences} |
| edits | {edits:,} |
| questions compared | {questions:,} |
| hits compared, byte for byte | {hits:,} |
| sequences with a difference | 0 |

Weakness: the workspaces are small and their texts are made from a small vocabulary, which makes
ties frequent but long lists rare. The edits are made through one process.
"""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sequences", type=int, default=100)
    asyncio.run(main(parser.parse_args().sequences))
