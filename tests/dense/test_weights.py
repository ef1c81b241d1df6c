"""The file of weights is believed whole or not at all."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.contract.failures import Unavailable
from sightline.index.dense import weights as module
from sightline.index.dense.weights import DIGEST, bundled, pack, read_weights

FILE = Path(module.__file__).parent / "model.weights"


def test_the_weights_in_the_package_are_the_measured_ones() -> None:
    assert bundled().digest == DIGEST
    assert FILE.stat().st_size <= 15_000_000


def test_a_missing_file_names_the_way_on(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="is missing; install Sightline again, or go on with"):
        read_weights(str(tmp_path / "none"))


@settings(max_examples=25, deadline=None)
@given(place=st.integers(0, FILE.stat().st_size - 1), bit=st.integers(0, 7))
def test_one_flipped_bit_is_noticed(
    tmp_path_factory: pytest.TempPathFactory, place: int, bit: int
) -> None:
    data = bytearray(FILE.read_bytes())
    data[place] ^= 1 << bit
    path = tmp_path_factory.mktemp("weights") / "damaged"
    path.write_bytes(data)
    with pytest.raises(Unavailable):
        read_weights(str(path))


@pytest.mark.parametrize("kept", [0, 10, 5_000, -1])
def test_a_file_that_was_cut_off_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "cut"
    path.write_bytes(FILE.read_bytes()[:kept])
    with pytest.raises(Unavailable):
        read_weights(str(path))


def test_a_well_formed_file_with_other_shapes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(pack({"layout": [1, 1, 1, 1], "width": 4, "heads": 1, "pool": 1}, ["a"], {}))
    with pytest.raises(Unavailable, match="does not fit this version"):
        read_weights(str(path))


def test_whole_weights_of_another_model_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "DIGEST", "0" * 64)
    bundled.cache_clear()
    with pytest.raises(Unavailable, match="is not the one of this version"):
        bundled()
    bundled.cache_clear()
