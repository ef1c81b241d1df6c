"""The evidence page of the ways to run the model."""

from collections.abc import Mapping

__all__ = ["page"]

_TEXT = """# Ways to run the search model

The shipped weights in four ways: as the package runs them (integers kept in 32-bit floats, numpy); as
plain 32-bit floats in numpy; as a graph of plain floats in onnxruntime; and as that graph after
onnxruntime's own dynamic quantisation to 8 bits. {count:,} chunks and {queries} short questions about
one Python code base, spelled beforehand, since that is the same in every way; rows of about the same
length are taken together, about 1,280 pieces at a time. One thread, by CPU time; each figure is the
middle of {times} processes, the ways in turns. The machine's load before and after: {load}.

| way | chunks per CPU second | one question, ms | import and load, CPU s | packages added, MB | model, MB | differs when run again | differs when alone | least cosine to the package's |
|---|---|---|---|---|---|---|---|---|
{rows}

*Differs*: the largest difference of a number of a vector, of all chunks when they are encoded again in
the same process, and of a hundred when each is encoded by itself instead of with others. Vectors of
the package are integers up to 127, those of the others have length one. *Import and load* is what
comes on top of Python and numpy. The model of onnxruntime is two graphs, each with the embeddings.

## Weakness

One make of CPU, one code base. The graphs are made by hand and were not tuned: a fused kernel for
attention might be faster, and the 8-bit graph quantises what onnxruntime chooses to. Quality of
search was not measured with the other ways; the cosine says how far they are.
"""


def page(
    found: Mapping[str, Mapping[str, float]], sizes: Mapping[str, float], **about: object
) -> str:
    lines = []
    for way, row in found.items():
        onnx = way.startswith("onnx")
        added = f"{sizes['onnxruntime']:.0f}" if onnx else "0"
        model = sizes["8 bits" if way.endswith("bits") else "floats"] if onnx else sizes["weights"]
        apart = "nothing" if not row["alone"] else f"{row['alone']:.1e}"
        again = "nothing" if not row["rerun"] else f"{row['rerun']:.1e}"
        lines.append(
            f"| {way} | {row['chunks_per_s']:.0f} | {row['query_ms']:.2f} | {row['load_s']:.2f} | "
            f"{added} | {model:.1f} | {again} | {apart} | {row['cosine']:.4f} |"
        )
    return _TEXT.format(rows="\n".join(lines), **about)
