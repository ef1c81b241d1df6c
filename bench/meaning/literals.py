"""Literals with known answers: texts between quotes in the code that stand in one place only.

People paste what a program printed. Asked as they are, without quotes, such texts look like a
question; the chunk that has them must still come first.
"""

import hashlib
import re
from pathlib import Path

from bench.meaning.questions import Question, source_files
from sightline.index.cutting.cut import cut

__all__ = ["literals"]

_LITERAL = re.compile(rb"[\"']([A-Za-z][A-Za-z ,.:'-]{14,78}[A-Za-z.])[\"']")


def literals(folder: Path, language: str, count: int) -> list[Question]:
    """So many texts of at least three words, the same ones each time."""
    found: dict[str, Question | None] = {}
    for path, data in source_files(folder, language):
        for chunk in cut(data, language):
            name = f"{chunk.container}.{chunk.name}".lstrip(".")
            for start, end in chunk.spans:
                for match in _LITERAL.finditer(data, start, end):
                    text = match[1].decode()
                    if len(text.split()) >= 3:
                        again = text in found or not chunk.name
                        found[text] = None if again else Question(text, path, name, "")
    kept = [question for question in found.values() if question is not None]
    kept.sort(key=lambda q: hashlib.sha256(f"{q.path} {q.text}".encode()).digest())
    return kept[:count]
