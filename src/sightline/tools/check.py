"""``check``: errors and warnings, errors first, and what is new or fixed since an earlier check."""

import asyncio
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import UNSET, Struct, field

from sightline.contract.failures import InvalidArguments, NotFound, NotReady, UriInvalid
from sightline.contract.source import RawDiagnostic
from sightline.contract.texts import visible
from sightline.contract.uris import path_of
from sightline.contract.values import Diagnostic
from sightline.symbols.baselines import Baselines
from sightline.symbols.diagnostics import SEVERITIES, Baseline, Diagnosed, comparable, compare
from sightline.symbols.diagnostics import name_of as baseline_name
from sightline.tools.by_name import BUDGET, TOKEN_BYTES
from sightline.tools.diagnostics import canonical_diagnostics
from sightline.tools.tool import Block, Desk, Question, Said, Section, ToolInfo, left_out, plural
from sightline.workspace.gate import Hidden
from sightline.workspace.path_globs import PathGlobs
from sightline.workspace.view import Epoch, View, ViewOutdated

if TYPE_CHECKING:  # the grammars take a moment to load
    from sightline.symbols.files import Files
    from sightline.symbols.sources import Sources

INFO = ToolInfo(
    name="check",
    family="code",
    title="Check the code",
    description="Errors and warnings of the project, errors first, each with its line and the "
    "symbol around it, and a baseline. After an edit pass that baseline as since: what is new and "
    "what is fixed, wherever lines moved.",
    schema_version=1,
    epochs=tuple(Epoch),
    # Baselines come and go without a change of the workspace.
    repeatable=False,
)

Severity = Literal["error", "warning", "info", "hint"]
_MAX_MESSAGE = 300


class CheckArguments(Struct, frozen=True):
    in_: list[str] = field(name="in", default=[])
    severity: Severity = "warning"
    since: str | None = None
    budget: int = BUDGET
    page: str | None = None


class Check:
    info = INFO
    arguments = CheckArguments

    def ask(self, view: View, arguments: CheckArguments) -> Question[CheckArguments]:
        globs = tuple(sorted(set(arguments.in_)))
        fields = (*globs, f"severity:{arguments.severity}", f"since:{arguments.since or ''}")
        notes = PathGlobs(globs, "in")
        return Question(arguments, fields, notes=notes, budget=arguments.budget * TOKEN_BYTES)

    async def answer(self, desk: Desk, question: Question[CheckArguments]) -> Said:
        arguments = question.arguments
        inside: PathGlobs = question.notes
        symbols = await desk.symbols()
        baselines = symbols.baselines(desk.view)
        base = await self._base(baselines, arguments)

        def counted(done: int, total: int) -> None:
            desk.progress("Checking documents", phase="diagnostics", done=done, total=total)

        found = await desk.source.workspace_diagnostics(counted)
        ours, hidden = _inside(desk.view, found.items, inside)
        if arguments.in_ and base is None and not ours:
            await _require_a_file(desk.view, symbols.sources, inside)
        items = await _diagnosed(desk.view, symbols.sources, ours)
        globs = tuple(sorted(set(arguments.in_)))
        now = Baseline(tuple(items), globs, found.uncovered)
        notes = left_out(hidden, found, "Not checked:", desk.view.gone).strip()
        name = baseline_name(now)
        problem = await asyncio.to_thread(baselines.keep, now)
        if problem:
            notes = f"{notes} The baseline was not kept: {problem}.".strip()
        least = SEVERITIES.index(arguments.severity) + 1
        if base is None:
            return _listed(items, least, name, notes)
        several = len(desk.view.gate.roots.roots) > 1

        def asked(item: Diagnosed) -> bool:
            return inside.fit(item.path.partition("/")[2] if several else item.path)

        earlier = msgspec.structs.replace(base, items=tuple(filter(asked, base.items)))
        return _difference(earlier, now, least, name, notes)

    async def _base(self, baselines: Baselines, arguments: CheckArguments) -> Baseline | None:
        if arguments.since is None:
            return None
        base = await asyncio.to_thread(baselines.find, arguments.since)
        globs = tuple(sorted(set(arguments.in_)))
        if base.globs not in ((), globs):
            raise InvalidArguments(
                f"baseline {arguments.since} is of in={list(base.globs)}; pass the same in, or "
                "check without since"
            )
        return base


async def _require_a_file(view: View, sources: "Sources", inside: PathGlobs) -> None:
    """That nothing is wrong in no file at all must not look like good news."""
    paths = await asyncio.to_thread(sources.paths)
    if not any(inside.fit(_in_root(view, path)) for path in paths):
        raise NotFound("no source file passes in; globs start at the root, such as src/**")


def _inside(
    view: View, found: dict[str, Sequence[RawDiagnostic]], globs: PathGlobs
) -> tuple[dict[str, list[Diagnostic]], Counter[Hidden]]:
    """The diagnostics of the files that were asked about, by URI, and how many are hidden."""
    hidden: Counter[Hidden] = Counter()
    merged: dict[str, list[RawDiagnostic]] = {}
    for raw_uri, diagnostics in found.items():
        uri = view.gate.look_at(raw_uri)
        if isinstance(uri, Hidden):
            hidden[uri] += bool(diagnostics)
        elif diagnostics and globs.fit(_in_root(view, path_of(uri))):
            merged.setdefault(uri, []).extend(diagnostics)
    clean = {uri: canonical_diagnostics(view, uri, raw) for uri, raw in merged.items()}
    return {uri: own for uri, own in clean.items() if own}, hidden


