"""An index that grew by edits answers with the same bytes as one built at once."""

import random
from pathlib import Path

import pytest

from sightline.index.index import Index
from sightline.index.search import Item
from tests.support.corpus import WORDS, source_file
from tests.support.index import Bench, bench, build, found

SUFFIXES = (".py", ".py", ".go", ".ts", ".md", ".json", ".txt")
SEQUENCES = 6
EDITS = 8


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


async def one_sequence(tools: Bench, root: Path, seed: int) -> None:
    tree = Tree(root, seed)
    async with tools.open(root, f"grown{seed}") as grown:
        await build(grown)
        for step in range(EDITS):
            for _ in range(tree.rng.randrange(1, 4)):
                tree.edit()
            questions = random.Random(f"{seed}/{step}")
            if step % 2:
                await answers(grown, questions)
        after = await answers(grown, random.Random(seed))
        async with tools.open(root, f"fresh{seed}") as fresh:
            await build(fresh)
            assert await answers(fresh, random.Random(seed)) == after
        assert sum(len(items) for items in after) > 20, "questions that find something"


@pytest.mark.slow
async def test_edits_and_a_fresh_build_agree(tmp_path: Path) -> None:
    async with bench(tmp_path / "cache") as tools:
        for seed in range(SEQUENCES):
            await one_sequence(tools, tmp_path / f"ws{seed}", seed)


async def test_the_order_of_work_changes_nothing(tmp_path: Path) -> None:
    """Batches of one file each, forward, and in the order of files that came one by one."""
    tree = Tree(tmp_path / "ws", 5)
    async with bench(tmp_path / "cache") as tools, tools.open(tree.root, "whole") as whole:
        await build(whole)
        expected = await answers(whole, random.Random(1))
        texts = {file: file.read_bytes() for file in tree.files()}
        for file in texts:
            file.unlink()
        async with tools.open(tree.root, "single") as single:
            await build(single)
            for file in sorted(texts, key=lambda file: file.name, reverse=True):
                file.write_bytes(texts[file])
                await found(single, "anything")
            assert await answers(single, random.Random(1)) == expected
