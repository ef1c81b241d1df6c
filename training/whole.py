"""``python -m training.whole --repositories DIR --work DIR``: every step of making the model, as one.

Mines every repository of the shipped model's manifest at its commit (or, with ``--anew``, whatever
the folder holds at its newest), guards, packs, trains three seeds, takes the best into the package,
compares ways in which vectors join words, and writes the model card. ``--into DIR`` leaves the
package as it is and writes weights, results and card there. ``--scale small`` does all of it with a
small model, few files and few steps, in a minute on a CPU: to see that every step works, not to get
a model that is worth anything. What was mined is kept in the work folder and not mined again.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from bench.meaning.tune import HELD_OUT
from training.mine import repositories

__all__ = ["SCALES", "Scale", "compare", "main"]

_RESULTS = Path(__file__).parent / "results"
_SEEDS = (0, 1, 2)


class Scale(NamedTuple):
    """What a step is told besides where things are."""

    mine: str = ""
    pack: str = ""
    train: str = ""


SCALES = {
    "full": Scale(),
    "small": Scale(
        mine="--files 300 --commits 100 --merges 20",
        pack="--pieces 2000",
        # More threads would wait for each other longer than they compute.
        train="--threads 1 --steps 40 --groups 2 --group 64 --rate 3e-3 --warmup 5 --mean_over 10 "
        "--width 64 --inner 32 --hidden 128 --chunk_layers 1 --query_layers 1 --output 64",
    ),
}


def _do(module: str, *arguments: str | Path) -> None:
    """Runs a step. In a process of its own: those after ``choose`` load the new weights."""
    print(f"== {module}", flush=True)
    subprocess.run([sys.executable, "-m", module, *map(str, arguments)], check=True)


def compare(made: Path, shipped: Path) -> None:
    """Says whether the data are those of the shipped model, before hours go into other ones."""
    digests = [json.loads(path.read_text("utf-8"))["digest"] for path in (made, shipped)]
    same = "the same data as" if digests[0] == digests[1] else "OTHER data than"
    print(f"{same} the shipped model's: {digests[0]}", flush=True)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.whole")
    parser.add_argument("--repositories", type=Path, required=True, help="bare, named owner+name")
    parser.add_argument("--work", type=Path, required=True, help="where pairs and seeds are kept")
    parser.add_argument("--into", type=Path, help="a folder instead of the package")
    parser.add_argument("--guard", type=Path, help="evaluation texts, instead of collecting them")
    parser.add_argument("--scale", choices=SCALES, default="full")
    parser.add_argument("--anew", action="store_true", help="other data than the manifest's")
    options = parser.parse_args(arguments)
    folder, work, into = options.repositories, options.work, options.into
    scale = SCALES[options.scale]
    there = {repository.name for repository in repositories(str(folder))}
    held_out = [name for name in HELD_OUT if name in there]
    if not held_out:
        raise SystemExit(f"{folder} has none of the repositories that models are chosen on")
    work.mkdir(parents=True, exist_ok=True)
    pairs, packed = work / "pairs", work / "packed.xz"
    anew = options.anew or options.scale != "full"
    listed = () if anew else ("--manifest", _RESULTS / "manifest.tsv")
    given: tuple[str | Path, ...] = ("--repositories", folder, "--into", pairs, *listed)
    _do("training.mine", *given, *scale.mine.split())
    guard = options.guard or work / "guard.jsonl"
    if not guard.exists():
        _do("training.guard_rows", "--into", guard)
    given = ("--pairs", pairs, "--into", packed, "--guard", guard)
    _do("training.pack", *given, *scale.pack.split())
    if not anew:
        compare(packed.with_suffix(".json"), _RESULTS / "packed.json")
    seeds = [work / f"seed{seed}" for seed in _SEEDS]
    for seed, made in zip(_SEEDS, seeds, strict=True):
        given = ("--data", packed, "--into", made, "--seed", str(seed))
        _do("training.train", *given, *scale.train.split())
    apart = () if into is None else ("--into", into)
    _do("training.choose", "--pairs", pairs, "--packed", packed, *apart, *seeds)
    results = _RESULTS if into is None else into / "results"
    weights = () if into is None else ("--weights", into / "model.weights")
    given = ("--repositories", folder, "--json", results / "weights.json")
    _do("bench.meaning.tune", *given, *weights, *held_out)
    _do("training.card", *(() if into is None else ("--of", into)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
