"""``python -m training.choose --pairs DIR --packed FILE SEED...``: takes the best seed into the package.

SEED is a folder that ``training.train`` wrote. The best is the one with the highest mean over
languages on sentences of the held-out repositories. Its weights become the package's, with their
digest; the reports, the counts and the manifest of what was used go to ``training/results``. With
``--into DIR`` the package stays as it is: the weights become ``DIR/model.weights`` and the rest goes
to ``DIR/results``.
"""

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.index.dense.weights import read_weights
from training.manifest import Line, write_manifest

__all__ = ["best_of", "choice", "main"]

_RESULTS = Path(__file__).parent / "results"
_DENSE = Path(__file__).parent.parent / "src" / "sightline" / "index" / "dense"


def choice(report: dict[str, Any]) -> float:
    """What seeds are compared by."""
    languages: dict[str, float] = report["held_out"]["language"]
    if not languages:
        raise SystemExit("no held-out repository has the 50 sentences that a choice needs")
    return sum(languages.values()) / len(languages)


def best_of(reports: list[dict[str, Any]]) -> int:
    """The place of the best; the first of equal ones."""
    return max(range(len(reports)), key=lambda place: (choice(reports[place]), -place))


def _lines(pairs: Path, names: list[str]) -> Iterator[Line]:
    for name in names:
        text = (pairs / f"{name.replace('/', '+')}.manifest").read_text("utf-8")
        yield Line(*text.rstrip("\n").split("\t"))


def _take_in(weights: Path, digest: str) -> None:
    """Makes weights those of the package."""
    shutil.copyfile(weights, _DENSE / "model.weights")
    code = _DENSE / "weights.py"
    spelled = re.sub(r'(?m)^DIGEST = ".*"$', f'DIGEST = "{digest}"', code.read_text("utf-8"))
    code.write_text(spelled, "utf-8")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.choose")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("--into", type=Path, help="a folder instead of the package")
    parser.add_argument("seeds", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    reports = [json.loads((seed / "report.json").read_text("utf-8")) for seed in options.seeds]
    place = best_of(reports)
    best = options.seeds[place] / "model.weights"
    digest = read_weights(str(best)).digest
    if options.into is None:
        results = _RESULTS
        _take_in(best, digest)
    else:
        results = options.into / "results"
        results.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(best, options.into / "model.weights")
    packed = json.loads(options.packed.with_suffix(".json").read_text("utf-8"))
    write_manifest(_lines(options.pairs, packed["repositories"]), results / "manifest.tsv")
    for old in results.glob("seed*.json"):
        old.unlink()
    for number, report in enumerate(reports):
        (results / f"seed{number}.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    (results / "packed.json").write_text(json.dumps(packed, indent=1) + "\n", "utf-8")
    print(f"seed {reports[place]['recipe']['seed']}: {choice(reports[place]):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
