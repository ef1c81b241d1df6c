"""What a model reads: per tool and client, beside grep and reading files, as a page.

    python -m tests.clients.tokens      writes docs/evidence/tokens.md, bench/results/tokens.json

Each client is configured by ``sightline config`` and takes one offline turn in which its model, a
stand-in, asks every question. What the client then sends to the model is measured, with whatever
the client wraps around it. The other way is a fixed command per question, run in the same folder.
"""

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clients import peer
from tests.clients.installed import PROGRAMS
from tests.clients.model import asks_for_a_retry
from tests.clients.room import Room
from tests.clients.turns import CLIENTS, RealClient, Turn, model
from tests.docs.console import sandbox
from tests.support.program import command, environment
from tools.evidence import write_page

_LIMIT_S = 120
_TURNS = 4
_RESULT = Path(__file__).parent.parent.parent / "bench/results/tokens.json"

_PAGE = """\
# What a model reads

The library click ({files} files, {lines:,} lines), one question per row. Bytes, because every provider counts tokens another way; four bytes are about one token of code. *grep and read* is the
command a careful agent would run in place of the question; it is in the second table. *wrong*: lines of its output that are no answer, counted by hand from the language server's answer. *answer*: everything Sightline knows. *shorter*: Sightline knows what this client shows (`answer_bytes`),
so the deepest symbols were left out and the answer says how many. *cut*: the client itself cut the answer, and its model saw a beginning that is no JSON, or the name of a file.

| question | grep and read | wrong | cclsp {peer} | answer | {heads} |
|---|---|---|---|---|{rule}
{rows}

The catalogue itself, read once per session: names, descriptions and schemas as each client passes them on.

| | {heads} |
|---|{rule}
| tools | {counts} |
| bytes | {catalogue} |

| question | tool | in place of it |
|---|---|---|
{commands}

Versions: {versions}.

What it shows: the gain is in precision first. Where grep is precise (a list of declarations), it is also shorter: Sightline's ranges and ids cost more than lines of text. Where it is not (uses of a common name, a question in
words), grep's output is longer and most of it is wrong, and a model has to read files to find out which part. Answers beyond about 10 to 50 KB do not reach the models of most clients as a whole (without `answer_bytes` all five cut this outline of 59 KB); pages and outlines are made shorter for them.

The peer, cclsp, asked the same language server and answered in 29 to 70 % of the bytes: its text has no ids, no ends of ranges and no cursors. It says nothing about whether an answer is complete, and has no pages.

Weakness: one small library, one run, one peer, questions of our own choosing; grep-and-read is a command we chose, not what an agent did; a turn of a client that did not answer every question was taken again, up to four times; the effect on the outcome of a whole task is not measured here.
"""


@dataclass(frozen=True)
class Question:
    words: str
    tool: str
    arguments: Mapping[str, Any]
    #: What an agent without the tool would run, or nothing if there is no other way.
    instead: str
    wrong: str


def questions(project: Path) -> list[Question]:
    core, types = (str((project / f"click/{name}.py").as_uri()) for name in ("core", "types"))
    fail = {"uri": core, "position": {"line": 810, "character": 8}}
    return [
        Question(
            "who calls `Context.fail`?",
            "vscode.lsp.references",
            fail,
            "grep -rnw -C3 fail click",
            "26 of 28 hits",
        ),
        Question(
            "where is the `fail` that `ctx.fail` at core.py:1388 calls?",
            "vscode.lsp.definition",
            {"uri": core, "position": {"line": 1387, "character": 16}},
            "grep -rn -A8 'def fail' click",
            "1 of 2 hits",
        ),
        Question(
            "signature and documentation of `Context.fail`",
            "vscode.lsp.hover",
            fail,
            "grep -n -A8 'def fail' click/core.py",
            "0",
        ),
        Question(
            "what is in types.py?",
            "vscode.lsp.documentSymbols",
            {"uri": types},
            "grep -nE '^ *(async )?(def|class) ' click/types.py",
            "0",
        ),
        Question(
            "which symbols have `prompt` in their name?",
            "vscode.lsp.workspaceSymbols",
            {"query": "prompt"},
            "grep -rnE '(def|class) \\w*prompt' click",
            "variables are missing",
        ),
        Question(
            "what is wrong in types.py?",
            "vscode.lsp.diagnostics.document",
            {"uri": types},
            "",
            "-",
        ),
        Question(
            "where is a program aborted with an error message?",
            "search",
            {"query": "abort the program with an error message", "pageSize": 5},
            "grep -rniE 'abort' click",
            "most",
        ),
    ]


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="sightline-tokens-") as folder:
        home = sandbox(Path(folder) / "base")
        project = home / "src/click"
        _build_index(home, project)
        seen = {key: _measure(key, Path(folder) / key) for key in CLIENTS}
        asked = questions(project)
        others = [_size(question.instead, project) for question in asked]
        wholes = [_whole(question, home, project) for question in asked]
        theirs = peer.ask(home, project)
        sources = list(project.rglob("*.py"))
        lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in sources)
    rows = [
        f"| {question.words} | {f'{other:,}' if other else 'none'} | {question.wrong} | "
        f"{theirs.get(question.tool, 'none')} | {whole:,} | "
        + " | ".join(_cell(*seen[key][0][number], whole) for key in CLIENTS)
        + " |"
        for number, (question, other, whole) in enumerate(zip(asked, others, wholes, strict=True))
    ]
    shown = [
        f"| {q.words} | `{q.tool}` | {f'`{q.instead}`' if q.instead else 'a type checker'} |"
        for q in asked
    ]
    page = _PAGE.format(
        files=len(sources),
        lines=lines,
        peer=peer.VERSION,
        heads=" | ".join(CLIENTS),
        rule="---|" * len(CLIENTS),
        rows="\n".join(rows),
        counts=" | ".join(str(seen[key][1]) for key in CLIENTS),
        catalogue=" | ".join(f"{seen[key][2]:,}" for key in CLIENTS),
        commands="\n".join(shown)
        .replace("(async )?(def|class)", "(async )?(def\\|class)")
        .replace("(def|class) ", "(def\\|class) "),
        versions=", ".join(f"{k} {PROGRAMS[c.command].version()}" for k, c in CLIENTS.items()),
    )
    figures = [
        {"tool": q.tool, "instead": other, "answer": whole, "cclsp": theirs.get(q.tool)}
        | {"clients": {key: seen[key][0][number][0] for key in CLIENTS}}
        for number, (q, other, whole) in enumerate(zip(asked, others, wholes, strict=True))
    ]
    _RESULT.write_text(json.dumps({"questions": figures}, indent=1) + "\n", encoding="utf-8")
    write_page("tokens.md", "python -m tests.clients.tokens", page)
    sys.stdout.write("\n".join(rows) + "\n")
    return 0


