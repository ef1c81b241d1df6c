"""``python -m bench.meaning``: search quality on code bases that no model saw; writes its page.

``--only LANGUAGE`` measures one and keeps the others' figures; ``--page`` only writes the page anew.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from bench.meaning.corpora import CORPORA, corpus
from bench.meaning.measure import WAYS, measure
from bench.meaning.page import write_page
from bench.meaning.questions import questions, shortened, without_docs

_RESULTS = Path(__file__).parent.parent / "results" / "meaning.json"


def _one(language: str, folder: Path, count: int) -> dict[str, object]:
    found = questions(folder, language, count)
    with tempfile.TemporaryDirectory(prefix="sightline-quality-") as scratch:
        without_docs(folder, language, Path(scratch, "bare"))
        sets = {
            "sentences": [(q, q.text) for q in found],
            "short questions": [(q, shortened(q.text)) for q in found],
            "names": [(q, q.name.rpartition(".")[2]) for q in found],
        }
        measured = measure(Path(scratch, "bare"), sets, WAYS)
    return {
        "corpus": CORPORA[language][0],
        "chunks": measured.chunks,
        "files": measured.files,
        "speed": measured.speed._asdict(),
        "gains": {
            name: {way: [round(float(gain), 4) for gain in gains] for way, gains in ways.items()}
            for name, ways in measured.gains.items()
        },
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.meaning")
    parser.add_argument("--only", choices=list(CORPORA))
    parser.add_argument("--folder", type=Path, help="where the one code base lies already")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--json", type=Path, default=_RESULTS)
    parser.add_argument("--page", action="store_true", help="only write the page anew")
    options = parser.parse_args(arguments)
    results = json.loads(options.json.read_text("utf-8")) if options.json.exists() else {}
    if not options.page:
        for language in [options.only] if options.only else list(CORPORA):
            folder = options.folder or corpus(language)
            results[language] = _one(language, folder, options.count)
            options.json.write_text(json.dumps(results) + "\n", "utf-8")
            print(language, "measured", flush=True)
    if options.json == _RESULTS and results:
        write_page(results)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
