"""``python -m bench.meaning``: search quality on code bases that no model saw; writes its page.

``--only LANGUAGE`` measures one and keeps the others' figures; ``--page`` only writes the page anew.
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
from typing import Any

from bench.meaning.changes import bare_folder, changes
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


def _asked(language: str, folder: Path, count: int, chosen: Sequence[str]) -> dict[str, Any]:
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
        measured = asyncio.run(measure(bare, sets))
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


def _changed(repository: str, folder: Path, count: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="sightline-quality-") as scratch:
        described = changes(bare_folder(folder, repository), Path(scratch, "source"), count)
        sets = {
            "changes": [Asked(one.text, files=one.files) for one in described.short],
            "long changes": [Asked(one.text, files=one.files) for one in described.long],
        }
        sets = {name: asked for name, asked in sets.items() if len(asked) >= _FEW}
        measured = asyncio.run(measure(Path(scratch, "source"), sets))
    name = f"{repository} {described.commit[:10]}"
    return {"language": _CHANGED[repository], "corpus": name, **_figures(measured)}


_FEW = 40


def _figures(measured: Measured) -> dict[str, Any]:
    return {
        "chunks": measured.chunks,
        "files": measured.files,
        "speed": measured.speed._asdict(),
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
    parser.add_argument("--json", type=Path, default=_RESULTS)
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    parser.add_argument(
        "--general", nargs="*", default=[], help="languages to compare a general model on"
    )
    options = parser.parse_args(arguments)
    results = json.loads(options.json.read_text("utf-8")) if options.json.exists() else {}
    if not options.page:
        results["load"] = {"seconds": load_seconds()}
        for name in options.general:
            results[f"general {name}"] = _compared(name, corpus(name), options.count)
            options.json.write_text(json.dumps(results) + "\n", "utf-8")
        everything = [*CORPORA, *(_CHANGED if options.repositories else ())]
        for name in everything if options.only is None else options.only:
            if name in CORPORA:
                found = _asked(name, corpus(name), options.count, options.sets)
                if options.sets and name in results:
                    results[name]["gains"] |= found["gains"]
                else:
                    results[name] = found
            else:
                results[name] = _changed(name, options.repositories, options.count)
            options.json.write_text(json.dumps(results) + "\n", "utf-8")
            print(name, "measured", flush=True)
    if options.json == _RESULTS and results:
        write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
