"""``python -m bench.runtimes.child WAY ROWS MODELS OUT``: one way, in a process of its own.

Loads the model, encodes every chunk, then every query by itself, then some chunks by themselves.
Prints what that took, by CPU time, as JSON; the vectors go to OUT. numpy is there before the clock
starts, since the index needs it anyway.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.index.dense.layout import Row

__all__ = ["WAYS"]

WAYS = ("numpy, exact", "numpy, floats", "onnxruntime, floats", "onnxruntime, 8 bits")
_ALONE = 100

Encode = Callable[[Sequence[Row]], NDArray[np.float32]]


def _exact() -> tuple[Encode, Encode]:
    from sightline.index.dense.encoder import encode_rows
    from sightline.index.dense.weights import bundled

    weights = bundled()

    def chunks(rows: Sequence[Row]) -> NDArray[np.float32]:
        return encode_rows(weights, weights.chunks, rows).astype(np.float32)

    def queries(rows: Sequence[Row]) -> NDArray[np.float32]:
        return encode_rows(weights, weights.queries, rows).astype(np.float32)

    return chunks, queries


def _floats() -> tuple[Encode, Encode]:
    from bench.runtimes.floats import FloatTower, encode
    from sightline.index.dense.weights import bundled

    weights = bundled()
    chunks, queries = FloatTower(weights, weights.chunks), FloatTower(weights, weights.queries)
    return lambda rows: encode(chunks, rows), lambda rows: encode(queries, rows)


def _onnx(models: Path, kind: str, longest: int) -> tuple[Encode, Encode]:
    import onnxruntime

    from bench.runtimes.floats import groups, padded

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1

    def opened(side: str) -> Encode:
        path = str(models / f"{side}.{kind}.onnx")
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

        def encode(rows: Sequence[Row]) -> NDArray[np.float32]:
            found = np.zeros((len(rows), session.get_outputs()[0].shape[1]), np.float32)
            for group in groups(rows):
                given = padded([rows[number] for number in group], longest)
                named = dict(zip(("pieces", "places", "mask"), given, strict=True))
                found[group] = session.run(None, named)[0]
            return found

        return encode

    return opened("chunks"), opened("queries")


def main(way: str, rows: Path, models: Path, out: Path) -> None:
    given = json.loads(rows.read_text("utf-8"))
    chunks, queries = ([Row(*row) for row in given[side]] for side in ("chunks", "queries"))
    began = time.process_time()
    if way.startswith("numpy"):
        encode, ask = _exact() if way.endswith("exact") else _floats()
    else:
        encode, ask = _onnx(
            models, "floats" if way.endswith("floats") else "8bit", given["longest"]
        )
    loaded = time.process_time()
    vectors = encode(chunks)
    encoded = time.process_time()
    times: list[float] = []
    for row in queries:
        begin = time.process_time()
        ask([row])
        times.append(time.process_time() - begin)
    again = encode(chunks)
    alone = np.concatenate([encode([row]) for row in chunks[:_ALONE]])
    np.save(out, vectors)
    print(
        json.dumps(
            {
                "load_s": loaded - began,
                "chunks_per_s": len(chunks) / (encoded - loaded),
                "query_ms": float(np.median(times)) * 1_000,
                "rerun": float(np.abs(again - vectors).max()),
                "alone": float(np.abs(alone - vectors[:_ALONE]).max()),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], *map(Path, sys.argv[2:]))
