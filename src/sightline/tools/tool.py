"""What a tool is, and what it may return.

A tool turns arguments into a ``Question`` (canonical, gated, comparable) and a question into an
``Answer`` (complete and in canonical order). Questions are separate because they are also the keys
of cursors, of shared computations and of remembered answers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from sightline.contract.settings import Family
from sightline.contract.source import Source
from sightline.workspace.view import Epoch, View

__all__ = ["Answer", "Desk", "Page", "Paged", "Question", "Tool", "ToolInfo", "Whole", "plural"]

A = TypeVar("A", bound=msgspec.Struct)
A_contra = TypeVar("A_contra", bound=msgspec.Struct, contravariant=True)


class Progress(Protocol):
    """How a tool tells how far it is. Calling it costs nothing when nobody listens."""

    def __call__(
        self, message: str, *, phase: str, done: int | None = None, total: int | None = None
    ) -> None: ...


def silent(message: str, *, phase: str, done: int | None = None, total: int | None = None) -> None:
    """Progress that nobody asked for."""


@dataclass(frozen=True)
class Desk:
    """What a tool works with during one call."""

    view: View
    source: Source
    progress: Progress = silent


@dataclass(frozen=True)
class Question(Generic[A]):
    """Canonical arguments. ``fields`` are those that decide the result, in the contract's order."""

    arguments: A
    fields: tuple[str | int | bool, ...]
    #: The document the question is about, for keys that depend on its language server.
    uri: str | None = None
    #: Work done while asking, such as the opened document; not part of the question's identity.
    notes: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Whole:
    """A complete, unpaged payload. ``shorten`` may make it smaller to fit a number of bytes."""

    payload: msgspec.Struct
    shorten: Callable[[int], msgspec.Struct] | None = None


@dataclass(frozen=True)
class Page:
    """What a summary is written from."""

    items: Sequence[msgspec.Struct]
    returned: int
    more: bool


@dataclass(frozen=True)
class Paged:
    """A complete list. ``summary`` describes one page of it."""

    items: Sequence[msgspec.Struct]
    summary: Callable[[int, bool, Sequence[bool]], str]
    #: One flag per item that a summary may want to know, such as "this file was capped".
    flags: Sequence[bool] = ()


Answer = Whole | Paged


@dataclass(frozen=True)
class ToolInfo:
    """A tool's entry in the catalogue, without its schemas."""

    name: str
    family: Family
    title: str
    description: str
    schema_version: int
    #: The epochs its answers depend on, in the contract's order.
    epochs: tuple[Epoch, ...]
    paged: bool = False
    read_only: bool = True


class Tool(Protocol[A_contra]):
    """One file of this package defines one of these."""

    info: ToolInfo
    arguments: type[Any]

    def ask(self, view: View, arguments: A_contra) -> Question[Any]:
        """Canonicalise and gate. Raises the failure that the arguments deserve."""
        ...

    async def answer(self, desk: Desk, question: Question[Any]) -> Answer: ...


def plural(count: int, one: str, many: str | None = None) -> str:
    """``1 definition``, ``2 definitions``."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def also(sentence: str, outside: int = 0, uncovered: Sequence[str] = (), note: str = "") -> str:
    """A summary with what was left out of the answer, and why."""
    if outside:
        sentence += f" {outside} outside the workspace not shown."
    if uncovered:
        sentence += f" No language server for {', '.join(uncovered)}."
    if note:
        sentence += f" {note}"
    return sentence


Members = Mapping[str, Any]
