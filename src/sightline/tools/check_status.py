"""``check_status``: what the index can do here, what is wrong, and the command that fixes it."""

import asyncio
import os
from typing import TYPE_CHECKING

from msgspec import Struct

from sightline.contract.uris import uri_of
from sightline.tools.argumentless import Argumentless, NoArguments
from sightline.tools.reports import state_of, trouble_of
from sightline.tools.tool import Desk, Question, ToolInfo, Whole, plural
from sightline.workspace.view import SOURCE_EPOCHS

if TYPE_CHECKING:
    from sightline.index.index import Index

INFO = ToolInfo(
    name="check_status",
    family="index",
    title="Check status",
    description="What search can do here and what is wrong: capabilities, problems, and the "
    "command that fixes each.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    repeatable=False,
)

_LOW_DISK = 200 << 20


class Capability(Struct, frozen=True):
    name: str
    available: bool
    detail: str


class Problem(Struct, frozen=True):
    code: str
    message: str
    fix: str


class CheckReport(Struct, frozen=True):
    ok: bool
    capabilities: list[Capability]
    problems: list[Problem]
    summary: str


class CheckStatus(Argumentless):
    info = INFO

    async def answer(self, desk: Desk, question: Question[NoArguments]) -> Whole:
        index = await desk.index()
        for builder in index.builders.values():
            await builder.peek()
        capabilities = await asyncio.to_thread(_capabilities)
        capabilities.append(await _dense(index))
        problems = [*_index_problems(index), *_file_problems(index), *_watch_problems(index)]
        problems += [
            Problem("CAPABILITY_MISSING", f"{c.name}: {c.detail}", "reinstall sightline")
            for c in capabilities
            if not c.available and (c.name != "dense" or index.dense.enabled)
        ]
        summary = f"{plural(len(problems), 'problem')}." if problems else "Everything works."
        return Whole(CheckReport(not problems, capabilities, problems, summary))


def _capabilities() -> list[Capability]:
    import importlib.util

    from sightline.text.grammars import GRAMMARS

    missing = sorted(
        {g.module for g in GRAMMARS.values() if importlib.util.find_spec(g.module) is None}
    )
    names = ", ".join(sorted(GRAMMARS))
    detail = f"missing: {', '.join(missing)}" if missing else f"grammars for {names}"
    return [
        Capability("ranked", True, "ranked search over names, text and paths"),
        Capability("literal", True, "exact text, checked in the files"),
        Capability("regex", True, "regular expressions (RE2), checked in the files"),
        Capability("declarations", not missing, detail),
    ]


async def _dense(index: "Index") -> Capability:
    """Whether questions are also ranked by vectors, and how far these are."""
    if await index.dense.weights() is None:
        return Capability("dense", False, index.dense.problem)
    done = chunks = 0
    for builder in index.builders.values():
        standing = await index.dense.standing(builder, builder.snapshot)
        done, chunks = done + standing.done, chunks + standing.chunks
    detail = f"questions are also ranked by vectors; {done} of {chunks} are ready"
    return Capability("dense", True, detail)


def _index_problems(index: "Index") -> list[Problem]:
    found: list[Problem] = []
    for root, builder in index.builders.items():
        name = os.path.basename(root)
        state = state_of(builder)
        command = "sightline index build"
        if state == "absent":
            found.append(Problem("NO_INDEX", f"{name} has no index", command))
        elif state == "incomplete":
            found.append(Problem("NO_INDEX", f"the index of {name} is not finished", command))
        elif state == "damaged":
            message = f"the index of {name} {trouble_of(builder)}; the next build makes it again"
            found.append(Problem("INDEX_DAMAGED", message, command))
    return found


def _file_problems(index: "Index") -> list[Problem]:
    import shutil  # which brings every kind of archive with it

    found: list[Problem] = []
    for builder in index.builders.values():
        rows = list(builder.library.rows.values())
        failed = sum(row.reason == "failed" for row in rows)
        if failed:
            files = plural(failed, "file")
            message = f"{files} could not be indexed; index_status names them"
            found.append(Problem("FILES_FAILED", message, "sightline index build --force"))
        folder = builder.library.store.folder
        while folder and not os.path.isdir(folder):
            folder = os.path.dirname(folder)
        if not os.access(folder or "/", os.W_OK):
            message = "the index folder cannot be written; what changes is not indexed"
            found.append(
                Problem("INDEX_READ_ONLY", message, "make it writable, or set XDG_CACHE_HOME")
            )
        if shutil.disk_usage(folder or "/").free < _LOW_DISK:
            message = "the disk of the index has less than 200 MB free"
            found.append(Problem("DISK_FULL", message, "free some space, or set XDG_CACHE_HOME"))
    return found


def _watch_problems(index: "Index") -> list[Problem]:
    found: list[Problem] = []
    for root, observer in index.workspace.observers.items():
        if observer.sweeps and "watch limit" in observer.reason:
            message = f"{uri_of(root)} is swept on every call: {observer.reason}"
            fix = "sudo sysctl fs.inotify.max_user_watches=1048576"
            found.append(Problem("WATCH_LIMIT", message, fix))
    return found
