"""Small cases of what was silently wrong once: archives in which every place is marked by hand.

A mark is a name and a number: all marks of one name are the places of one symbol, and each of them
is asked about. ``$ROOT`` is where the files lie.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.golden.pins import CACHE
from bench.golden.sample import Question
from bench.golden.truth import Truth
from tests.markers.archive import Archive

__all__ = ["CASES", "cases"]

#: What the file of answers is called.
CASES = "cases"
_ARCHIVES = Path(__file__).with_name("cases")


def cases() -> Iterator[tuple[str, Path, list[Truth]]]:
    """Each case: its name, its folder and what is true of it."""
    for file in sorted(_ARCHIVES.glob("*.txt")):
        archive = Archive.read(file.read_text(encoding="utf-8"))
        root = CACHE / "cases" / file.stem
        shutil.rmtree(root, ignore_errors=True)
        for name, text in archive.files.items():
            archive.files[name] = text.replace("$ROOT", str(root.resolve()))
        archive.write_to(root)
        (root / ".git").mkdir()
        yield file.stem, root.resolve(), list(_truths(archive))


def _truths(archive: Archive) -> Iterator[Truth]:
    symbols: dict[str, list[tuple[str, int, int]]] = {}
    for mark, (path, line, column) in archive.marks.items():
        symbols.setdefault(mark.rstrip("0123456789"), []).append((path, line + 1, column))
    for places in symbols.values():
        for path, line, column in places:
            text = archive.files[path].split("\n")[line - 1][column:]
            name = re.match(r"\w+", text)
            assert name is not None
            question = Question(path, line, column, name[0], "marked", len(places))
            yield Truth(question, dict.fromkeys(places, "m"))
