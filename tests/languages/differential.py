"""A server that has run through edits, against one that starts in the same files: the same answers?

``python -m tests.languages.differential [PROJECT ...] [--rounds N] [--seeds N]`` edits small
projects at random: sources, project files, folders that come, go and move. After every edit all
questions are put to the engine that has seen every state, and to one that has seen none but
this. A difference is an answer that is not fresh. The cold engine is trusted because it has nothing
to remember; what both get wrong is not seen here.
"""

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

from sightline.contract.failures import NotFound, Unavailable
from tests.languages.differential_projects import PROJECTS, Project
from tests.languages.samples import ON_PATH, offers, only
from tests.support.engine import Engine, engine
from tools.evidence import write_page

__all__ = ["Difference", "differences"]

_RESULTS = Path(__file__).parent.parent.parent / "bench/results/differential.json"
#: Also a name without an extension.
_SOURCE = re.compile(r"\.(?:pyi?|ts|c|h|go|rs|sh)$|(?:^|/)[^./]+$")
#: Packages of others: only what uses them is asked about.
_FOREIGN = re.compile(r"site-packages|node_modules")
_SYMBOL = re.compile(r"\b[Aa]rea\b")


#: How often a server is started anew before a difference counts. Of a header that several sources
#: see in different ways clangd keeps one, and chance decides which, after a start too.
_STARTS = {"clangd": 6}


class Difference(NamedTuple):
    round: int
    edits: tuple[str, ...]
    question: str
    warm: str
    cold: str


async def differences(project: Project, rounds: int, seed: int, folder: Path) -> list[Difference]:
    """Edits a project so often, and says where an answer was not fresh."""
    found: list[Difference] = []
    server, states, roots = project
    # A user's own server needs the user's own toolchain.
    home = os.environ["HOME"] if server in ON_PATH else str(folder)
    environment = {"PATH": os.environ["PATH"], "HOME": home}
    chance = random.Random(seed)
    root = folder / "ws"
    for each in roots:
        (root / each).mkdir(parents=True)
    (root / ".git").mkdir()
    for name, texts in states.items():
        _put(root / name, texts[0], project.paths(root))
    async with AsyncExitStack() as stack:
        warm = await stack.enter_async_context(_engine(project, root, folder / "warm", environment))
        await _answers(warm, project, root)
        edits: list[str] = []
        for number in range(rounds):
            made = [
                _edit(project, root, folder, chance) for _ in range(chance.choice((1, 1, 1, 2, 4)))
            ]
            edits += made
            said = await _answers(warm, project, root)
            starts: list[dict[str, str]] = []
            while not starts or (said != starts[-1] and len(starts) < _STARTS.get(server, 1)):
                async with _engine(project, root, folder / "cold", environment) as cold:
                    starts.append(await _answers(cold, project, root))
                shutil.rmtree(folder / "cold")
            for question in sorted(starts[0].keys() | said.keys()):
                told, right = said.get(question, "-"), [s.get(question, "-") for s in starts]
                if told not in right:
                    found.append(Difference(number, tuple(made), question, told, right[0]))
    return found


def _engine(project: Project, root: Path, cache: Path, environment: dict[str, str]) -> Any:
    cache.mkdir()
    return engine(
        *(root / each for each in project.roots),
        cache=cache,
        registry=only(project.server),
        environment=environment,
        trusted=lambda root: True,
    )


def _edit(project: Project, root: Path, folder: Path, chance: random.Random) -> str:
    """One edit, and what it was."""
    states = project.states
    name = chance.choice(sorted(states))
    folders = sorted(_movable(project))
    if folders and chance.random() < 0.2:
        top = chance.choice(folders)
        inside, outside = root / top, folder / f"aside-{top.replace('/', '-')}"
        source, target = (inside, outside) if inside.exists() else (outside, inside)
        if source.exists() and not target.exists():
            source.rename(target)
            return f"{top} {'left' if target == outside else 'came back'}"
    path = root / name
    now = path.read_text() if path.is_file() else None
    others = [each for each in states[name] if each != now]
    if not others:
        return f"{name}: as it is"
    text = chance.choice(others)
    if text is not None and chance.random() < 0.3:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = folder / "fresh"
        fresh.write_text(text)
        fresh.replace(path)
    else:
        _put(path, text, project.paths(root))
    return f"{name}: {'gone' if text is None else states[name].index(text)}"


def _movable(project: Project) -> set[str]:
    """The outermost folders that are not roots."""
    inner = {name.rpartition("/")[0] for name in project.states if "/" in name}
    found: set[str] = set()
    for folder in inner:
        first, _, rest = folder.partition("/")
        if first not in project.roots:
            found.add(first)
        elif rest:
            found.add(f"{first}/{rest.partition('/')[0]}")
    return found


def _put(path: Path, text: str | None, roots: Sequence[Path]) -> None:
    if text is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return
    path.unlink(missing_ok=True)
    for parent in path.parents:
        if parent in roots or not parent.is_dir() or any(parent.iterdir()):
            break
        parent.rmdir()


