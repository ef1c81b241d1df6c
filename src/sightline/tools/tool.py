"""What a tool is, and what it may return.

A tool turns arguments into a ``Question`` (canonical, gated, comparable) and a question into an
``Answer`` (complete and in canonical order). Questions are separate because they are also the keys
of cursors, of shared computations and of remembered answers.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from sightline.context.engine import ContextEngine
from sightline.contract.failures import Failure, Unavailable
from sightline.contract.limits import DEFAULT_PAGE_SIZE
from sightline.contract.settings import Family
from sightline.contract.source import Covered, Expected, Source
from sightline.contract.texts import listed
from sightline.workspace.gate import Hidden
from sightline.workspace.view import Epoch, View

if TYPE_CHECKING:  # the index brings numpy, which only its own tools should have to wait for
    from sightline.index.index import Index
    from sightline.symbols.engine import Symbols

__all__ = [
    "Answer",
    "Block",
    "Desk",
    "Paged",
    "Question",
    "Said",
    "Section",
    "Tool",
    "ToolInfo",
    "Whole",
    "always",
    "left_out",
    "no_index",
    "no_symbols",
    "plural",
    "within",
    "without",
]

#: So many languages are named in a summary.
_MAX_NAMES = 8
#: So many roots that are gone.
_MAX_GONE = 3
_encoder = msgspec.json.Encoder()
A = TypeVar("A", bound=msgspec.Struct)
A_contra = TypeVar("A_contra", bound=msgspec.Struct, contravariant=True)


class Progress(Protocol):
    """How a tool tells how far it is. Calling it costs nothing when nobody listens."""

    def __call__(
        self, message: str, *, phase: str, done: int | None = None, total: int | None = None
    ) -> None: ...


def silent(message: str, *, phase: str, done: int | None = None, total: int | None = None) -> None:
    """Progress that nobody asked for."""


async def no_index() -> "Index":
    """Where the index family is not served."""
    raise Unavailable("there is no index here; serve the index family")


async def no_symbols() -> "Symbols":
    """Where the code family is not served."""
    raise Unavailable("symbols have no names here; serve the code family")


class Desk(Struct, frozen=True):
    """What a tool works with during one call."""

    view: View
    source: Source
    progress: Progress = silent
    #: The index, made when it is first asked for.
    index: Callable[[], Awaitable["Index"]] = no_index
    context: ContextEngine | None = None
    #: What finds symbols by name, made when it is first asked for.
    symbols: Callable[[], Awaitable["Symbols"]] = no_symbols

    @property
    def caches(self) -> ContextEngine:
        """The context caches, which are there whenever their tools are listed."""
        assert self.context is not None
        return self.context


class Question(Struct, Generic[A], frozen=True):
    """Canonical arguments. ``fields`` are those that decide the result, in the contract's order."""

    arguments: A
    fields: tuple[str | int | bool, ...]
    #: The document the question is about, for keys that depend on its language server.
    uri: str | None = None
    #: Work done while asking, such as the opened document; not part of the question's identity.
    notes: Any = None
    #: How many bytes a page may take, where the caller said so.
    budget: int | None = None


class Whole(Struct, frozen=True):
    """A complete, unpaged payload. ``shorten`` may make it smaller to fit a number of bytes.

    Bytes are JSON that is already spelled; they are passed on as they are.
    """

    payload: msgspec.Struct | bytes
    shorten: Callable[[int], msgspec.Struct] | None = None
    #: Whether it is also made shorter to fit ``max_response_bytes``: a text of which the rest can
    #: be asked for, or whose cut the contract demands. A list over that cap is refused.
    cut_to_cap: bool = False


def within(items: Sequence[msgspec.Struct], size: int) -> int:
    """How many of the items, from the first, take at most ``size`` bytes of JSON. At least one."""
    count = 0
    for item in items:
        size -= len(_encoder.encode(item)) + 1
        if size < 0:
            break
        count += 1
    return max(count, min(1, len(items)))


def always() -> bool:
    return True


class Paged(Struct, frozen=True):
    """A complete list. ``summary`` describes one page of it."""

    items: Sequence[msgspec.Struct]
    summary: Callable[[int, bool, Sequence[bool]], str]
    #: One flag per item that a summary may want to know, such as "this file was capped".
    flags: Sequence[bool] = ()
    #: How many bytes an item takes at most, where encoding them all ahead would be a waste.
    item_bytes: int | None = None
    #: Whether looking at an item is work of its own, such as reading a file.
    slow: bool = False
    #: How many of the first items are there without that work.
    made: int = 0
    #: Whether the list lacks something that it may have later though no file changed, such as an
    #: order by vectors. It is kept beside the list that has it, and its cursors go on in it.
    preliminary: bool = False
    #: Whether it is still what a first page would be cut from.
    holds: Callable[[], bool] = always
    #: Members of the payload beside the items.
    members: Mapping[str, str] = {}


class Block(Struct, frozen=True):
    """Lines that belong together, such as those of one file, below a title."""

    title: str
    lines: Sequence[str]


class Section(Struct, frozen=True):
    """The part of a text about one thing. A page that begins inside it repeats its head."""

    head: Sequence[str]
    blocks: Sequence[Block] = ()


class Said(Struct, frozen=True):
    """A complete answer in words. Pages of it end between blocks where they can."""

    sections: Sequence[Section]
    #: The same as data, for people's programs.
    data: Any = None


Answer = Whole | Paged | Said


class ToolInfo(Struct, frozen=True):
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
    #: Whether an answer may be shared and remembered while those epochs stand still. False where
    #: it depends on something else, which must be looked at every time.
    repeatable: bool = True
    page_size: int = DEFAULT_PAGE_SIZE
    #: What else helps where an answer is over the byte cap.
    too_large: str | None = None
    #: Whether a question with these arguments is not about the workspace after all.
    elsewhere: Callable[[Any], bool] = lambda arguments: False
    #: What of a question a source can begin with before the workspace is known.
    expects: Callable[["Question[Any]"], Expected | None] = lambda question: None
    #: Broken rules of the schema, by path and keyword, that are a failure of their own.
    refusals: Mapping[tuple[str, str], type[Failure]] = {}


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


def left_out(
    hidden: Mapping[Hidden, int],
    covered: Covered[Any] | None = None,
    lacking: str = "No language server for",
    gone: Sequence[str] = (),
) -> str:
    """What a summary says at its end of that which is not in the answer, and why.

    ``lacking`` begins the sentence that names the languages that are not covered. ``gone`` are
    roots of which nothing is known.
    """
    sentences = [f"{hidden[why]:,} {why.value} not shown." for why in Hidden if hidden.get(why)]
    if covered is not None:
        if covered.uncovered:
            sentences.append(f"{lacking} {listed(covered.uncovered, _MAX_NAMES)}.")
        if covered.note:
            sentences.append(covered.note)
    return "".join(f" {sentence}" for sentence in sentences) + without(gone)


def without(gone: Sequence[str]) -> str:
    """What a summary says at its end of roots of which nothing is known.

    >>> without(["/a"])
    ' The folder /a is gone; what it held is missing.'
    >>> without(["/a", "/b", "/c", "/d", "/e"]).partition("/c ")[2]
    'is gone; what it held is missing. So is what 2 more folders held.'
    """
    said = [f" The folder {root} is gone; what it held is missing." for root in gone[:_MAX_GONE]]
    more = len(gone) - len(said)
    return "".join(said) + (f" So is what {plural(more, 'more folder')} held." if more else "")
