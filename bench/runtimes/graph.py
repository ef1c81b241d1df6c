"""``python -m bench.runtimes.graph OUT``: the model as graphs for onnxruntime, made by hand.

For chunks and for queries one with 32-bit floats and one with integers of 8 bits, as onnxruntime's
own dynamic quantisation makes it. Runs where onnx is installed.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from bench.runtimes.floats import EPSILON, plain
from sightline.index.dense.weights import Tower, Weights, bundled

_OPSET = 17


class Graph:
    """Nodes and constants; every node has one output, named after its number."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, **attributes: object) -> str:
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: NDArray[Any]) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.array(value, order="C"), name))
        return name

    def number(self, value: float) -> str:
        return self.constant(np.array(value, np.float32))

    def shape(self, *sizes: int) -> str:
        return self.constant(np.array(sizes, np.int64))

    def times(self, x: str, matrix: NDArray[np.float32]) -> str:
        return self.add("MatMul", x, self.constant(matrix))

    def normal(self, x: str) -> str:
        mean = self.add("ReduceMean", self.add("Mul", x, x), axes=[-1])
        root = self.add("Sqrt", self.add("Add", mean, self.number(float(EPSILON))))
        return self.add("Div", x, root)

    def scaled(self, x: str, mask: str) -> str:
        """Scores, whose powers are those of two, as shares."""
        scores = self.add("Add", self.add("Mul", x, self.number(float(np.log(2.0)))), mask)
        return self.add("Softmax", scores, axis=-1)


def build(weights: Weights, tower: Tower) -> Any:
    graph = Graph()
    heads, pool = weights.heads, weights.pool_heads
    width = weights.tokens.shape[1]
    tokens = graph.constant(weights.tokens * weights.token_scale[:, None])
    places = graph.constant(weights.places.reshape(-1, width))
    found = graph.add("Gather", tokens, "pieces")
    x = graph.add("Add", found, graph.add("Gather", places, "places"))
    # One mask for the heads of attention, one for those of the pool.
    wide_mask = graph.add("Unsqueeze", "mask", graph.shape(1, 2))
    pool_mask = graph.add("Unsqueeze", "mask", graph.shape(1))
    for block in tower.blocks:
        inner = block.mixed.matrix.shape[0]
        mixed = graph.times(graph.normal(x), plain(block.attention))
        parts = graph.add("Reshape", mixed, graph.shape(0, 0, 3, heads, inner // heads))
        q, k, v = (
            graph.add("Gather", parts, graph.constant(np.array(i)), axis=2) for i in range(3)
        )
        q, v = (graph.add("Transpose", part, perm=[0, 2, 1, 3]) for part in (q, v))
        k = graph.add("Transpose", k, perm=[0, 2, 3, 1])
        shares = graph.scaled(graph.add("MatMul", q, k), wide_mask)
        joined = graph.add("Transpose", graph.add("MatMul", shares, v), perm=[0, 2, 1, 3])
        flat = graph.add("Reshape", joined, graph.shape(0, 0, inner))
        x = graph.add("Add", x, graph.times(flat, plain(block.mixed)))
        hidden = graph.add("Relu", graph.times(graph.normal(x), plain(block.wide)))
        x = graph.add("Add", x, graph.times(hidden, plain(block.narrow)))
    x = graph.normal(x)
    scores = graph.add("Transpose", graph.times(x, plain(tower.pool)), perm=[0, 2, 1])
    shares = graph.add("Unsqueeze", graph.scaled(scores, pool_mask), graph.shape(2))
    parts = graph.add("Reshape", x, graph.shape(0, 0, pool, width // pool))
    parts = graph.add("Transpose", parts, perm=[0, 2, 1, 3])
    pooled = graph.add("Reshape", graph.add("MatMul", shares, parts), graph.shape(0, width))
    out = graph.times(pooled, plain(tower.output))
    length = graph.add("ReduceL2", out, axes=[-1])
    graph.nodes.append(helper.make_node("Div", [out, length], ["vectors"]))
    inputs = [
        helper.make_tensor_value_info(name, kind, ["rows", "pieces"])
        for name, kind in (
            ("pieces", TensorProto.INT64),
            ("places", TensorProto.INT64),
            ("mask", TensorProto.FLOAT),
        )
    ]
    output = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["rows", weights.size])
    made = helper.make_graph(graph.nodes, "encoder", inputs, [output], graph.constants)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=9)


def main(into: Path) -> None:
    weights = bundled()
    for name, tower in (("chunks", weights.chunks), ("queries", weights.queries)):
        model = build(weights, tower)
        onnx.checker.check_model(model)
        whole = into / f"{name}.floats.onnx"
        onnx.save(model, str(whole))
        small = into / f"{name}.8bit.onnx"
        quantize_dynamic(str(whole), str(small), weight_type=QuantType.QInt8, per_channel=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
