"""``python -m training.mine --repositories DIR --into DIR [NAME...]``: mines a folder of
repositories.

DIR holds bare repositories in folders named ``owner+name``. For each one that may be used, a file
of pairs is written, and a line for the manifest. What is already there is not mined again.
"""

import argparse
import gzip
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

from sightline.index.languages import LANGUAGES, language_of
from sightline.index.sources import decode_text
from training.gitstore import Entry, Repository
from training.guards import excluded
from training.licences import Licences, is_licence_file, spdx_of
from training.pairs import CODE, Pair, choose, from_commit, from_file, wanted
from training.split import TUNED_ON

__all__ = ["Depth", "main", "mine", "mine_into"]

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


class Depth(NamedTuple):
    """How much of a repository is mined: files spread over it, and its newest commits and merges."""

    files: int = 5_000
    commits: int = 600
    merges: int = 200


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
    pairs = choose(_pairs(repository, tree, licences, languages, depth))
    counts = Counter(pair.kind for pair in pairs)
    with gzip.open(target + ".part", "wt", encoding="utf-8", compresslevel=4) as file:
        for pair in pairs:
            file.write(json.dumps(pair, ensure_ascii=False) + "\n")
    os.replace(target + ".part", target)
    numbers = " ".join(f"{kind}={counts[kind]}" for kind in "dnicph")
    return f"{repository.name}\t{head}\t{licences.top}\tfiles={len(languages)} {numbers}"


def _pairs(
    repository: Repository,
    tree: list[Entry],
    licences: Licences,
    languages: dict[str, str],
    depth: Depth,
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
        for commit in repository.commits(limit, _SUFFIXES, merges=merges) if limit else ():
            yield from from_commit(commit, languages)


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


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m training.mine")
    parser.add_argument("--repositories", required=True)
    parser.add_argument("--into", required=True)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("names", nargs="*")
    for field, default in Depth._field_defaults.items():
        parser.add_argument(f"--{field}", type=int, default=default)
    options = parser.parse_args(arguments)
    depth = Depth(options.files, options.commits, options.merges)
    os.makedirs(options.into, exist_ok=True)
    found = {repository.name: repository for repository in repositories(options.repositories)}
    names = [name for name in options.names if name in found] or list(found)
    with ProcessPoolExecutor(options.processes) as pool:
        futures = [pool.submit(mine_into, options.into, found[name], depth) for name in names]
        for future in futures:
            print(future.result(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
