"""``search``: one box for names, questions, phrases, literals and patterns."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from msgspec import UNSET, Struct, UnsetType

from sightline.contract.failures import InvalidArguments
from sightline.contract.values import Position
from sightline.tools.tool import Desk, Paged, Question, ToolInfo, plural, without
from sightline.workspace.view import SOURCE_EPOCHS, View

if TYPE_CHECKING:
    from sightline.index.index import Answer
    from sightline.index.searching.search import Item, Request

INFO = ToolInfo(
    name="search",
    family="index",
    title="Search the code",
    description="Finds code by name, by a question in plain words, by a quoted phrase, or a whole "
    "issue text; mode literal or regex for exact text. Best first, tests and docs last unless "
    "asked for. Each hit has a snippet and a position ready for vscode.lsp tools. Paged.",
    schema_version=2,
    epochs=SOURCE_EPOCHS,
    paged=True,
    page_size=10,
)

#: What a token is taken for, in bytes of JSON.
_TOKEN_BYTES = 4
_ITEM_BYTES = 2_048
_SNIPPET = 700
_MIN_SNIPPET = 120
#: How much of a name a summary repeats.
_MAX_NAME = 80


class SearchArguments(Struct, frozen=True):
    query: str
    mode: Literal["auto", "literal", "regex"] = "auto"
    path: list[str] = []
    language: str = ""
    kind: str = ""
    symbol: str = ""
    pageSize: int | None = None  # noqa: N815
    cursor: str | None = None
    maxTokens: int | None = None  # noqa: N815
    explain: bool = False
    ranking: Literal["words", "full", "auto"] | None = None


class SearchItem(Struct, frozen=True):
    id: str
    path: str
    uri: str
    startLine: int  # noqa: N815
    endLine: int  # noqa: N815
    position: Position
    language: str
    kind: str
    name: str
    score: float
    snippet: str
    reasons: list[str] | UnsetType = UNSET


class Search:
    info = INFO
    arguments = SearchArguments

    def ask(self, view: View, arguments: SearchArguments) -> Question[SearchArguments]:
        from sightline.index.searching.filters import Filters, language_named
        from sightline.index.searching.search import Request
        from sightline.index.searching.snippets import Limits

        # In a text or a pattern a blank is a character like any other.
        query = arguments.query.strip() if arguments.mode == "auto" else arguments.query
        if not query.strip():
            raise InvalidArguments("query must not be blank")
        if arguments.ranking is not None and arguments.mode != "auto":
            raise InvalidArguments("ranking is for mode auto; other modes do not rank")
        if arguments.mode == "regex":
            from sightline.index.searching.scanning import compile_pattern

            compile_pattern(query)
        language = language_named(arguments.language) if arguments.language else ""
        filters = Filters(tuple(arguments.path), language, arguments.kind, arguments.symbol)
        room = arguments.maxTokens
        characters = _SNIPPET if room is None else room * _TOKEN_BYTES // 8
        limits = Limits(characters=max(_MIN_SNIPPET, min(_SNIPPET, characters)))
        ranking = arguments.ranking or "auto"
        request = Request(query, arguments.mode, filters, arguments.explain, limits, ranking)
        fields: tuple[str | int | bool, ...] = (
            _unbarred(query),
            arguments.mode,
            *(f"path:{_unbarred(glob)}" for glob in arguments.path),
            f"language:{language}",
            f"kind:{arguments.kind}",
            f"symbol:{_unbarred(arguments.symbol)}",
            arguments.explain,
            room or 0,
            *([] if ranking == "auto" else [f"ranking:{ranking}"]),
        )
        budget = None if room is None else room * _TOKEN_BYTES
        return Question(arguments, fields, notes=request, budget=budget)

    async def answer(self, desk: Desk, question: Question[SearchArguments]) -> Paged:
        request: Request = question.notes
        index = await desk.index()
        first = question.arguments.pageSize or self.info.page_size
        found = await index.search(request, desk.progress, first=first)
        items = _Items(found, explain=request.explain)

        def summary(returned: int, more: bool, flags: Sequence[bool]) -> str:
            return _summary(found, request, returned, more=more) + without(desk.view.gone)

        return Paged(
            items,
            summary,
            item_bytes=_ITEM_BYTES,
            slow=True,
            made=found.made,
            preliminary=found.preliminary,
            holds=found.holds,
            members=_members(found, request),
        )


def _members(found: "Answer", request: "Request") -> dict[str, str]:
    if request.mode != "auto":
        return {}
    by_words = found.preliminary or request.ranking == "words"
    return {"ranking": "words" if by_words else "full"}


def _unbarred(text: str) -> str:
    """A text in which no bar can be taken for one that joins fields.

    >>> print(_unbarred("a|b"), _unbarred("plain"))
    a\\|b plain
    """
    return text.replace("\\", "\\\\").replace("|", "\\|")


class _Items(Sequence[SearchItem]):
    """The hits, shown when a page asks for them."""

    def __init__(self, answer: "Answer", *, explain: bool) -> None:
        self._answer = answer
        self._explain = explain

    def __len__(self) -> int:
        return len(self._answer)

    @overload
    def __getitem__(self, place: int) -> SearchItem: ...

    @overload
    def __getitem__(self, place: slice) -> list[SearchItem]: ...

    def __getitem__(self, place: int | slice) -> SearchItem | list[SearchItem]:
        if isinstance(place, slice):
            return [self[number] for number in range(*place.indices(len(self)))]
        return _shown(self._answer.item(place), explain=self._explain)


def _shown(item: "Item", *, explain: bool) -> SearchItem:
    return SearchItem(
        id=item.id,
        path=item.path,
        uri=item.uri,
        startLine=item.start_line,
        endLine=item.end_line,
        position=item.position,
        language=item.language,
        kind=item.kind,
        name=item.name,
        score=round(item.score, 4),
        snippet=item.snippet,
        reasons=list(item.reasons) if explain else UNSET,
    )


def _is_odd(glob: str) -> bool:
    """Whether a glob is one that other programs take and that fits nothing here."""
    bare = glob.removeprefix("!")
    return bare.startswith(("/", "~", "file:")) or "{" in bare


def _advice(request: "Request", *, fileless: bool) -> str:
    """What may find something where nothing was found. ``fileless``: no file passes the filters."""
    filters = request.filters
    if any(map(_is_odd, filters.paths)):
        return "path takes globs relative to a root: no absolute paths, no {a,b}."
    if fileless and filters.paths:
        both = " and language" if filters.language else ""
        return f"No indexed file passes path{both}; globs start at the root, such as src/**."
    if fileless and filters.language:
        return f"No indexed file is in {filters.language}; index_status lists the languages."
    if filters.symbol or filters.kind:
        return (
            "Names declared inside functions are not indexed as symbols; leave symbol and kind out"
            " to search all text."
        )
    if request.mode == "auto":
        return "Use mode literal for punctuation, single letters and parts of words."
    return ""


def _missing(found: "Answer", request: "Request") -> str:
    """That a name is not there, and the names that are spelled nearly so."""
    missing = found.missing
    if missing is None:
        return ""
    name = repr(missing.name[:_MAX_NAME])
    if missing.symbol:
        said = f"Nothing is declared as {name}"
    else:
        where = " that pass the filters" if request.filters.any else ""
        said = f"{name} occurs nowhere in the indexed files{where}"
    return f"{said}; near names: {', '.join(missing.near)}." if missing.near else f"{said}."


def _counted(found: "Answer", request: "Request", returned: int, *, more: bool) -> str:
    total = len(found)
    if not total:
        return "No hits." if request.mode == "auto" else "No matches."
    if request.mode == "auto":
        counted = f"{total} or more" if found.capped else str(total)
        sentence = f"Returned {returned} of {counted} ranked hits"
        if found.missing is not None:
            sentence += " for parts of it"
    else:
        least = "at least " if found.capped else ""
        sentence = (
            f"Returned {returned} of {least}{plural(total, 'hit')}"
            f" ({least}{plural(found.lines, 'matching line')},"
            f" {least}{plural(found.matches, 'match', 'matches')})"
        )
    return f"{sentence}; next page available." if more else f"{sentence}."


def _summary(found: "Answer", request: "Request", returned: int, *, more: bool) -> str:
    said = [
        _missing(found, request),
        _counted(found, request, returned, more=more),
        found.note,
        "" if len(found) else _advice(request, fileless=found.fileless),
    ]
    if request.mode != "auto":
        left_out = [plural(found.skipped, "file")] if found.skipped else []
        left_out += [plural(found.closed, "closed folder")] if found.closed else []
        if left_out:
            said.append(f"{' and '.join(left_out)} not indexed; index_status says why.")
    return " ".join(filter(None, said))
