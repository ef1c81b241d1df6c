"""Figures of bench/results as pictures: ``python -m tools.plots`` writes docs/images.

Bars, drawn as SVG by hand: one file, no library, the same bytes from the same figures. ``--check``
fails when a picture is not that of the figures.
"""

import html
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.generated import write

__all__ = ["FOLDER", "PLOTS", "draw"]

_ROOT = Path(__file__).parent.parent
_RESULTS = _ROOT / "bench/results"
FOLDER = _ROOT / "docs/images"
_WIDTH, _LEFT, _BAR, _GAP = 760, 250, 18, 14
_COLOURS = ("#2563a8", "#9aa5b1")


@dataclass(frozen=True)
class Group:
    """One label and a bar for each side."""

    label: str
    values: Sequence[float]


@dataclass(frozen=True)
class Plot:
    title: str
    unit: str
    sides: Sequence[str]
    groups: Sequence[Group]


def draw(plot: Plot) -> str:
    """A plot as SVG."""
    highest = max((value for group in plot.groups for value in group.values), default=1) or 1
    scale = (_WIDTH - _LEFT - 110) / highest
    parts: list[str] = []
    y = 64
    for group in plot.groups:
        middle = y + len(group.values) * _BAR / 2 + 4
        parts.append(_text(_LEFT - 10, middle, group.label, "end"))
        for colour, value in zip(_COLOURS, group.values, strict=False):
            width = max(1.0, value * scale)
            parts.append(
                f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR - 3}" '
                f'fill="{colour}"/>'
            )
            parts.append(_text(_LEFT + width + 6, y + 12, f"{value:,.4g}", "start"))
            y += _BAR
        y += _GAP
    legend = [
        f'<rect x="{_LEFT + 190 * n}" y="34" width="12" height="12" fill="{colour}"/>'
        + _text(_LEFT + 190 * n + 18, 45, side, "start")
        for n, (colour, side) in enumerate(zip(_COLOURS, plot.sides, strict=False))
    ]
    title = _text(10, 20, f"{plot.title} ({plot.unit}; shorter is better)", "start", bold=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {y}" width="{_WIDTH}" '
        f'height="{y}" font-family="sans-serif" font-size="13" role="img">'
        f'<title>{html.escape(plot.title)}</title><rect width="100%" height="100%" fill="#fff"/>'
        + "".join([title, *legend, *parts])
        + "</svg>\n"
    )


def _text(x: float, y: float, text: str, anchor: str, *, bold: bool = False) -> str:
    weight = ' font-weight="bold"' if bold else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="#1b1f24" text-anchor="{anchor}"{weight}>'
        f"{html.escape(text)}</text>"
    )


def _wire(found: dict[str, Any]) -> Plot:
    groups = [
        Group(name, [row["sides"]["Sightline"]["cpu_us"], row["sides"]["SDK"]["cpu_us"]])
        for name, row in found["messages"].items()
    ]
    sides = ["Sightline", f"official SDK {found['versions']['mcp']}"]
    return Plot("What a message costs the server", "µs of CPU", sides, groups)


def _lsp(found: dict[str, Any]) -> Plot:
    names = {"auto": "changes announced", "sweep": "changes swept for"}
    groups = [
        Group(names[how], [row["own_ms"], row["bare_ms"]]) for how, row in found["warm"].items()
    ]
    return Plot("A new question, median", "ms", ["through Sightline", "the bare server"], groups)


def _tokens(found: dict[str, Any]) -> Plot:
    rows = [row for row in found["questions"] if row["instead"]]
    groups = [Group(row["tool"], [row["answer"], row["instead"]]) for row in rows]
    return Plot("What a model reads", "bytes", ["Sightline", "grep and read"], groups)


#: Every picture, by the file of its figures.
PLOTS: Mapping[str, Callable[[dict[str, Any]], Plot]] = {
    "wire": _wire,
    "lsp": _lsp,
    "tokens": _tokens,
}


def render(name: str) -> str:
    return draw(PLOTS[name](json.loads((_RESULTS / f"{name}.json").read_text(encoding="utf-8"))))


if __name__ == "__main__":
    sys.exit(write({FOLDER / f"{name}.svg": render(name) for name in PLOTS}, __doc__))
