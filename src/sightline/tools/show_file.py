"""``show_file``: numbered lines of a file, by path, by symbol, or by the id of a hit."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET, Struct, UnsetType

from sightline.contract.failures import InvalidArguments, NotFound
from sightline.contract.uris import is_unicode
from sightline.contract.values import Position
from sightline.tools.paths import files_at
from sightline.tools.tool import Desk, Question, ToolInfo, Whole
from sightline.workspace.gate import GatedFile
from sightline.workspace.view import SOURCE_EPOCHS, View

if TYPE_CHECKING:
    from sightline.index.show import Shown

INFO = ToolInfo(
    name="show_file",
    family="index",
    title="Show a file",
    description="Numbered lines of one file: by path and lines, by the name of a symbol (with path "
    "if several share it), or by the id of a search hit, which also tells whether the file changed "
    "since. Lines count from 1.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
    # Any file of the workspace may be shown, also one whose changes nobody announces.
    repeatable=False,
)

_TOKEN_BYTES = 4
_DEFAULT_LINES = 400


class ShowFileArguments(Struct, frozen=True):
    path: str = ""
    symbol: str = ""
    id: str = ""
    startLine: int | None = None  # noqa: N815
    endLine: int | None = None  # noqa: N815
    maxTokens: int | None = None  # noqa: N815


class ShownSymbol(Struct, frozen=True):
    name: str
    kind: str
    container: str
    position: Position


class FileText(Struct, frozen=True):
    path: str
    uri: str
    language: str
    startLine: int  # noqa: N815
    endLine: int  # noqa: N815
    totalLines: int  # noqa: N815
    text: str
    truncated: bool
    #: Only for ids: whether the file is no longer the one the hit was found in.
    changed: bool | UnsetType = UNSET
    symbol: ShownSymbol | UnsetType = UNSET
    summary: str = ""


class ShowFile:
    info = INFO
    arguments = ShowFileArguments

    def ask(self, view: View, arguments: ShowFileArguments) -> Question[ShowFileArguments]:
        if arguments.id and (arguments.path or arguments.symbol):
            raise InvalidArguments("pass id alone, or path, or symbol with or without path")
        if not (arguments.id or arguments.path or arguments.symbol):
            raise InvalidArguments("pass path, symbol or id")
        if arguments.symbol and (arguments.startLine or arguments.endLine):
            raise InvalidArguments("a symbol has its own lines; leave startLine and endLine out")
        first, last = arguments.startLine, arguments.endLine
        if first is not None and last is not None and last < first:
            raise InvalidArguments("endLine must not be before startLine")
        file = _admit(view, arguments.path) if arguments.path else None
        if file is not None and not is_unicode(file.path):
            raise NotFound("no answer can name the file: its path is not UTF-8; rename it")
        fields = (
            file.uri if file else "",
            arguments.symbol,
            arguments.id,
            first or 0,
            last or 0,
            arguments.maxTokens or 0,
        )
        return Question(arguments, fields, uri=file.uri if file else None, notes=file)

    async def answer(self, desk: Desk, question: Question[ShowFileArguments]) -> Whole:
        from sightline.index import show

        asked = question.arguments
        file: GatedFile | None = question.notes
        changed: bool | UnsetType = UNSET
        symbol: ShownSymbol | UnsetType = UNSET
        also: tuple[str, ...] = ()
        first, last = asked.startLine, asked.endLine
        if asked.id:
            index = await desk.index()
            target = await show.by_id(index, asked.id, desk.progress)
            file = desk.view.gate.admit_path(target.real)
        elif asked.symbol:
            index = await desk.index()
            real = file.path if file is not None else ""
            target = await show.by_symbol(index, asked.symbol, real, desk.progress)
            file = desk.view.gate.admit_path(target.real)
            first, last, also = target.start_line, target.end_line, target.also
        assert file is not None
        text = await asyncio.to_thread(show.read_text, desk.view.gate, file)
        if asked.symbol:
            position = text.place(target.position)
            symbol = ShownSymbol(target.name, target.kind, target.container, position)
        if asked.id:
            changed = not text.hash.hex().startswith(asked.id.rpartition(":")[2])
            first, last = show.lines_of_hit(target, first, last, len(text.lines))
        limit = asked.maxTokens * _TOKEN_BYTES if asked.maxTokens else None
        shown = show.lines(text, first, last, _DEFAULT_LINES, limit)

        def payload(part: "Shown") -> FileText:
            return _payload(desk.view, file, part, changed, symbol, also)

        def shorten(size: int) -> FileText:
            """Fewer lines, so that the payload takes at most about ``size`` bytes of JSON."""
            return payload(show.fewer(shown, max(0, size - 1_024)))

        return Whole(payload(shown), shorten, cut_to_cap=True)


def _admit(view: View, path: str) -> GatedFile:
    """The file a path names: a file: URI, an absolute path, or one relative to a root."""
    if path.startswith("file:"):
        return view.gate.admit(path)
    found, problem = files_at(view, path)
    if len(found) > 1:
        raise InvalidArguments("the path is in several roots; pass its file: URI")
    if not found:
        raise problem or NotFound("no folder is open")
    return found[0]


def _payload(
    view: View,
    file: GatedFile,
    shown: "Shown",
    changed: bool | UnsetType,
    symbol: ShownSymbol | UnsetType,
    also: Sequence[str],
) -> FileText:
    root = view.gate.roots.containing(file.path)
    path = file.path[len(root.real) + 1 :] if root is not None else file.path
    summary = f"Lines {shown.start}-{shown.end} of {shown.total}"
    if shown.more:
        summary += " (cut; pass startLine for more)"
    if shown.cut:
        summary += "; long lines are cut"
    if changed is True:
        summary += "; the file changed since the hit was found"
    if also:
        summary += f"; also declared at {', '.join(also)}"
    return FileText(
        path=path,
        uri=file.uri,
        language=shown.language,
        startLine=shown.start,
        endLine=shown.end,
        totalLines=shown.total,
        text=shown.text,
        truncated=shown.more or shown.cut,
        changed=changed,
        symbol=symbol,
        summary=summary + ".",
    )
