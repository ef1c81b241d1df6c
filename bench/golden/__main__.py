"""``python -m bench.golden``: asks every question of the golden and writes the answers.

``python -m bench.golden click lz4`` asks about these code bases alone. ``--diff`` writes nothing
and shows what would change. ``--truth`` asks the independent indexers again instead.
"""

import argparse
import difflib
import json
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from bench.golden import page, truth
from bench.golden.asking import Answer, ask
from bench.golden.bases import BASES, Base
from bench.golden.cases import CASES, cases
from bench.golden.compare import compare, line_of, read_lines

_ANSWERS = Path(__file__).with_name("answers")
_TIMES = Path(__file__).parent.parent / "results" / "golden.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.golden", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(BASES)}, {CASES}")
    parser.add_argument("--diff", action="store_true", help="write nothing; show what changes")
    parser.add_argument("--truth", action="store_true", help="ask the independent indexers again")
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in {*BASES, CASES}]
    if unknown:
        print(
            f"no code base {unknown[0]!r}; there are {', '.join(BASES)}, {CASES}", file=sys.stderr
        )
        return 2
    chosen = [base for name, base in BASES.items() if name in given.names or not given.names]
    if given.truth:
        for base in chosen:
            truth.make(base)
        return 0
    changed = False
    for base in chosen:
        if not truth.is_known(base):
            print(f"{base.name}: not known; run python -m bench.golden --truth {base.name}")
            continue
        changed = _run(base, write=not given.diff) or changed
    if CASES in given.names or not given.names:
        changed = _run_cases(write=not given.diff) or changed
    if not given.diff:
        _write_page()
    return 1 if given.diff and changed else 0


def _run(base: Base, *, write: bool) -> bool:
    """Whether the answers are others than those of the last run."""
    begun = time.monotonic()
    root, questions = base.folder(), truth.read(base)
    answers = ask(root, [each.question for each in questions])
    lines = [line_of(compare(root, *pair)) for pair in zip(questions, answers, strict=True)]
    if write:
        _keep_times(base.name, answers)
    return _told(base.name, "".join(lines), time.monotonic() - begun, write=write)


def _run_cases(*, write: bool) -> bool:
    begun = time.monotonic()
    lines = []
    for name, root, truths in cases():
        answers = ask(root, [each.question for each in truths])
        lines += [
            f"{name}/{line_of(compare(root, *pair))}" for pair in zip(truths, answers, strict=True)
        ]
    return _told(CASES, "".join(lines), time.monotonic() - begun, write=write)


def _told(name: str, new: str, seconds: float, *, write: bool) -> bool:
    file = _ANSWERS / f"{name}.txt"
    old = file.read_text(encoding="utf-8") if file.exists() else ""
    before, now = page.totals(read_lines(old)), page.totals(read_lines(new))
    said = ", ".join(
        f"{now[each]} {each}"
        + (f" (was {before[each]})" if old and now[each] != before[each] else "")
        for each in now
        if now[each] or before[each]
    )
    print(f"{name}: {said}; {seconds:.0f} s", flush=True)
    if write:
        file.write_text(new, encoding="utf-8")
    else:
        difference = difflib.unified_diff(old.splitlines(), new.splitlines(), "before", "now", n=0)
        for line in list(difference)[2:]:
            if not line.startswith("@@"):
                print(line)
    return old != new


def _keep_times(name: str, answers: Sequence[Answer]) -> None:
    first, *others = [answer.milliseconds for answer in answers]
    known = json.loads(_TIMES.read_text(encoding="utf-8")) if _TIMES.exists() else {}
    known[name] = {
        "first": round(first),
        "p50": round(statistics.median(others), 1),
        "p95": round(statistics.quantiles(others, n=20)[-1]),
    }
    text = json.dumps({each: known[each] for each in BASES if each in known}, indent=2)
    _TIMES.write_text(text + "\n", encoding="utf-8")


def _write_page() -> None:
    files = {name: _ANSWERS / f"{name}.txt" for name in (*BASES, CASES)}
    answers = {
        name: read_lines(file.read_text(encoding="utf-8"))
        for name, file in files.items()
        if file.exists()
    }
    small = answers.pop(CASES, [])
    page.write(answers, small, json.loads(_TIMES.read_text(encoding="utf-8")))


if __name__ == "__main__":
    sys.exit(main())
