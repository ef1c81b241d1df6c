"""Bare repositories that a test makes: declarations with docs, comments, commits and licences."""

import hashlib
import os
import random
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["GPL", "MIT", "bare", "history", "lose", "module"]

MIT = "The MIT License\n"
GPL = "GNU General Public License version 3\n"

_VERBS = "read write parse close count merge sort send split join load drop check find".split()
_KINDS = "stale empty hidden remote cached broken nested binary signed quoted".split()
_THINGS = "header packet socket buffer record column widget folder token matrix ticket".split()
_WHOLES = "request session archive document ledger window cluster catalog".split()

Files = Mapping[str, str]


def module(seed: str, functions: int) -> str:
    """A module of documented functions; the seed alone decides what they are about."""
    chance = random.Random(seed)
    parts: list[str] = []
    for number in range(functions):
        verb, kind = chance.choice(_VERBS), chance.choice(_KINDS)
        thing, whole = chance.choice(_THINGS), chance.choice(_WHOLES)
        parts.append(
            f"def {verb}_{kind}_{thing}_{number}({whole}, limit):\n"
            f'    """{verb.title()} every {kind} {thing} that the {whole} still holds."""\n'
            f"    found = [{thing} for {thing} in {whole}.{thing}s if {thing}.{kind}]\n"
            f"    # The {whole} may have changed while nobody held its lock.\n"
            f"    for {thing} in found[:limit]:\n"
            f"        {whole}.{verb}({thing}, again={number})\n"
            f"    return len(found), {whole}.version\n"
        )
    return "\n\n".join(parts)


def history(seed: str, modules: int = 4, changes: int = 12) -> list[tuple[str, Files]]:
    """Commits, oldest first: subject and the files that it writes."""
    chance = random.Random(seed)
    files = {f"src/part{n}.py": module(f"{seed} {n}", 20) for n in range(modules)}
    commits: list[tuple[str, Files]] = [("Begin", {**files, "LICENSE": MIT})]
    for number in range(changes):
        path = chance.choice(sorted(files))
        lines = files[path].split("\n")
        place = chance.choice([i for i, line in enumerate(lines) if line.startswith("    return")])
        lines[place] += f", {number}"
        files[path] = "\n".join(lines)
        thing = chance.choice(_THINGS)
        commits.append((f"Return how many of the {thing}s changed {number}", {path: files[path]}))
    return commits


def bare(folder: Path, name: str, commits: Sequence[tuple[str, Files]]) -> Path:
    """A bare repository ``owner/name`` below a folder."""
    target = folder / name.replace("/", "+")
    _git(target.parent, "init", "--quiet", "--bare", "--initial-branch=main", target.name)
    stream: list[str] = []
    for number, (subject, files) in enumerate(commits):
        stream.append(
            "commit refs/heads/main\n"
            f"committer A Tester <tester@example.org> {1_700_000_000 + number * 60} +0000\n"
            f"{_data(subject)}"
        )
        stream += [f"M 100644 inline {path}\n{_data(text)}" for path, text in files.items()]
    # Every object as a file of its own: ``lose`` can take one away.
    loose = ("-c", f"fastimport.unpackLimit={1_000_000}")
    _git(target, *loose, "fast-import", "--quiet", given="".join(stream).encode())
    return target


def lose(repository: Path, text: str) -> str:
    """Takes a file's content out of a bare repository, as snapshots lack large ones; its id."""
    data = text.encode()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
    (repository / "objects" / blob[:2] / blob[2:]).unlink()
    return blob


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _git(folder: Path, *arguments: str, given: bytes = b"") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    alone = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), **alone}
    subprocess.run(["git", *arguments], cwd=folder, input=given, env=environment, check=True)