def _in_root(view: View, path: str) -> str:
    root = view.gate.roots.containing(path)
    return path if root is None else path[len(root.real) + 1 :]


async def _diagnosed(
    view: View, sources: "Sources", found: dict[str, list[Diagnostic]]
) -> list[Diagnosed]:
    """Every diagnostic with the symbol around it, in the order of paths and lines."""
    try:
        return await asyncio.to_thread(_with_symbols, view, sources, found)
    except ViewOutdated:
        raise NotReady("a file changed while it was read; ask again", waiting_for="files") from None


def _with_symbols(
    view: View, sources: "Sources", found: dict[str, list[Diagnostic]]
) -> list[Diagnosed]:
    from sightline.symbols.files import Files

    sources.paths()  # what is read ahead is parsed once
    files = Files(view, sources)
    items: list[Diagnosed] = []
    for path, diagnostics in sorted((path_of(uri), own) for uri, own in found.items()):
        items += [
            Diagnosed(
                files.shown(path),
                each.range.start.line + 1,
                1 if each.severity is UNSET else min(max(each.severity, 1), len(SEVERITIES)),
                "" if each.code is UNSET else each.code,
                each.message,
                _around(files, path, each.range.start.line),
            )
            for each in diagnostics
        ]
    return items


def _around(files: "Files", path: str, line: int) -> str:
    """What is around a line; nothing at the top of a file, or of one that cannot be read."""
    try:
        return files.around(path, line).removeprefix("-")
    except (NotFound, UriInvalid):
        return ""


def _listed(items: Sequence[Diagnosed], least: int, name: str, notes: str) -> Said:
    shown = [item for item in items if item.severity <= least]
    files = len({item.path for item in shown})
    counts = _counts(shown) or "no " + " or ".join(f"{word}s" for word in _words(least))
    where = f" in {plural(files, 'file')}" if files else ""
    hidden = _counts(item for item in items if item.severity > least)
    also = f"; {hidden} not listed" if hidden else ""
    head = [f"{counts}{where}{also}; baseline {name}", *([notes] if notes else [])]
    data = {"baseline": name, "new": None, "fixed": None, "notes": notes}
    return Said([Section(head, _blocks(shown))], data | {"diagnostics": _as_data(shown)})


def _difference(base: Baseline, now: Baseline, least: int, name: str, notes: str) -> Said:
    then, after, left = comparable(base, now)
    difference = compare(then, after)
    new = [item for item in difference.new if item.severity <= least]
    fixed = [item for item in difference.fixed if item.severity <= least]
    head = [f"{len(new)} new, {len(fixed)} fixed; baseline {name}"]
    if left:
        head.append(f"Not compared, because they were not checked both times: {', '.join(left)}.")
    head += [notes] if notes else []
    gone = [_line(item, placed=False) for item in _ordered(fixed)]
    sections = [Section(head, [*_blocks(new), *([Block("fixed", gone)] if gone else [])])]
    data = {"baseline": name, "new": _as_data(new), "fixed": _as_data(fixed), "notes": notes}
    return Said(sections, data | {"diagnostics": None})


def _ordered(items: Iterable[Diagnosed]) -> list[Diagnosed]:
    """Errors first; of one severity by path and line, as they came."""
    return sorted(items, key=lambda item: item.severity)


def _blocks(items: Iterable[Diagnosed]) -> list[Block]:
    groups = groupby(_ordered(items), key=lambda item: (item.severity, item.path))
    return [Block("", [_line(item) for item in own]) for _, own in groups]


def _line(item: Diagnosed, *, placed: bool = True) -> str:
    """``shop/main.py:5  error  missing-argument: item  in main``."""
    message = visible(item.message)
    if len(message) > _MAX_MESSAGE:
        message = message[: _MAX_MESSAGE - 1] + "…"
    place = f"{item.path}:{item.line}" if placed else item.path
    code = f"{item.code}: " if item.code else ""
    inside = f"  in {item.enclosing}" if item.enclosing else ""
    return f"{place}  {SEVERITIES[item.severity - 1]}  {code}{message}{inside}"


def _words(least: int) -> Sequence[str]:
    return SEVERITIES[:least]


def _counts(items: Iterable[Diagnosed]) -> str:
    counts = Counter(item.severity for item in items)
    return ", ".join(
        plural(counts[number], word) for number, word in enumerate(SEVERITIES, 1) if counts[number]
    )


def _as_data(items: Iterable[Diagnosed]) -> list[dict[str, Any]]:
    return [
        {
            "path": item.path,
            "line": item.line,
            "severity": SEVERITIES[item.severity - 1],
            "code": item.code,
            "message": item.message,
            "enclosing": item.enclosing,
        }
        for item in _ordered(items)
    ]
