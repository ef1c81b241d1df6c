"""The nearest vectors: exact among what the sketches let through, and the same in every order."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sightline.index.dense import nearness
from sightline.index.dense.nearness import LOOKED_AT, Block, Matrix
from sightline.index.dense.sketches import distances, sketch, within
from tests.index.grown import Tree, answers
from tests.support.index import bench, build

Vectors = NDArray[np.int8]


def some_vectors(seed: int, rows: int, width: int, *, spread: int = 40) -> Vectors:
    """Few different ones when ``spread`` is small, so that many are equally far."""
    generator = np.random.default_rng(seed)
    return generator.integers(-spread, spread + 1, (rows, width)).astype(np.int8)


def counted(one: Vectors, query: Vectors) -> int:
    """The distance as the docstring tells it, bit by bit."""
    mean = np.abs(query.astype(int)).sum() / len(query)
    far = 0
    for own, asked in zip(one.tolist(), query.tolist(), strict=True):
        if (own > 0) != (asked > 0):
            far += 3 if abs(asked) > mean else 1
    return far


@given(st.integers(0, 2**32), st.sampled_from([1, 7, 64, 65, 200, 256, 300]), st.integers(1, 100))
def test_distances_are_the_bits_that_differ(seed: int, width: int, spread: int) -> None:
    vectors = some_vectors(seed, 9, width, spread=spread)
    query = some_vectors(seed + 1, 1, width, spread=spread)[0]
    found = distances([sketch(vectors)], query)
    assert found.tolist() == [counted(one, query) for one in vectors]
    opposite = np.full((1, width), -5, np.int8)
    assert distances([sketch(opposite)], -opposite[0]).tolist() == [width]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.integers(1, 70))
def test_the_cut_has_everything_that_is_as_far(found: list[int], least: int) -> None:
    cut = within(np.array(found, np.uint16), least)
    assert cut == sorted(found)[min(least, len(found)) - 1]


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 40))
def test_no_order_and_no_division_into_parts_changes_what_is_found(seed: int, count: int) -> None:
    """Nor does what lies between: the dead, and files that do not pass a filter."""
    vectors = some_vectors(seed, 400, 16, spread=2)
    query = some_vectors(seed + 1, 1, 16)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearness, "LOOKED_AT", 50)
        expected = found_as_bytes(Matrix.whole(vectors), vectors, query, np.ones(400, bool), count)
        generator = np.random.default_rng(seed)
        order = np.append(generator.permutation(400), np.full(90, -1))
        generator.shuffle(order)
        among = order >= 0
        mixed = np.where(among[:, None], vectors[order], some_vectors(seed + 2, len(order), 16))
        cuts = sorted(generator.integers(0, len(order), 3).tolist())
        blocks = [Block.whole(part) for part in np.split(mixed, cuts)]
        matrix = Matrix(blocks, 16)
        assert found_as_bytes(matrix, mixed, query, among, count) == expected
    assert len(matrix) == len(order)
    assert matrix.row(int(cuts[0])) == mixed[cuts[0]].tobytes()


def found_as_bytes(
    matrix: Matrix, vectors: Vectors, query: Vectors, among: NDArray[np.bool_], count: int
) -> list[tuple[float, bytes]]:
    chunks, values = matrix.nearest(query, among, count)
    assert (np.diff(chunks) > 0).all() and among[chunks].all()
    products = vectors[chunks].astype(int) @ query.astype(int)
    assert np.array_equal(np.argsort(products, kind="stable"), np.argsort(values, kind="stable"))
    return sorted(
        (value, vectors[chunk].tobytes()) for chunk, value in zip(chunks, values, strict=True)
    )


def test_few_chunks_are_compared_exactly() -> None:
    vectors = some_vectors(3, LOOKED_AT, 256)
    query = some_vectors(4, 1, 256)[0]
    matrix = Matrix.whole(vectors)
    chunks, values = matrix.nearest(query, np.ones(len(vectors), bool), 300)
    products = vectors.astype(int) @ query.astype(int)
    least = np.sort(products)[-300]
    assert chunks.tolist() == np.flatnonzero((products >= least) & (products > 0)).tolist()
    assert np.array_equal(values, matrix.near(query, chunks))


async def test_an_index_that_grew_and_a_fresh_one_look_at_the_same_chunks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With so few looked at that the sketches decide."""
    monkeypatch.setattr(nearness, "LOOKED_AT", 5)
    tree = Tree(tmp_path / "ws", 8)
    async with bench(tmp_path / "cache") as tools, tools.open(tree.root, "grown") as grown:
        await build(grown)
        for step in range(6):
            tree.edit()
            await answers(grown, random.Random(step))
        after = await answers(grown, random.Random(1))
        async with tools.open(tree.root, "fresh") as fresh:
            await build(fresh)
            assert await answers(fresh, random.Random(1)) == after
        reasons = [reason for items in after for item in items for reason in item.reasons]
        assert any(reason.startswith("near in meaning") for reason in reasons)