def _build_index(home: Path, project: Path) -> None:
    subprocess.run(
        command("index", "build"), env=environment(home), cwd=project, check=True, timeout=_LIMIT_S
    )


def _cell(size: int, is_cut: bool, whole: int) -> str:
    if is_cut:
        return f"{size:,} (cut)"
    return f"{size:,}" if size >= whole else f"{size:,} (shorter)"


def _is_cut(client: RealClient, result: str) -> bool:
    """Whether what the model sees is not what the server sent."""
    before, after = client.around
    inner = re.fullmatch(f"{before}(.*){re.escape(after)}", result, re.DOTALL)
    try:
        return inner is None or not isinstance(json.loads(inner[1]), dict)
    except ValueError:
        return True


def _whole(question: Question, home: Path, project: Path) -> int:
    """The answer as the server gives it."""
    done = subprocess.run(
        command("call", question.tool, json.dumps(dict(question.arguments))),
        env=environment(home),
        cwd=project,
        check=True,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
    )
    return len(done.stdout.strip().replace(str(home), "/home/you").encode())


def _size(instead: str, project: Path) -> int:
    if not instead:
        return 0
    done = subprocess.run(
        ["bash", "-c", instead], cwd=project, capture_output=True, check=True, timeout=_LIMIT_S
    )
    return len(done.stdout)


def _measure(key: str, folder: Path) -> tuple[list[tuple[int, bool]], int, int]:
    """The bytes of every answer and whether it was cut; the tools, and the catalogue's bytes."""
    client = CLIENTS[key]
    home = sandbox(folder)
    project = home / "src/click"
    _build_index(home, project)
    asked = questions(project)
    plan = [{"tool": q.tool, "arguments": dict(q.arguments)} for q in asked]
    for number in range(_TURNS):
        lab = folder / f"turn-{number}"
        heard, done = _turn(client, home, project, lab, plan)
        results = heard[-1]["heard"]["results"] if heard else []
        results = [result for result in results if not asks_for_a_retry(result)]
        if len(results) == len(plan):
            break
    else:
        raise SystemExit(f"{key} gave {len(results)} answers of {len(plan)}:\n{done[-800:]}")
    ours = [tool for tool in heard[0]["heard"]["tools"] if _is_ours(tool)]
    size = sum(len(json.dumps(tool, ensure_ascii=False).encode()) for tool in ours)
    # Paths are longer here than in a home: every home has the same length on the page.
    there = str(home)
    sizes = [len(result.replace(there, "/home/you").encode()) for result in results]
    return list(zip(sizes, (_is_cut(client, r) for r in results), strict=True)), len(ours), size


def _turn(
    client: RealClient, home: Path, project: Path, lab: Path, plan: list[dict[str, Any]]
) -> tuple[list[dict[str, Any]], str]:
    """What the model heard. On a busy machine a client may ask it before the tools are there."""
    with Room() as room, model(room, lab / "model", plan) as stand_in:
        turn = Turn(client, room, home, project, lab)
        turn.prepare(stand_in.url)
        subprocess.run(
            room.inside(command("config", client.key, "--write")),
            env=turn.env(),
            cwd=project,
            check=True,
            capture_output=True,
            timeout=_LIMIT_S,
        )
        done = turn.take(stand_in.url)
        return stand_in.heard(), done.stdout


def _is_ours(tool: Mapping[str, Any]) -> bool:
    return "sightline" in tool["name"] or "sightline" in tool["namespace"]


if __name__ == "__main__":
    sys.exit(main())
