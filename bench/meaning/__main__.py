"""``python -m bench.meaning``: search quality on code bases that no model saw; writes its page.

``--only LANGUAGE`` measures one and keeps the others' figures; ``--page`` only writes the page anew;
``--ranks`` keeps the speeds too, which a busy machine would spoil, and ``--speeds`` keeps the ranks.
``--repositories DIR`` adds descriptions of changes, from the bare repositories there that are named
below, in folders named ``owner+name``.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from bench.kernel import loads
from bench.meaning.changes import bare_folder, changes, stretches
from bench.meaning.corpora import CORPORA, corpus
from bench.meaning.literals import literals
from bench.meaning.measure import Gains, Measured, compare, load_seconds, measure
from bench.meaning.opened import Asked
from bench.meaning.page import write_page
from bench.meaning.questions import questions, shortened, without_docs

_RESULTS = Path(__file__).parent.parent / "results" / "meaning.json"
#: Measured for descriptions of changes; none of them is ever trained on.
_CHANGED = {
    "django/django": "python",
    "pytest-dev/pytest": "python",
    "sourcegraph/zoekt": "go",
    "nestjs/nest": "typescript",
    "vuejs/core": "typescript",
    "junit-team/junit5": "java",
    "tokio-rs/tokio": "rust",
}


class Wanted(NamedTuple):
    """What is measured; the rest is kept from an earlier run."""

    speed: bool
    ranks: bool


def _asked(
    language: str, folder: Path, count: int, chosen: Sequence[str], wanted: "Wanted"
) -> dict[str, Any]:
    found = questions(folder, language, count)
    with tempfile.TemporaryDirectory(prefix="sightline-quality-") as scratch:
        bare = Path(scratch, "bare")
        without_docs(folder, language, bare)
        texts = literals(bare, language, count)
        sets = {
            "sentences": [Asked.chunk(q, q.text) for q in found],
            "short questions": [Asked.chunk(q, shortened(q.text)) for q in found],
            "names": [Asked.chunk(q, q.name.rpartition(".")[2]) for q in found],
            "literals": [Asked.chunk(q, q.text) for q in texts],
            "quoted literals": [Asked.chunk(q, f'"{q.text}"') for q in texts],
        }
        sets = {name: asked for name, asked in sets.items() if not chosen or name in chosen}
        measured = asyncio.run(measure(bare, sets, speed=wanted.speed, ranks=wanted.ranks))
    return {"language": language, "corpus": CORPORA[language][0], **_figures(measured)}


def _compared(language: str, folder: Path, count: int) -> dict[str, Any]:
    found = questions(folder, language, count)
    with tempfile.TemporaryDirectory(prefix="sightline-quality-") as scratch:
        without_docs(folder, language, Path(scratch, "bare"))
        sets = {
            "sentences": [Asked.chunk(q, q.text) for q in found],
            "short questions": [Asked.chunk(q, shortened(q.text)) for q in found],
        }
        gains = asyncio.run(compare(Path(scratch, "bare"), sets))
    return {"corpus": CORPORA[language][0], "compared": _rounded(gains)}


def _rounded(gains: Mapping[str, Mapping[str, Gains]]) -> dict[str, dict[str, list[float]]]:
    return {
        name: {way: [round(float(gain), 4) for gain in values] for way, values in ways.items()}
        for name, ways in gains.items()
    }


def _changed(repository: str, folder: Path, count: int, wanted: "Wanted") -> dict[str, Any]:
    """Stretch by stretch, the newest first, until so many changes were asked for."""
    bare = bare_folder(folder, repository)
    result: dict[str, Any] = {}
    asked = states = 0
    for stretch in stretches(bare)[:_MAX_STATES]:
        with tempfile.TemporaryDirectory(prefix="sightline-quality-") as scratch:
            described = changes(bare, stretch, Path(scratch, "source"), count - asked)
            if not described.short:
                continue
            sets = {
                "changes": [Asked(one.text, files=one.files) for one in described.short],
                "long changes": [Asked(one.text, files=one.files) for one in described.long],
            }
            timed = wanted.speed and not states
            measured = asyncio.run(
                measure(Path(scratch, "source"), sets, speed=timed, ranks=wanted.ranks)
            )
        figures = _figures(measured)
        if not result:
            name = f"{repository} {stretch.before[:10]}"
            result = {"language": _CHANGED[repository], "corpus": name, **figures}
        else:
            _join(result["gains"], figures["gains"])
        states += 1
        asked += len(described.short)
        print(repository, stretch.before[:10], asked, flush=True)
        if asked >= count or not wanted.ranks:
            break
    gains = {kind: ways for kind, ways in result["gains"].items() if len(ways["both"]) >= _FEW}
    return {**result, "states": states, "gains": gains}


def _join(into: dict[str, dict[str, list[float]]], more: dict[str, dict[str, list[float]]]) -> None:
    for kind, ways in more.items():
        for way, gains in ways.items():
            into[kind][way] += gains


#: A set of fewer questions says nothing.
_FEW = 40
#: States of one repository at most; each is indexed and encoded.
_MAX_STATES = 6


def _kept(
    old: Mapping[str, Any], new: dict[str, Any], only_some: bool, wanted: "Wanted"
) -> dict[str, Any]:
    """What was measured, and of an earlier run what was not asked for."""
    if not wanted.ranks:
        return {**old, "speed": new["speed"]}
    speed = {"speed": old["speed"]} if "speed" in old else {}
    gains = old.get("gains", {}) if only_some else {}
    return {**speed, **new, "gains": {**gains, **new["gains"]}}


def _figures(measured: Measured) -> dict[str, Any]:
    return {
        "chunks": measured.chunks,
        "files": measured.files,
        **({"speed": measured.speed._asdict()} if measured.speed else {}),
        "gains": _rounded(measured.gains),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.meaning")
    parser.add_argument("--only", nargs="*", help="languages and repositories")
    parser.add_argument(
        "--sets", nargs="*", default=[], help="only these sets of the languages; keeps the others"
    )
    parser.add_argument("--repositories", type=Path, help="a folder of bare repositories")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--changes", type=int, default=1_000, help="changes per repository")
    parser.add_argument("--json", type=Path, default=_RESULTS)
    parser.add_argument("--ranks", action="store_true", help="no speeds; keeps earlier ones")
    parser.add_argument("--speeds", action="store_true", help="no ranks; keeps earlier ones")
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    parser.add_argument(
        "--general", nargs="*", default=[], help="languages to compare a general model on"
    )
    options = parser.parse_args(arguments)
    wanted = Wanted(speed=not options.ranks, ranks=not options.speeds)
    results = json.loads(options.json.read_text("utf-8")) if options.json.exists() else {}
    if not options.page:
        if not options.ranks:
            results["load"] = {"seconds": load_seconds(), "machine": loads()}
        for name in options.general:
            results[f"general {name}"] = _compared(name, corpus(name), options.count)
            options.json.write_text(json.dumps(results) + "\n", "utf-8")
        everything = [*CORPORA, *(_CHANGED if options.repositories else ())]
        if not wanted.ranks:  # of those that the page has
            everything = [name for name in everything if name in results]
        for name in everything if options.only is None else options.only:
            if name in CORPORA:
                chosen, count = options.sets, options.count
                found = _asked(name, corpus(name), count, chosen, wanted)
            else:
                found = _changed(name, options.repositories, options.changes, wanted)
            results[name] = _kept(results.get(name, {}), found, bool(options.sets), wanted)
            options.json.write_text(json.dumps(results) + "\n", "utf-8")
            print(name, "measured", flush=True)
    if options.json == _RESULTS and results:
        write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
