"""Answers to the questions that were just asked, known by the very words of the question.

Agents ask the same again and again. What then has to be looked at is only what could have changed:
whether the state of the workspace is the same, whether the document still has the bytes it had,
and whether the answer is still kept. It is a shorter way to what ``AnswerCache`` and ``Retained``
hold, never a second truth: what they dropped is not answered from here.

Only for tools whose question depends on nothing but the view and its one document.
"""

from collections.abc import Callable, Hashable
from typing import NamedTuple

import msgspec

from sightline.contract.source import SourceFile
from sightline.workspace.view import View

__all__ = ["Recent", "Recently"]

_MAX_ENTRIES = 64
_MAX_RESULT_BYTES = 64 << 10


class Recently(NamedTuple):
    """One answer, and what it stands on."""

    #: The typed arguments. Holding them keeps their identity, by which they are found, theirs.
    typed: msgspec.Struct
    view: View
    #: The document, and how the client spelled its URI; ``None`` for a question without one.
    document: SourceFile | None
    spelled: str
    #: Whether the store it came from still has it. Asking counts as a use there.
    is_kept: Callable[[], bool]
    result: bytes

    def holds(self, view: View | None) -> bool:
        """Whether the answer is what asking again in this view would give."""
        if view is not self.view:
            return False
        if self.document is not None and not view.has_still(self.spelled, self.document):
            return False
        return self.is_kept()


class Recent:
    """A bounded number of them, all of the newest view."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, Recently] = {}

    def find(self, typed: msgspec.Struct, *asker: Hashable) -> Recently | None:
        return self._entries.get((id(typed), *asker))

    def keep(self, entry: Recently, *asker: Hashable) -> None:
        if len(entry.result) > _MAX_RESULT_BYTES:
            return
        if len(self._entries) >= _MAX_ENTRIES:
            self._entries.clear()
        self._entries[(id(entry.typed), *asker)] = entry

    def clear(self) -> None:
        self._entries.clear()
