"""The log of vectors: what was written is read, what is damaged is passed over."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.index.dense.vectors import VectorLog, chunk_key, path_key

WIDTH = 8


def entry(path: str, version: int, chunks: int) -> tuple[bytes, bytes, list[bytes], np.ndarray]:
    keys = [chunk_key(f"{path}{n}", bytes([version])) for n in range(chunks)]
    generator = np.random.default_rng(version)
    vectors = generator.integers(-127, 128, (chunks, WIDTH)).astype(np.int8)
    return path_key(path), bytes([version]) * 16, keys, vectors


def test_the_newest_version_counts(tmp_path: Path) -> None:
    log = VectorLog(str(tmp_path / "log"), WIDTH)
    other = VectorLog(log.path, WIDTH)
    log.add([entry("a", 1, 3), entry("b", 1, 1)])
    other.add([entry("a", 2, 2)])
    log.refresh()
    found = log.get(path_key("a"))
    assert found is not None and found.content == bytes([2]) * 16
    assert found.keys == tuple(entry("a", 2, 2)[2])
    assert np.array_equal(found.vectors, entry("a", 2, 2)[3])
    assert log.get(path_key("c")) is None
    log.compact({path_key("a"): b"", path_key("b"): b""})
    other.refresh()
    assert other.dead == 0 and np.array_equal(other.vectors(path_key("b")), entry("b", 1, 1)[3])


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 400), flip=st.integers(0, 399) | st.none())
def test_a_damaged_tail_is_passed_over_and_written_over(cut: int, flip: int | None) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log")
        made = [entry(name, 7, 3) for name in "abcd"]
        VectorLog(str(path), WIDTH).add(made)
        data = bytearray(path.read_bytes()[: max(0, path.stat().st_size - cut)])
        if flip is not None and flip < len(data):
            data[flip] ^= 0x55
        path.write_bytes(data)
        log = VectorLog(str(path), WIDTH)
        log.refresh()
        for key, content, keys, vectors in made:
            found = log.get(key)
            if found is not None and found.content == content and found.keys == tuple(keys):
                assert np.array_equal(found.vectors, vectors)
        log.add(made)
        for key, _, _, vectors in made:
            assert np.array_equal(log.vectors(key), vectors)
