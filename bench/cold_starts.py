"""Cold starts of every language server: is the first answer the whole truth, and always the same?

``python -m bench cold_starts`` writes docs/evidence/cold-starts.md. It counts and needs no quiet
machine. Servers that are known to answer from a part while they load are started more often.
"""

import json
import os
import statistics
import time
from pathlib import Path
from typing import Any

from bench.cold_starts_page import page
from bench.language_cases import Case
from bench.language_sides import TOOLS, arguments, ask, call, measured, position, start
from sightline.lsp.registry import builtin
from tests.languages.samples import offers
from tests.support.stdio import StdioServer
from tools.evidence import write_page

__all__ = ["RESULTS", "run"]

RESULTS = Path(__file__).with_name("results") / "cold_starts.json"
#: So many cold processes are asked everything, and must say the same bytes.
PROCESSES = 3
#: Servers that answer from a part while they load.
_PARTIAL = ("pyright", "vtsls", "clangd")
_STARTS = int(os.environ.get("BENCH_COLD_STARTS", "20"))


def run() -> bool:
    good = True
    for row, rows in measured(RESULTS, measure):
        good = good and row["complete"] == row["starts"] and row["same_bytes"]
        write_page("cold-starts.md", "python -m bench cold_starts", page(rows))
    return good


def measure(case: Case, scratch: Path) -> dict[str, Any]:
    root = case.corpus().resolve()
    truth = case.truth(root, case.file, case.name)
    starts = _STARTS if case.server in _PARTIAL else PROCESSES
    complete, answers, seconds, refused = 0, set[str](), [], 0
    for number in range(starts):
        begin = time.monotonic()
        # A home of its own: nothing that an earlier process left helps.
        server = start(case, root, scratch / f"home{number}")
        refusals: list[str] = []
        found = ask(server, case, root, refusals)
        seconds.append(time.monotonic() - begin)
        complete += found == truth if case.asks_references else truth <= found
        refused += bool(refusals)
        if number < PROCESSES:
            answers.add(_everything(server, case, root))
        server.stop()
    return {
        "server": case.server,
        "version": builtin().version_of(case.server),
        "corpus": root.name if root.name != "package" else root.parent.name,
        "question": case.name or f"the outline of {Path(case.file).name}",
        "weakness": case.weakness,
        "truth": len(truth),
        "starts": starts,
        "complete": complete,
        "refused": refused,
        "cold_s": statistics.median(seconds),
        "same_bytes": len(answers) == 1,
    }


def _everything(server: StdioServer, case: Case, root: Path) -> str:
    """The answers of all tools about one document that the server offers, as text."""
    place = position(case, root) if case.asks_references else {"line": 0, "character": 0}
    answers = [
        call(server, tool, arguments(name, root / case.file, place, case.name))
        for name, tool in TOOLS.items()
        if offers(case.server, name) and name != "workspaceDiagnostics"
    ]
    return json.dumps(answers)
