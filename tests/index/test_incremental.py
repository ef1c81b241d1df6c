"""An index that grew by edits answers with the same bytes as one built at once."""

import random
from pathlib import Path

import pytest

from tests.index.grown import Tree, answers, one_sequence
from tests.support.index import bench, build, found

SEQUENCES = 6


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
