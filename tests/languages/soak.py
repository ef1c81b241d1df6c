"""A long run over four languages with edits and random kills: is every answer right to the end?

``python -m tests.languages.soak --minutes 20 --calls 30000`` ends at whichever comes first and
writes docs/evidence/soak.md. Every answer about references is compared with the truth counted in
the text; between them the other tools are asked; servers are killed without warning.
"""

import argparse
import asyncio
import gc
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from sightline.contract import limits
from sightline.contract.failures import NotFound
from tests.languages.edits import EDITS, REPOSITORIES, Repository
from tests.languages.rounds import ask
from tests.languages.samples import only
from tests.support.engine import Engine, engine
from tests.support.http import alive
from tools.evidence import write_page

__all__ = ["Soak", "soak"]

_SERVERS = ("ty", "tsgo", "clangd", "bash")
#: A server that ends five times within a minute of each other is given up, as it should be.
_BETWEEN_KILLS_S = 61.0
_SAMPLE_EVERY = 100
_EDIT, _OTHER = 0.4, 0.5
#: Of what is kept between calls.
_BUDGET = limits.RETAINED_TOTAL_BYTES + limits.ANSWER_CACHE_TOTAL_BYTES


@dataclass
class Soak:
    """What was seen."""

    calls: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    edits: int = 0
    kills: int = 0
    seconds: float = 0.0
    memory: list[int] = field(default_factory=list)
    #: What of it are answers and result sets, which are kept for ten minutes.
    kept: list[int] = field(default_factory=list)
    handles: list[int] = field(default_factory=list)
    orphans: list[int] = field(default_factory=list)
    #: Errors in background tasks, which no caller sees.
    unseen: list[str] = field(default_factory=list)

    @property
    def settled(self) -> tuple[int, int]:
        """Memory without what is kept, after a quarter and at the end, as medians of a tenth."""
        rest = [memory - kept for memory, kept in zip(self.memory, self.kept, strict=True)]
        quarter, tenth = len(rest) // 4, max(len(rest) // 10, 1)
        early = sorted(rest[quarter : quarter + tenth])
        late = sorted(rest[-tenth:])
        return early[len(early) // 2], late[len(late) // 2]

    @property
    def tenths(self) -> list[tuple[int, int]]:
        """Memory in bytes after each tenth of the run, and what of it is kept."""
        last = len(self.memory) - 1
        return [(self.memory[at], self.kept[at]) for at in (last * p // 10 for p in range(1, 11))]

    def sample(self, running: Engine) -> None:
        calls = running.program.calls
        self.memory.append(_resident())
        self.kept.append(calls.retained.store.size + calls.answers.store.size)
        self.handles.append(len(os.listdir("/proc/self/fd")))


async def soak(folder: Path, calls: int, seconds: float, seed: int, kill_every: float) -> Soak:
    """So many calls, or so many seconds."""
    chooser = random.Random(seed)
    kinds = [REPOSITORIES[server][0] for server in _SERVERS]
    repositories = [
        kind(folder / f"ws{number}", seed + number) for number, kind in enumerate(kinds)
    ]
    cache = folder / "cache"
    cache.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    seen = Soak()
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: seen.unseen.append(f"{context['message']}: {context.get('exception')!r}")
    )
    started: set[tuple[int, bytes]] = set()
    async with engine(
        *(repository.root for repository in repositories),
        cache=cache,
        registry=only(*_SERVERS),
        environment=environment,
    ) as running:
        begin = time.monotonic()
        killed: dict[str, float] = {}
        while seen.calls.total() < calls and time.monotonic() - begin < seconds:
            repository = chooser.choice(repositories)
            if chooser.random() < _EDIT:
                chooser.choice(list(EDITS.values()))(repository)
                seen.edits += 1
            if chooser.random() < _OTHER:
                await _other(running, repository, chooser, seen)
            else:
                found, truth = await ask(running, repository), repository.truth()
                seen.calls["references"] += 1
                if found != truth:
                    lost, extra = len(truth - found), len(found - truth)
                    seen.wrong.append(f"{repository.root.name}: {lost} missing, {extra} too many")
            pids = [row.pid for row in running.program.pool.status() if row.pid is not None]
            started |= {(pid, born) for pid in pids if (born := _born(pid))}
            _kill_one(running, chooser, killed, kill_every, seen)
            if seen.calls.total() % _SAMPLE_EVERY == 0:
                seen.sample(running)
        seen.seconds = time.monotonic() - begin
        seen.sample(running)
    gc.collect()
    seen.orphans = sorted(pid for pid, born in started if alive(pid) and _born(pid) == born)
    return seen


async def _other(
    running: Engine, repository: Repository, chooser: random.Random, seen: Soak
) -> None:
    """One of the other tools. Its answer is not compared; it must be one."""
    tool = chooser.choice(["documentSymbols", "definition", "hover", "workspaceSymbols"])
    uri = repository.core_file.as_uri()
    arguments: dict[str, object] = {"uri": uri}
    if tool in ("definition", "hover"):
        arguments["position"] = repository.definition()
    elif tool == "workspaceSymbols":
        arguments = {"query": "target"}
    try:
        answer = await running.call(f"vscode.lsp.{tool}", **arguments)
    except NotFound:
        answer = {}
    seen.calls[tool] += 1
    names = {item["name"].rstrip("()") for item in answer.get("symbols", ())}
    if tool == "documentSymbols" and "target" not in names:
        seen.wrong.append(f"{repository.root.name}: the outline has no target")
    if tool == "definition" and [place["uri"] for place in answer["locations"]] != [uri]:
        seen.wrong.append(f"{repository.root.name}: the definition is elsewhere")


def _kill_one(
    running: Engine, chooser: random.Random, killed: dict[str, float], every: float, seen: Soak
) -> None:
    """Sometimes a server that has not been killed for a while is killed."""
    now = time.monotonic()
    rows = [row for row in running.program.pool.status() if row.pid is not None]
    ripe = [row for row in rows if now - killed.get(row.name, -1e9) > every]
    if ripe and chooser.random() < 0.05:
        row = chooser.choice(ripe)
        assert row.pid is not None
        killed[row.name] = now
        os.kill(row.pid, signal.SIGKILL)
        seen.kills += 1


def _born(pid: int) -> bytes:
    """When a process began. In a long run its number may be given to another one."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19]
    except OSError:
        return b""


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def page(seen: Soak) -> str:
    calls = "\n".join(f"| {tool} | {count:,} |" for tool, count in sorted(seen.calls.items()))
    early, late = seen.settled
    wrong = "\n".join(f"- {line}" for line in seen.wrong[:20]) or "None."
    tenths = ", ".join(f"{memory >> 20} ({kept >> 20})" for memory, kept in seen.tenths)
    return f"""# A long run over four languages

{", ".join(_SERVERS)}, one repository each, in one process; {seen.calls.total():,} calls in
{seen.seconds / 60:.1f} minutes with {seen.edits:,} edits of every kind and {seen.kills} kills
of a server.

| tool | calls |
|---|---|
{calls}

References are compared with the truth counted in the text, outlines and definitions with what must
be in them; hover and workspace symbols must answer.

Wrong answers: **{len(seen.wrong)}**.

{wrong}

| | after a quarter | at the end |
|---|---|---|
| memory of Sightline without what is kept, MiB | {early >> 20} | {late >> 20} |
| open handles | {seen.handles[len(seen.handles) // 4]} | {seen.handles[-1]} |

Answers and result sets are kept for ten minutes, {_BUDGET >> 20} MiB of them at most. All memory
after each tenth of the run, and what of it was kept, MiB: {tenths}.

Processes of servers left after the end: **{len(seen.orphans)}**. Errors in background tasks, which
no caller sees: **{len(seen.unseen)}**.

Weak: one machine, Linux; the memory is that of the process that also runs the test's own
bookkeeping.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--calls", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = soak(Path(folder), given.calls, given.minutes * 60, given.seed, _BETWEEN_KILLS_S)
        seen = asyncio.run(work)
    text = page(seen)
    print(text)
    print("\n".join(seen.unseen[:20]), file=sys.stderr)
    write_page("soak.md", "python -m tests.languages.soak", text)
    early, late = seen.settled
    assert max(seen.kept) <= _BUDGET
    flat = late <= early * 1.2 + (16 << 20) and seen.handles[-1] <= max(seen.handles[:5]) + 8
    return 0 if flat and not (seen.wrong or seen.orphans or seen.unseen) else 1


if __name__ == "__main__":
    sys.exit(main())
