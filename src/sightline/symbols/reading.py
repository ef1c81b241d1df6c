"""What is printed of a symbol itself: its source, its outline, its type."""

import os
from collections.abc import Sequence
from contextlib import suppress

from sightline.contract.failures import Failure, NotFound
from sightline.contract.source import Source
from sightline.contract.uris import is_under
from sightline.index.cutting.declarations import Declaration
from sightline.symbols.files import Files
from sightline.symbols.symbol import Symbol

__all__ = ["outline_of_file", "outline_of_folder", "outline_of_symbol", "source_lines", "type_of"]


def source_lines(files: Files, path: str, first: int, last: int) -> list[str]:
    """Numbered lines as they are, but for control characters."""
    lines = files.lines(path)
    if last == len(lines) - 1 and not lines[last]:
        last -= 1
    width = len(str(last + 1))
    return [
        f"{number + 1:>{width}}  {_plain(lines[number])}".rstrip()
        for number in range(first, min(last + 1, len(lines)))
    ]


def outline_of_symbol(files: Files, symbol: Symbol) -> list[str]:
    """What a class, or whatever else holds declarations, declares inside."""
    around = f"{symbol.container}.{symbol.name}" if symbol.container else symbol.name
    inside = [
        each
        for each in files.declared(symbol.path)
        if each.container == around or each.container.startswith(around + ".")
    ]
    return [_line(files, symbol.path, each, around.count(".") + 1) for each in inside]


def outline_of_file(files: Files, path: str, deepest: int = 60) -> list[str]:
    """What a file declares, as deep as that."""
    return [_line(files, path, each, 0) for each in files.declared(path) if _depth(each) <= deepest]


def outline_of_folder(
    files: Files, folder: str, known: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """What each file of a folder declares at its top, by path."""
    found: list[tuple[str, list[str]]] = []
    for path in known:
        if is_under(path, folder):
            with suppress(Failure):  # of what cannot be read there is no outline
                found.append((files.shown(path), outline_of_file(files, path, 0)))
    return found


async def type_of(source: Source, files: Files, symbol: Symbol) -> list[str]:
    """What the language server says of a symbol when one points at it."""
    hover = await source.hover(files.document(symbol.path), symbol.position)
    if hover is None:
        raise NotFound(f"nothing is known of the type of {symbol.name}; read its source instead")
    text = "\n".join(part.value for part in hover.contents)
    lines = files.view.redact(text).splitlines()
    return [f"  {line}" for line in lines if line.strip() and not line.startswith(("```", "---"))]


def is_folder(path: str) -> bool:
    return os.path.isdir(path)


def _depth(declared: Declaration) -> int:
    return declared.container.count(".") + 1 if declared.container else 0


def _line(files: Files, path: str, declared: Declaration, base: int) -> str:
    symbol = files.symbol(path, declared)
    indent = "  " * (_depth(declared) - base + 1)
    said = f"{indent}{declared.line + 1} {declared.kind} {declared.name}"
    signature = symbol.signature
    return f"{said}  {signature}" if signature and signature != declared.name else said


def _plain(line: bytes) -> str:
    text = line.decode("utf-8", "replace")
    return "".join(each if each.isprintable() or each == "\t" else " " for each in text)
