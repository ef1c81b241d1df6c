"""The evidence page of issue texts, from the measured ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bench.meaning.measure import WAYS, Gains, bootstrap
from tools import evidence

__all__ = ["write_page"]

_COMMAND = "python -m bench.meaning.issues --issues DIR --repositories DIR"
_HEAD = """# Texts of issues

Issues as users typed them, title and body, asked on the state of the repository before the fix. The
answer is every source file that the fix changed (at most six). MRR is the mean reciprocal rank at 10
of the first right file, recall the share of the right files among the first ten. *fts5* is SQLite's
full-text search over the same chunks of all files, names taken apart, with weights for path and name.
The last column is the difference of *both* to *words* in MRR with its 95 % paired bootstrap interval.

The rules for texts of several lines were chosen on issues of other repositories (pydicom, marshmallow,
preact, rubocop, redis), each rule alone and some together; *test* was measured once afterwards, 40 of
them by *both* a second time, when vectors came to count as far as something stands out, and all of them
again with the present model. A text with a quoted phrase goes by words alone: on 61 of the other issues,
36 with a phrase, vectors for these too moved MRR by +0.001 and recall by -0.025. No model was trained on any of these repositories{trained}.
"""
_TABLE = """
## {name}

{about}

| repository | issues | words | chunks | fts5 MRR / recall | words | vectors | both | both - words |
|---|---|---|---|---|---|---|---|---|
"""
_HOW = """
## How such a folder is made

The texts are other people's sentences and are not in this project. They are from the task
descriptions of SWE-bench and SWE-bench Multilingual, which were issues on GitHub: per repository at most
20, spread evenly over its tasks, and only repositories of which a copy with history was at hand. Any
others do. DIR has a file `NAME.jsonl` per set, an issue a line:

    {"repo": "owner/name", "number": 12, "text": "title, line break, body", "fix": "commit"}

The state before is the first parent of `fix`. To find fixes, look in the history for the number of the issue
after a word such as *fixes* or *closes* (`git log --all --grep`), or for the merge of the pull request that
closed it. A line of the SWE-bench data sets (`repo`, `instance_id`, `problem_statement`, `base_commit`,
`patch`) is read as it is. The repositories are bare ones, in folders named `owner+name`.
"""
_WEAK = """
## What this does not show

Issues that were chosen for SWE-bench have a fix with tests, and few files; many issues have not. Answers
are never tests or docs, and our ranking counts those less, which SQLite does not: part of the
distance to *fts5* is that. A fix may change files that the issue says nothing of. Few issues per
repository: the rows are anecdotes, the totals are not. *Of N* means that a way was asked for so many
of the issues only; encoding a state of a big repository takes minutes.
"""
#: Repositories that a model saw; the others were never trained on.
_TRAINED = frozenset(["prometheus/prometheus"])


def write_page(results: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    seen = {row["repository"] for rows in results.values() for row in rows}
    trained = ", ".join(sorted(seen & _TRAINED))
    text = _HEAD.format(trained=f", but on {trained}" if trained else "")
    for name, rows in results.items():
        words = [row["words"] for row in rows]
        about = (
            f"{len(rows)} issues; half of them have {np.median(words):.0f} words or more, one in "
            f"ten {np.quantile(words, 0.9):.0f}."
        )
        text += _TABLE.format(name=name, about=about)
        for repository in dict.fromkeys(row["repository"] for row in rows):
            text += _row(repository, [row for row in rows if row["repository"] == repository])
        text += _row("all", rows)
        if seen_before := _having(rows, "before", "words"):
            text += (
                f"\nBefore the rules for texts of several lines, words ranked "
                f"{_cell(seen_before, 'before')} on {len(seen_before)} of these issues; the "
                f"difference to now is {_distance(seen_before, 'words', 'before')}.\n"
            )
    evidence.write_page("issues.md", _COMMAND, text + _HOW + _WEAK)


def _having(rows: Sequence[Mapping[str, Any]], *ways: str) -> list[Mapping[str, Any]]:
    return [row for row in rows if all(way in row["gains"] for way in ways)]


def _values(rows: Sequence[Mapping[str, Any]], what: str, way: str) -> Gains:
    return np.array([row[what][way] for row in rows])


def _cell(rows: Sequence[Mapping[str, Any]], way: str) -> str:
    """The means of a way, and of how many issues if it was not asked for all."""
    seen = _having(rows, way)
    if not seen:
        return "-"
    means = f"{_values(seen, 'gains', way).mean():.3f} / {_values(seen, 'recalls', way).mean():.3f}"
    return means if len(seen) == len(rows) else f"{means} (of {len(seen)})"


def _distance(rows: Sequence[Mapping[str, Any]], one: str, other: str) -> str:
    seen = _having(rows, one, other)
    if not seen:
        return "-"
    difference = _values(seen, "gains", one) - _values(seen, "gains", other)
    low, high = bootstrap(difference)
    return f"{difference.mean():+.3f} [{low:+.3f}, {high:+.3f}]"


def _row(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    cells = " | ".join(_cell(rows, way) for way in WAYS)
    words = np.median([row["words"] for row in rows])
    chunks = np.median([row["chunks"] for row in rows])
    return (
        f"| {name} | {len(rows)} | {words:.0f} | {chunks:.0f} | {cells} | "
        f"{_distance(rows, 'both', 'words')} |\n"
    )
