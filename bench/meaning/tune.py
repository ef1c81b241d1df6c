"""``python -m bench.meaning.tune --folder LANGUAGE=DIR``: the weights of vectors, on a held-out repository.

Only the repositories that training held out are looked at, so that the test sets stay untouched.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.meaning.measure import measure
from bench.meaning.questions import questions, shortened, without_docs

_WEIGHTS = ("words", "vectors", "0.25", "0.5", "0.75", "1.0", "1.5", "2.0", "3.0")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.meaning.tune")
    parser.add_argument("--folder", required=True, metavar="LANGUAGE=DIR")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args(arguments)
    language, _, folder = options.folder.partition("=")
    found = questions(Path(folder), language, options.count)
    with tempfile.TemporaryDirectory(prefix="sightline-tune-") as scratch:
        without_docs(Path(folder), language, Path(scratch, "bare"))
        sets = {
            "question": [(q, q.text) for q in found],
            "short": [(q, shortened(q.text)) for q in found],
            "three": [(q, shortened(q.text, 3)) for q in found],
        }
        measured = measure(Path(scratch, "bare"), sets, _WEIGHTS)
    figures = {
        name: {way: round(float(gains.mean()), 4) for way, gains in ways.items()}
        for name, ways in measured.gains.items()
    }
    report = {"language": language, "chunks": measured.chunks, "count": len(found), **figures}
    options.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
