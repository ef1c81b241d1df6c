"""``python -m training.guard_rows --into FILE``: what quality is measured on, for the leak
guards."""

import argparse
import json
import sys
from pathlib import Path

from bench.meaning.corpora import CORPORA, corpus
from bench.meaning.questions import questions

__all__ = ["main"]

_ALL = 1_000_000


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.guard_rows")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args(arguments)
    with options.into.open("w", encoding="utf-8") as file:
        for language in CORPORA:
            found = questions(corpus(language), language, _ALL)
            print(language, len(found), flush=True)
            for question in found:
                file.write(json.dumps({"query": question.text, "code": question.code}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
