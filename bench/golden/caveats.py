"""What the sentences of a summary say, as classes: which answers are clean, what covers a miss.

A sentence covers a place when it names its file, or does not name all of its files. A sentence
without any file covers everything, but so loosely that such misses are counted apart.
"""

import re
from typing import NamedTuple

__all__ = ["Caveat", "caveats"]

#: The first one that fits.
_CLASSES = [
    ("unknown-symbol", r"is not known as a symbol"),
    ("unknown-type", r"where the type is unknown"),
    ("unresolved-import", r"behind imports that do not resolve"),
    ("override", r"as a member of a base class or subclass"),
    ("copy", r"behind a copy or a build"),
    ("macro", r"in macros"),
    ("other-build", r"in code that this build leaves out"),
    ("quoted", r"in quoted commands"),
    ("excluded-file", r"in files that the server does not read"),
    ("other-language", r"in files of other languages"),
    ("other-root", r"in other roots"),
    ("over-budget", r"not checked"),
    ("header-by-itself", r"does not compile by itself"),
    ("unreadable", r"could not be (?:read|looked into)|not UTF-8"),
]
_LIST = re.compile(r"\(([^()]*)\)")
_MORE = re.compile(r"[\d,]+ more$")
_COUNT = re.compile(r" in (?:more than )?([\d,]+) (?:other )?(?:lines?|places?)\b")
_NO_GAP = re.compile(r"outside the workspace not shown")
_NOT_A_START = re.compile(r"^Returned [\d,]+(?: of [\d,]+)? references?(?: \(capped\))?\.\s*")


class Caveat(NamedTuple):
    name: str
    #: The files that it names; none if it says nothing of files.
    files: tuple[str, ...]
    #: Whether those are all.
    complete: bool
    #: How many lines or places it speaks of; none if it does not say.
    most: int | None = None

    def covers(self, path: str) -> bool:
        return bool(self.files) and (path in self.files or not self.complete)

    @property
    def is_general(self) -> bool:
        return not self.files


def caveats(summary: str) -> list[Caveat]:
    """The caveats of a summary, one per sentence, without what is only counted."""
    rest = _NOT_A_START.sub("", summary)
    found = []
    for sentence in re.split(r"(?<=\.)\s+(?=\S)", rest):
        if sentence and not _NO_GAP.search(sentence):
            name = next((name for name, words in _CLASSES if re.search(words, sentence)), "other")
            found.append(_read(name, sentence))
    return found


def _read(name: str, sentence: str) -> Caveat:
    counted = _COUNT.search(sentence)
    count = int(counted[1].replace(",", "")) if counted and "more than" not in counted[0] else None
    for listed in reversed(_LIST.findall(sentence)):
        parts = [part.strip() for part in listed.split(",")]
        files = tuple(part for part in parts if "/" in part or "." in part)
        if files:
            return Caveat(name, files, not _MORE.search(parts[-1]), count)
    return Caveat(name, (), complete=False)
