"""Languages that use a symbol by its name, in files that no server of it reads.

A component of TypeScript may be used in Vue, and a function of Python in a notebook. Which of these
languages a name stands in is looked for in the text, so that only those are named in an answer.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.lsp.coverage.in_files import in_files
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

    async def unaccounted(self, languages: Iterable[str], name: str) -> Sequence[Unaccounted]:
        """The places of a name in the files of some languages."""
        found = list[Unaccounted]()
        for each in languages:
            if each not in self._texts:
                self._texts[each] = SourceTexts(partial(self._files, each))
            texts = self._texts[each]
            for spelled in spellings(name):
                hits = await texts.find(word(spelled))
                if hits is None:
                    found.append(Unaccounted(Reason.OVER_BUDGET, 1))
                else:
                    found.append(in_files(Reason.OTHER_LANGUAGE, texts, hits))
        return found
