"""Questions with known answers, taken from the docs of a code base, and the code base without its
docs.

A question is the first sentence that somebody wrote about a declaration; its answer is that
declaration. So that finding it is no matter of matching the sentence itself, the docs of all
declarations are taken out before anything is indexed. ``shortened`` makes of a sentence what people
type: its telling words.
"""

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sightline.index.cutting.chunks import Chunk
from sightline.index.cutting.cut import cut
from sightline.index.reading.languages import language_of
from sightline.index.reading.roles import Role, role_of
from training.pairs import without_name
from training.split import LIGHT
from training.texts import first_sentence, split_doc

__all__ = ["Question", "questions", "shortened", "source_files", "without_docs"]

_LANGUAGES = {"typescript": ("typescript", "tsx")}


class Question(NamedTuple):
    text: str
    path: str
    #: The declaration that answers it.
    name: str
    code: str


class _Documented(NamedTuple):
    chunk: Chunk
    doc: str
    code: str
    #: The bytes of the file that are the doc.
    begin: int
    end: int


def _documented(data: bytes, language: str) -> Iterator[_Documented]:
    for chunk in cut(data, language):
        if not chunk.name or not chunk.spans:
            continue
        start, stop = chunk.spans[0]
        text = data[start:stop].decode("utf-8", "replace")
        parted = split_doc(text, language)
        if not parted.doc:
            continue
        before = 0
        while before < len(parted.code) and parted.code[before] == text[before]:
            before += 1
        if not text.endswith(parted.code[before:]):
            continue
        begin = start + len(text[:before].encode())
        end = start + len(text.encode()) - len(parted.code[before:].encode())
        yield _Documented(chunk, parted.doc, parted.code, begin, end)


def source_files(folder: Path, language: str) -> Iterator[tuple[str, bytes]]:
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.is_symlink():
            continue
        path = file.relative_to(folder).as_posix()
        if language_of(file.name).name in _LANGUAGES.get(language, (language,)):
            data = file.read_bytes()
            if b"\r" not in data and role_of(path, language, data[:4096]) is Role.SOURCE:
                yield path, data


def questions(folder: Path, language: str, count: int) -> list[Question]:
    """So many questions, the same ones each time; no two with the same words."""
    found: dict[str, Question] = {}
    twice: set[str] = set()
    for path, data in source_files(folder, language):
        for entry in _documented(data, language):
            name = f"{entry.chunk.container}.{entry.chunk.name}".lstrip(".")
            text = without_name(first_sentence(entry.doc), entry.chunk.name)
            if len(text.split()) < 4 or len(entry.code.split()) < 12:
                continue
            key = text.lower()
            if key in found:
                twice.add(key)
            found[key] = Question(text, path, name, entry.code)
    kept = [question for key, question in found.items() if key not in twice]
    kept.sort(key=lambda q: hashlib.sha256(f"{q.path} {q.name} {q.text}".encode()).digest())
    return kept[:count]


def without_docs(folder: Path, language: str, into: Path) -> int:
    """Writes the code base without the docs of its declarations; returns the number of files."""
    shutil.rmtree(into, ignore_errors=True)
    written = 0
    for path, data in source_files(folder, language):
        spans = sorted((entry.begin, entry.end) for entry in _documented(data, language))
        parts: list[bytes] = []
        place = 0
        for begin, end in spans:
            if begin >= place:
                parts.append(data[place:begin])
                place = end
        parts.append(data[place:])
        target = into / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"".join(parts))
        written += 1
    return written


def shortened(text: str, words: int = 5) -> str:
    """The first telling words of a sentence, as people type them."""
    small = frozenset(LIGHT)
    telling = [
        w.strip(".,;:()'\"`") for w in text.split() if w.lower().strip(".,;:()'\"`") not in small
    ]
    return " ".join(word for word in telling[:words] if word)
