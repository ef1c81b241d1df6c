"""``vscode.lsp.hover``: the type and documentation shown for a position."""

import msgspec
from msgspec import UNSET, Struct, UnsetType

from sightline.contract.limits import MAX_HOVER_FRAGMENT_CODE_POINTS, MAX_HOVER_FRAGMENTS
from sightline.contract.orders import canonical, hover_key
from sightline.contract.standing import no_name_at
from sightline.contract.texts import cut_code_points, cut_utf8
from sightline.contract.values import HoverContent, Range
from sightline.tools.positions import PositionArguments, ask_position
from sightline.tools.tool import Desk, Question, ToolInfo, Whole
from sightline.workspace.view import SOURCE_EPOCHS

INFO = ToolInfo(
    name="vscode.lsp.hover",
    family="lsp",
    title="Hover",
    description="Type, signature and documentation at a position. Positions are 0-based.",
    schema_version=1,
    epochs=SOURCE_EPOCHS,
)


class HoverText(Struct, frozen=True):
    contents: list[HoverContent]
    range: Range | UnsetType
    summary: str


class Hover:
    info = INFO
    arguments = PositionArguments
    ask = staticmethod(ask_position)

    async def answer(self, desk: Desk, question: Question[PositionArguments]) -> Whole:
        file, position = question.notes, question.arguments.position
        found = await desk.source.hover(file, position)
        if found is None:
            near = no_name_at(file.text, position)
            return Whole(HoverText([], UNSET, f"No hover information.{f' {near}' * bool(near)}"))
        clean = [HoverContent(c.kind, desk.view.redact(c.value)) for c in found.contents]
        contents = canonical((c for c in clean if c.value), hover_key)
        text = _clamp(contents, found.range)
        return Whole(text, lambda size: _shorten(text, size), cut_to_cap=True)


def _clamp(contents: list[HoverContent], span: Range | UnsetType) -> HoverText:
    cut = len(contents) > MAX_HOVER_FRAGMENTS
    kept: list[HoverContent] = []
    for content in contents[:MAX_HOVER_FRAGMENTS]:
        value, shortened = cut_code_points(content.value, MAX_HOVER_FRAGMENT_CODE_POINTS)
        cut = cut or shortened
        kept.append(HoverContent(content.kind, value) if shortened else content)
    if not kept:
        return HoverText([], UNSET, "No hover information.")
    return HoverText(kept, span, _summary(cut))


def _shorten(text: HoverText, size: int) -> HoverText:
    """The last fragment cut so that the payload takes at most ``size`` bytes of JSON."""
    if not text.contents or len(msgspec.json.encode(text)) <= size:
        return text
    *first, last = text.contents
    fits, too_long = 0, len(last.value.encode()) + 1
    best = HoverText([*first, HoverContent(last.kind, "")], text.range, _summary(cut=True))
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        shorter = HoverContent(last.kind, cut_utf8(last.value, middle))
        candidate = HoverText([*first, shorter], text.range, _summary(cut=True))
        if len(msgspec.json.encode(candidate)) <= size:
            fits, best = middle, candidate
        else:
            too_long = middle
    return best


def _summary(cut: bool) -> str:
    return "Hover available (truncated)." if cut else "Hover available."
