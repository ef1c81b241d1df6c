"""Languages that use a symbol by its name, in files that no server of it reads.

A component of TypeScript may be used in Vue, and a function of Python in a notebook. Which of these
languages a name stands in is looked for in the text, so that only those are named in an answer.
"""

import asyncio
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from sightline.text.sources import SourceTexts, word
from sightline.workspace.changes import Change

__all__ = ["UnreadLanguages", "spellings"]


def spellings(name: str) -> list[str]:
    """How a name may be written in such files: templates have their own way.

    >>> spellings("UserCard"), spellings("user")
    (['UserCard', 'user-card'], ['user'])
    """
    in_template = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()
    return [name, in_template] if "-" in in_template else [name]


class UnreadLanguages:
    """Those of one root, by the names of the registry."""

    def __init__(self, files: Callable[[str], Iterable[str]]) -> None:
        self._files = files
        self._texts: dict[str, SourceTexts] = {}

    def changed(self, changes: Sequence[Change]) -> None:
        for texts in self._texts.values():
            texts.changed(changes)

    async def having(self, languages: Iterable[str], name: str) -> set[str]:
        """Those of some languages that a name stands in, or may."""
        found: set[str] = set()
        for each in languages:
            if each not in self._texts:
                self._texts[each] = SourceTexts(partial(self._files, each))
            if await asyncio.to_thread(self._has, self._texts[each], name):
                found.add(each)
        return found

    def _has(self, texts: SourceTexts, name: str) -> bool:
        for spelled in spellings(name):
            hits = texts.search(word(spelled))
            if hits is None or hits or texts.unread:
                return True
        return False
