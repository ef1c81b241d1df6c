"""What the tools that take symbols by name have in common: their arguments, and batches."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from sightline.contract.failures import (
    Failure,
    InvalidArguments,
    NotFound,
    TooMany,
    Unavailable,
    UriInvalid,
    WorkspaceDenied,
)
from sightline.tools.tool import Block, Desk, Said, Section

if TYPE_CHECKING:  # the grammars take a moment to load, which only these tools have to wait for
    from sightline.symbols.addressing import Named, Resolver

__all__ = ["BUDGET", "TOKEN_BYTES", "Part", "each_of", "others"]

#: Tokens of an answer, where the caller does not say how many.
BUDGET = 2_000
TOKEN_BYTES = 4
_OF_ONE = (InvalidArguments, NotFound, TooMany, Unavailable, UriInvalid, WorkspaceDenied)


class Part(NamedTuple):
    """What is said of one address."""

    sections: Sequence[Section]
    #: The same as data.
    data: Sequence[Any]


async def each_of(
    desk: Desk, texts: Sequence[str], say: "Callable[[Resolver, str, Named], Awaitable[Part]]"
) -> Said:
    """What is said of every address. One that fails says so; if all do, it is a failure."""
    resolver = (await desk.symbols()).resolver(desk.view, desk.source)
    sections: list[Section] = []
    data: list[Any] = []
    failed: list[Failure] = []
    for text in dict.fromkeys(texts):
        try:
            part = await say(resolver, text, await resolver.resolve(text))
        except _OF_ONE as failure:
            failed.append(failure)
            sections.append(Section(failure.advice.splitlines()))
            data.append({"of": text, "error": failure.advice})
        else:
            sections += part.sections
            data += [{"of": text, **each} for each in part.data]
    if len(failed) == len(dict.fromkeys(texts)):
        raise failed[0] if len(failed) == 1 else NotFound("\n".join(map(str, failed)))
    return Said(sections, {"items": data})


def others(text: str, named: "Named") -> list[Section]:
    """The addresses of what a text could mean besides what is answered."""
    if not named.others:
        return []
    more = named.count - len(named.symbols)
    head = f"{more} more {'symbol' if more == 1 else 'symbols'} called {text}; ask by address"
    return [Section([head], [Block("", [f"  {each}" for each in named.others])])]
