"""``python -m training.choose --pairs DIR --packed FILE SEED...``: takes the best seed into the package.

SEED is a folder that ``training.train`` wrote. The best is the one with the highest mean over
languages on sentences of the held-out repositories. Its weights become the package's, with their
digest; the reports, the counts and the manifest of what was used go to ``training/results``.
"""

import argparse
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from sightline.index.dense.weights import read_weights

__all__ = ["best_of", "choice", "main"]

_RESULTS = Path(__file__).parent / "results"
_DENSE = Path(__file__).parent.parent / "src" / "sightline" / "index" / "dense"
_HEAD = "repository\tcommit\tlicences\tmined\n"


def choice(report: dict[str, Any]) -> float:
    """What seeds are compared by."""
    languages: dict[str, float] = report["held_out"]["language"]
    return sum(languages.values()) / len(languages)


def best_of(reports: list[dict[str, Any]]) -> int:
    """The place of the best; the first of equal ones."""
    return max(range(len(reports)), key=lambda place: (choice(reports[place]), -place))


def _write_manifest(pairs: Path, names: list[str]) -> None:
    lines = [
        (pairs / f"{name.replace('/', '+')}.manifest").read_text("utf-8").strip() for name in names
    ]
    text = _HEAD + "".join(f"{line}\n" for line in sorted(lines))
    (_RESULTS / "manifest.tsv").write_text(text, "utf-8")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.choose")
    parser.add_argument("--pairs", type=Path, required=True)
    parser.add_argument("--packed", type=Path, required=True)
    parser.add_argument("seeds", type=Path, nargs="+")
    options = parser.parse_args(arguments)
    reports = [json.loads((seed / "report.json").read_text("utf-8")) for seed in options.seeds]
    place = best_of(reports)
    weights = read_weights(str(options.seeds[place] / "model.weights"))
    shutil.copyfile(options.seeds[place] / "model.weights", _DENSE / "model.weights")
    code = _DENSE / "weights.py"
    spelled = re.sub(
        r'(?m)^DIGEST = ".*"$', f'DIGEST = "{weights.digest}"', code.read_text("utf-8")
    )
    code.write_text(spelled, "utf-8")
    packed = json.loads(options.packed.with_suffix(".json").read_text("utf-8"))
    _write_manifest(options.pairs, packed["repositories"])
    for old in _RESULTS.glob("seed*.json"):
        old.unlink()
    for number, report in enumerate(reports):
        (_RESULTS / f"seed{number}.json").write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    (_RESULTS / "packed.json").write_text(json.dumps(packed, indent=1) + "\n", "utf-8")
    print(f"seed {reports[place]['recipe']['seed']}: {choice(reports[place]):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
