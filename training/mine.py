"""``python -m training.mine --repositories DIR --into DIR [NAME...]``: mines a folder of
repositories.

DIR holds bare repositories in folders named ``owner+name``. For each one that may be used, a file
of pairs is written, and a line for the manifest. What is already there is not mined again. With
``--manifest FILE`` exactly the repositories of a manifest are mined, at its commits and depths.
"""

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from sightline.index.reading.languages import LANGUAGES, language_of
from sightline.index.reading.sources import decode_text
from training.gitstore import Entry, MissingBlobError, Repository
from training.guards import excluded
from training.licences import Licences, is_licence_file, spdx_of
from training.manifest import Depth, Line, read_manifest
from training.pairs import CODE, Pair, choose, from_commit, from_file, wanted
from training.split import TUNED_ON

__all__ = ["main", "mine", "mine_into", "repositories"]

_MAX_BYTES = 300_000
_DOCS = frozenset({"markdown", "restructuredtext"})
_SUFFIXES = tuple(
    suffix
    for language in LANGUAGES.values()
    if language.name in CODE
    for suffix in language.extensions
)


def repositories(folder: str) -> Iterator[Repository]:
    """The bare repositories below a folder, sorted by name."""
    for entry in sorted(os.listdir(folder)):
        owner, plus, name = entry.partition("+")
        for inner in ("repo/.git", "repo", ""):
            path = os.path.join(folder, entry, inner)
            if plus and os.path.isfile(os.path.join(path, "HEAD")):
                yield Repository(path, f"{owner}/{name}")
                break


def mine(repository: Repository, target: str, depth: Depth) -> str:
    """Mines one repository into ``target``; returns its line for the manifest."""
    if excluded(repository.name):
        return f"{repository.name}\t-\texcluded: quality is measured on it"
    if repository.name in TUNED_ON:
        return f"{repository.name}\t-\texcluded: the weight of vectors is chosen on it"
    tree = repository.tree(_MAX_BYTES)
    texts = [e for e in tree if is_licence_file(e.path.rpartition("/")[2])]
    licences = Licences({e.path: d.decode("utf-8", "replace") for e, d in repository.read(texts)})
    head = repository.head()
    if "not allowed" in licences.top:
        return f"{repository.name}\t{head}\tnot used: {licences.top or 'no licence found'}"
    languages: dict[str, str] = {}
    lacking: set[str] = set()
    pairs = choose(_pairs(repository, tree, licences, languages, depth, lacking))
    depth = depth._replace(until=tuple(sorted({*depth.until, *lacking})))
    counts = Counter(pair.kind for pair in pairs)
    with gzip.open(target + ".part", "wt", encoding="utf-8", compresslevel=4) as file:
        for pair in pairs:
            file.write(json.dumps(pair, ensure_ascii=False) + "\n")
    os.replace(target + ".part", target)
    numbers = " ".join(f"{kind}={counts[kind]}" for kind in "dnicph")
    mined = f"files={len(languages)} {numbers}"
    return "\t".join(Line(repository.name, head, licences.top, str(depth), mined))


def _pairs(
    repository: Repository,
    tree: list[Entry],
    licences: Licences,
    languages: dict[str, str],
    depth: Depth,
    lacking: set[str],
) -> Iterator[Pair]:
    listed = [
        entry
        for entry in tree
        if (name := language_of(entry.path.rpartition("/")[2]).name) in CODE | _DOCS
        and wanted(entry.path, name, b"")
        and licences.allows(entry.path)
    ]
    step = max(1, -(-len(listed) // depth.files))
    for entry, raw in repository.read(listed[::step]):
        data = decode_text(raw)
        if isinstance(data, str) or spdx_of(data[:2_000]) is False:
            continue
        language = language_of(entry.path.rpartition("/")[2], data[:4_096]).name
        if not wanted(entry.path, language, data[:4_096]) or b"\r" in data:
            continue
        if language in CODE:
            languages[entry.path] = language
        yield from from_file(entry.path, data, language)
    for merges, limit in ((False, depth.commits), (True, depth.merges)):
        history = repository.commits(limit, _SUFFIXES, merges=merges, until=depth.until)
        try:
            for commit in history if limit else ():
                yield from from_commit(commit, languages)
        except MissingBlobError as error:
            lacking.add(error.blob)


def mine_into(folder: str, repository: Repository, depth: Depth) -> str:
    base = os.path.join(folder, repository.name.replace("/", "+"))
    note = f"{base}.manifest"
    if os.path.exists(note):
        with open(note, encoding="utf-8") as file:
            return file.read().strip()
    line = mine(repository, f"{base}.pairs.gz", depth)
    with open(note, "w", encoding="utf-8") as file:
        file.write(line + "\n")
    return line


def _as_listed(found: dict[str, Repository], lines: list[Line]) -> list[tuple[Repository, Depth]]:
    """The repositories of a manifest, each at its commit; all of them, or none."""
    work: list[tuple[Repository, Depth]] = []
    missing: list[str] = []
    for line in lines:
        there = found.get(line.repository)
        pinned = there and Repository(there.folder, there.name, line.commit)
        if pinned and pinned.has_commit():
            work.append((pinned, Depth.parse(line.depth)))
        else:
            missing.append(f"{line.repository} {line.commit}")
    if missing:
        raise SystemExit(
            "\n".join([f"{len(missing)} commits of the manifest are missing:", *missing])
        )
    return work


def _check_depths(work: list[tuple[Repository, Depth]], lines: list[str]) -> None:
    """Refuses snapshots that lack a file which the history of the manifest was read with."""
    lacking = [
        f"{repository.name} {depth}"
        for (repository, asked), line in zip(work, lines, strict=True)
        if (depth := Line(*line.split("\t")).depth) != str(asked)
    ]
    if lacking:
        raise SystemExit(
            "\n".join(
                [
                    "files are missing in the history of (remove its pairs, fetch it whole):",
                    *lacking,
                ]
            )
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.mine")
    parser.add_argument("--repositories", required=True)
    parser.add_argument("--into", required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("names", nargs="*")
    for field in ("files", "commits", "merges"):
        parser.add_argument(f"--{field}", type=int, default=Depth._field_defaults[field])
    parser.add_argument("--manifest", type=Path, help="mine what it names, as it says")
    options = parser.parse_args(arguments)
    os.makedirs(options.into, exist_ok=True)
    found = {repository.name: repository for repository in repositories(options.repositories)}
    if options.manifest is not None:
        work = _as_listed(found, read_manifest(options.manifest))
    else:
        if unknown := [name for name in options.names if name not in found]:
            raise SystemExit(f"not among the repositories: {', '.join(unknown)}")
        depth = Depth(options.files, options.commits, options.merges)
        work = [(found[name], depth) for name in options.names or found]
    lines: list[str] = []
    with ProcessPoolExecutor(options.processes) as pool:
        futures = [pool.submit(mine_into, options.into, *each) for each in work]
        for future in futures:
            lines.append(future.result())
            print(lines[-1], flush=True)
    if options.manifest is not None:
        _check_depths(work, lines)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
