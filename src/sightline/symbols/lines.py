"""How answers about symbols are printed: headers with exact totals, a path once and then its lines.

``  7 Gift.add  call  super().add(item)`` is a line: its number, what it is in, what the name does
there, and the source.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from sightline.contract.unaccounted import MOST_PLACES, WHERE
from sightline.symbols.files import Files
from sightline.symbols.roles import ROLES
from sightline.symbols.uses import Left, Use, Uses

__all__ = ["by_file", "header", "unaccounted"]

_PLURALS = {"call": "calls", "write": "writes", "read": "reads", "type": "types"}
_PLURALS |= {"import": "imports", "declaration": "declarations", "text": "in text"}


def header(shown: Sequence[Use], uses: Uses) -> str:
    """``3 uses in 3 files: 3 calls, 1 in tests; unaccounted 0``."""
    count, whole = len(shown), len(uses.items)
    many = f"{count:,} of {whole:,}" if count != whole else f"{count:,}"
    said = f"{many} {'use' if whole == 1 else 'uses'}"
    if shown:
        files = len({each.path for each in shown})
        said += f" in {files:,} {'file' if files == 1 else 'files'}"
        roles = Counter(each.role for each in shown)
        parts = [_counted(role, roles[role]) for role in ROLES if roles[role]]
        tests = sum(each.in_tests for each in shown)
        parts += [f"{tests:,} in tests"] if tests else []
        said += ": " + ", ".join(parts)
    left = sum(each.unaccounted.count for each in uses.left)
    return f"{said}; unaccounted {left:,}"


def _counted(role: str, count: int) -> str:
    return f"{count:,} {role if count == 1 and role != 'text' else _PLURALS[role]}"


def by_file(files: Files, shown: Sequence[Use]) -> list[tuple[str, list[str]]]:
    """The uses of each file as lines, below its path. A line that has several is printed once."""
    return [
        (files.shown(path), [_line(list(there)) for _, there in groupby(group, _line_of)])
        for path, group in groupby(shown, lambda each: each.path)
    ]


def _line_of(use: Use) -> int:
    return use.line


def _line(there: Sequence[Use]) -> str:
    roles = Counter(each.role for each in there)
    said = ", ".join(role if count == 1 else f"{role} x{count}" for role, count in roles.items())
    first = there[0]
    return f"  {first.line + 1} {first.around}  {said}  {first.source}"


def unaccounted(files: Files, left: Left) -> tuple[str, list[str]]:
    """A title that says why, and the places as lines."""
    count = left.unaccounted.count
    places = f"{count:,} places" if count > 1 else "1 place"
    may = "they may be uses" if count > 1 else "it may be a use"
    other = f" of {left.unaccounted.name}" if left.unaccounted.name else ""
    title = f"unaccounted: {places}{other} {WHERE[left.unaccounted.reason]}; {may}"
    if len(left.unaccounted.places) >= MOST_PLACES:
        title += f" (the first {len(left.places):,} lines)"
    lines = [
        f"  {files.shown(each.path)}:{each.line + 1} {each.around}  {each.source}"
        for each in left.places
    ]
    return title, lines
