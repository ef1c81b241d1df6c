"""``python -m training.card [--check]``: writes docs/model-card.md from what was measured.

``--of DIR`` writes ``DIR/model-card.md`` for the model that ``training.choose --into DIR`` wrote.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from sightline.index.dense.weights import Weights, bundled, read_weights
from sightline.index.searching.fusion import Fusion
from tools.generated import settle
from training.choose import best_of, choice
from training.licences import ALLOWED
from training.split import HELD_OUT

__all__ = ["card", "main"]

_ROOT = Path(__file__).parent.parent
_RESULTS = Path(__file__).parent / "results"
#: Groups with fewer queries are not shown.
_FEW = 20
_PAGE = _ROOT / "docs" / "model-card.md"
_KINDS = {
    "d": "a sentence of a doc, to the declaration without its doc",
    "n": "a name as words, to the declaration without that name",
    "i": "a comment, to the lines around it",
    "c": "what a commit says, to a place it changed, as it was before",
    "p": "the title of a merged pull request, to the same",
    "h": "a heading, to the section below it",
}


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def card(results: Path, weights: Weights, where: str, written_from: str) -> str:
    """The text of the page."""
    packed = _read(results / "packed.json")
    seeds = [_read(path) for path in sorted(results.glob("seed*.json"))]
    held_out = sum(name in HELD_OUT for name in packed["repositories"])
    best = best_of(seeds)
    recipe = seeds[best]["recipe"]
    counts = packed["counts"]
    manifest = (results / "manifest.tsv").read_text("utf-8").splitlines()[1:]
    lines = [
        "# Model card of the search model",
        "",
        f"Written by `python -m training.card` from `{written_from}`.",
        "",
        (
            f"Weights: `{where}`, SHA-256 of its content `{weights.digest}`; "
            f"{len(weights.vocabulary):,} pieces of words, vectors of {weights.size} numbers."
        ),
        "",
        "## Data",
        "",
        (
            f"{packed['trained']:,} pairs from {len(manifest)} repositories of public code, of which {held_out} were "
            "held out to choose by; "
            f"`{written_from}/manifest.tsv` names every one with its commit, licences and counts. A "
            "file was used only if the licence texts of the nearest folder above it are all among: "
            f"{', '.join(sorted(ALLOWED))}; or offer one of these as a choice. Licences were told by "
            "program from their texts, not read by a person."
        ),
        "",
        "| kind of pair | trained on | held out |",
        "|---|---|---|",
    ]
    for kind, text in _KINDS.items():
        trained, held = counts.get(f"trained {kind}", 0), counts.get(f"held out {kind}", 0)
        lines.append(f"| {text} | {trained:,} | {held:,} |")
    languages = sorted(packed["languages"].items(), key=lambda item: -item[1])
    lines += [
        "",
        "Pairs by language: "
        + ", ".join(f"{name} {count:,}" for name, count in languages if count)
        + ".",
        "",
        (
            "Never used: the repositories named in `training/guards.py`, which quality is measured on. "
            f"Leak guards against the evaluation sets dropped {counts.get('dropped: query of an evaluation set', 0)} "
            f"pairs for their query and {counts.get('dropped: code of an evaluation set', 0)} for 20 or more "
            "words in a row shared with an answer."
        ),
        "",
        "## Recipe",
        "",
        (
            f"{recipe['steps']:,} steps of {recipe['groups']} groups of {recipe['group']:,} pairs, each group from "
            f"one repository; {seeds[best]['epochs']} times over the data; AdamW, {recipe['rate']} with a cosine, "
            f"mean of the weights over about {recipe['mean_over']} steps; the last "
            f"{recipe['rounded']:.0%} of the steps with rounded numbers. {recipe['chunk_layers']} layers for chunks and "
            f"{recipe['query_layers']} for queries, {recipe['width']} wide. One GPU, "
            f"{max(seed['seconds'] for seed in seeds):.0f} seconds a seed."
        ),
        "",
        "## Choice",
        "",
        (
            "Mean reciprocal rank at 10 on the held-out repositories, each query among all chunks of its "
            f"kind and repository. Seed {best} has the best mean over languages on sentences of docs and is "
            "the one shipped."
        ),
        "",
        "| seed | sentences, mean over languages | " + " | ".join(_KINDS) + " |",
        "|---|---|" + "---|" * len(_KINDS),
    ]
    for number, seed in enumerate(seeds):
        held = seed["held_out"]
        means = held["kind"]
        kinds = " | ".join(f"{means[kind]:.3f}" if kind in means else "" for kind in _KINDS)
        lines.append(f"| {number} | {choice(seed):.4f} | {kinds} |")
    lines += ["", *_fusion(_read(results / "weights.json"))]
    lines += [
        "",
        "## Results",
        "",
        (
            "On code bases that nothing was trained on or chosen by, measured once for each of the three models "
            "that were shipped so far: [search quality](evidence/meaning.md)."
        ),
        "",
        "## Limits",
        "",
        "* English only; words of other alphabets have few pieces.",
        "* At most 72 pieces of a chunk's text are read, each word once.",
        "* C# and other languages with few pairs above were hardly trained on.",
        "* Questions in the training data are docs, comments and commits, not what users type.",
        (
            "* Repetition: `make model` mines the commits of the manifest, says whether the numbers to train "
            f"on are the same (SHA-256 `{packed['digest']}`), and adds in the same order every time. The same "
            "build of torch on the same make of GPU should give the same weights; on another the last bits differ."
        ),
        "",
    ]
    return "\n".join(lines)


def _fusion(dev: dict[str, dict[str, Any]]) -> list[str]:
    """How the weight of vectors was chosen."""
    fusion = Fusion()
    ways = [way for way in next(iter(dev.values())) if way.startswith("spread")]
    lines = [
        (
            "How vectors join words was chosen on repositories that were held out or never used for "
            "training, with sentences of docs, the first five telling words of them, literals, and "
            "descriptions of later changes. A query is *plain*, has *names* in it, or is *long*; *exact* ones "
            "get no vectors, nor do texts that stand in the code as written. "
            f"Shipped: {fusion.question:g} for plain questions, {fusion.named:g} with names, "
            f"{fusion.long:g} for long texts, less where the nearest chunk hardly stands out. Below: the "
            "mean reciprocal rank at 10 by weight (0 is words alone) without that last factor, then what is "
            "shipped, then vectors alone."
        ),
        "",
        "| set, kind or repository | queries | "
        + " | ".join(way.partition(" ")[2] for way in ways)
        + " | shipped | vectors |",
        "|---|---|" + "---|" * (len(ways) + 2),
    ]
    for name, row in dev.items():
        if row["count"] < _FEW:
            continue
        values = " | ".join(f"{row[way]:.3f}" for way in ways)
        lines.append(
            f"| {name} | {row['count']} | {values} | {row['shipped']:.3f} | {row['vectors']:.3f} |"
        )
    return lines


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.card")
    parser.add_argument("--check", action="store_true", help="only say whether the page is right")
    parser.add_argument("--of", type=Path, help="a model in a folder of its own")
    options = parser.parse_args(arguments)
    if options.of is not None:
        weights = read_weights(str(options.of / "model.weights"))
        text = card(options.of / "results", weights, "model.weights", "results")
        (options.of / "model-card.md").write_text(text, encoding="utf-8")
        return 0
    text = card(_RESULTS, bundled(), "src/sightline/index/dense/model.weights", "training/results")
    return settle({_PAGE: text}, check=options.check)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
