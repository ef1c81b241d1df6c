"""``python -m bench.meaning.issues --issues DIR --repositories DIR``: texts of issues, as users
typed them, and the files that their fixes changed; writes its page.

Each issue is asked on the state before its fix. ``--sets`` measures some sets and keeps the others'
figures, and ways that are not asked for keep theirs. Figures are written after every repository;
``--go-on`` leaves out those that ``--rows FILE``, which says what was found for every issue, has
already. ``--page`` only writes the page anew.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.meaning.changes import bare_folder, git
from bench.meaning.issue_rows import Checkout, Issue, read_sets
from bench.meaning.issues_page import write_page
from bench.meaning.measure import WAYS, ranked
from bench.meaning.opened import TOP, Asked, Opened, watched

_KEPT = ("repository", "label", "before", "words", "chunks", "gains", "recalls")
_RESULTS = Path(__file__).parent.parent / "results" / "issues.json"


def _row(corpus: Opened, issue: Issue, ways: Sequence[str]) -> dict[str, Any]:
    asked = Asked(issue.text, files=issue.files)
    row: dict[str, Any] = {
        "repository": issue.repository,
        "label": issue.label,
        "before": issue.before,
        "words": len(issue.text.split()),
        "chunks": corpus.snapshot.living_chunks,
        "files": sorted(issue.files),
        "gains": {},
        "recalls": {},
        "found": {},
    }
    for way in ways:
        ranks = ranked(corpus, issue.text, way)
        first = list(dict.fromkeys(corpus.snapshot.path(file) for _, file in ranks))[:TOP]
        row["gains"][way] = round(corpus.gain(ranks, asked), 4)
        row["recalls"][way] = round(len(issue.files & set(first)) / len(issue.files), 4)
        row["found"][way] = first
    return row


async def _measured(
    bare: Path, issues: Sequence[Issue], ways: Sequence[str]
) -> list[dict[str, Any]]:
    """One folder goes from state to state, oldest first, so that little is encoded anew."""
    ordered = sorted(
        issues, key=lambda one: int(git(bare, "log", "-1", "--format=%ct", one.before))
    )
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="sightline-issues-") as scratch:
        source = Path(scratch, "source")
        source.mkdir()
        checkout = Checkout(bare, source)
        async with watched(source, vectors=bool({"vectors", "both"} & set(ways))) as current:
            for issue in ordered:
                checkout.go_to(issue.before)
                rows.append(_row(await current(), issue, ways))
    return rows


def measured(
    issues: Sequence[Issue], repositories: Path, ways: Sequence[str]
) -> Iterator[list[dict[str, Any]]]:
    """What every way finds for every issue, by repository."""
    groups: dict[str, list[Issue]] = defaultdict(list)
    for issue in issues:
        groups[issue.repository].append(issue)
    for repository, group in groups.items():
        rows = asyncio.run(_measured(bare_folder(repositories, repository), group, ways))
        means = {way: sum(row["gains"][way] for row in rows) / len(rows) for way in ways}
        print(repository, len(rows), {w: round(m, 3) for w, m in means.items()}, flush=True)
        yield rows


def _done(rows: Path) -> frozenset[str]:
    """The repositories that a file of findings has."""
    lines = rows.read_text("utf-8").splitlines() if rows.exists() else []
    return frozenset(json.loads(line)["repository"] for line in lines)


def _merged(old: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The new rows in the place of the same issues' old ones; other ways keep their figures."""
    new = {(row["repository"], row["label"]): row for row in rows}
    merged: list[dict[str, Any]] = []
    for row in old:
        # What was found stays outside: paths of other projects say nothing on the page.
        found = new.pop((row["repository"], row["label"]), row)
        kept = {key: found[key] for key in _KEPT}
        figures = {key: {**row[key], **found[key]} for key in ("gains", "recalls")}
        merged.append({**kept, **figures})
    return merged + [{key: row[key] for key in _KEPT} for row in new.values()]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.meaning.issues")
    parser.add_argument("--issues", type=Path, help="a folder of sets of issues")
    parser.add_argument("--repositories", type=Path, help="a folder of bare repositories")
    parser.add_argument("--sets", nargs="*", help="only these sets; keeps the others")
    parser.add_argument("--only", nargs="*", help="only these repositories")
    parser.add_argument("--ways", nargs="*", default=list(WAYS))
    parser.add_argument("--json", type=Path, default=_RESULTS)
    parser.add_argument("--rows", type=Path, help="where every issue's findings go")
    parser.add_argument("--go-on", action="store_true", help="only what --rows lacks")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    results = json.loads(options.json.read_text("utf-8")) if options.json.exists() else {}
    if not options.page:
        if options.issues is None or options.repositories is None:
            parser.error("--issues and --repositories are needed to measure")
        for name, issues in read_sets(options.issues, options.repositories).items():
            if options.sets is not None and name not in options.sets:
                continue
            done = _done(options.rows) if options.go_on else frozenset()
            chosen = [
                one
                for one in issues
                if one.repository not in done
                and (not options.only or one.repository in options.only)
            ]
            for rows in measured(chosen, options.repositories, options.ways):
                if options.rows:
                    with options.rows.open("a", encoding="utf-8") as file:
                        file.writelines(f"{json.dumps(row)}\n" for row in rows)
                results[name] = _merged(results.get(name, []), rows)
                options.json.write_text(json.dumps(results) + "\n", "utf-8")
    if options.json == _RESULTS and results:
        write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