async def _answers(running: Engine, project: Project, root: Path) -> dict[str, str]:
    """Every question's answer: about every file, and about every place the name is at."""
    answers: dict[str, str] = {}
    for tool, arguments in _questions(root, project):
        try:
            answer = await running.call(f"vscode.lsp.{tool}", **arguments)
        except (NotFound, Unavailable) as failure:
            answer = f"{type(failure).__name__}: {failure}"
        key = f"{tool} {arguments.get('uri', '').removeprefix(root.as_uri())}"
        key += " declared" if arguments.get("includeDeclaration") else ""
        place = arguments.get("position")
        answers[f"{key} {place['line']}:{place['character']}" if place else key] = _plain(answer)
    return answers


def _plain(answer: Any) -> str:
    """An answer without the cursor, which holds the epochs of its engine."""
    if isinstance(answer, dict):
        answer.pop("nextCursor", None)
    return json.dumps(answer, sort_keys=True)


def _questions(root: Path, project: Project) -> Iterator[tuple[str, dict[str, Any]]]:
    server, roots = project.server, project.paths(root)
    for name in sorted(project.states):
        path = root / name
        if not any(path.is_relative_to(each) for each in roots):
            continue
        if not _SOURCE.search(name) or not path.is_file() or _FOREIGN.search(name):
            continue
        uri = path.as_uri()
        if offers(server, "documentSymbols"):
            yield "documentSymbols", {"uri": uri}
        if offers(server, "documentDiagnostics"):
            yield "diagnostics.document", {"uri": uri}
        for line, text in enumerate(path.read_text().splitlines()):
            for match in _SYMBOL.finditer(text):
                place = {"line": line, "character": match.start()}
                yield from _about(server, {"uri": uri, "position": place})
    if offers(server, "workspaceSymbols"):
        yield "workspaceSymbols", {"query": "area"}
    if offers(server, "workspaceDiagnostics"):
        yield "diagnostics.workspace", {}


def _about(server: str, place: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The questions about one place."""
    for tool in ("definition", "references", "hover"):
        if offers(server, tool):
            yield tool, place
    if offers(server, "references"):
        yield "references", {**place, "includeDeclaration": True}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PROJECT")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--write", action="store_true", help="write docs/evidence/differential.md")
    chosen = parser.parse_args()
    stale = 0
    all_of_them = [name for name, each in PROJECTS.items() if each.server not in ON_PATH]
    for name in chosen.names or all_of_them:
        found: list[Difference] = []
        for seed in range(1, chosen.seeds + 1):
            with tempfile.TemporaryDirectory() as folder:
                work = differences(PROJECTS[name], chosen.rounds, seed, Path(folder))
                found += asyncio.run(work)
        for each in found:
            print(f"{name} {each.round} {each.edits}\n  {each.question}")
            print(f"    warm {each.warm}\n    cold {each.cold}")
        rounds = chosen.rounds * chosen.seeds
        print(f"{name}: {rounds} rounds, {len(found)} answers were not fresh", flush=True)
        stale += len(found)
        if chosen.write:
            _record(name, {"sequences": chosen.seeds, "rounds": rounds, "stale": len(found)})
    return 1 if stale else 0


def _record(name: str, row: dict[str, int]) -> None:
    known = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
    rows = known | {name: row}
    rows = {name: rows[name] for name in PROJECTS if name in rows}
    _RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    lines = [
        f"| {name} | {each['sequences']} | {each['rounds']} | {each['stale']} |"
        for name, each in rows.items()
    ]
    write_page("differential.md", "python -m tests.languages.differential --write", _page(lines))


def _page(lines: list[str]) -> str:
    return f"""# A server that has run through edits, beside one that starts in the same files

Small projects are edited at random: sources that import what is there, what is not there yet and
what is gone, project files, ignore files, environments, headers, folders that come, go and move.
"Two roots" are folders side by side of which one uses the other; "a part" is one root in a
repository whose other folders it uses, with an environment, packages or flags at the top;
"scripts" have no extension and become another kind by their first line.
After every round of one to four edits all questions about every file are put to the engine that has
seen every state, and to one that has seen none but this. An answer that differs is not fresh, or
depends on what was asked before.

| server | sequences of edits | rounds | answers that differ |
|---|---|---|---|
{chr(10).join(lines)}

## Weak points

- The projects are small and the edits are made by a program. What both engines get wrong is not
  seen here; [cold-starts.md](cold-starts.md) looks at that.
- Servers that know one document only are left out. gopls was Debian's 0.16.1, whose diagnostics
  cannot be asked for.
- Of two definitions of one name in C clangd keeps one, and chance or history decides which: no
  project here has two. Other answers of clangd count as different if none of six starts gives them.
- A stub beside a source of the same name, with a third in `src`, is left out for pyright: it finds
  one definition more after a start than after the edits that lead there.
"""


if __name__ == "__main__":
    sys.exit(main())
