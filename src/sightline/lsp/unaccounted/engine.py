"""Completes what a server says of a symbol by resolving every other occurrence of its name.

    reported          cart.add("tea")        a place that the server reported
    added             shop.cart.add(x)       it leads to the symbol, and was not reported
    dropped           basket.add(x)          it leads to something else
    unaccounted       unknown.add(x)         it leads nowhere

At most ``MOST_ASKED`` occurrences are resolved for one question; what is left then is counted as
over budget. The order of files and offsets decides which, so the same question gives the same
answer.
"""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec

from sightline.contract.source import SourceFile
from sightline.contract.texts import line_length_utf16
from sightline.contract.unaccounted import Reason, Unaccounted, merged
from sightline.contract.uris import path_in
from sightline.contract.values import Location, Position, Range
from sightline.lsp.server.server import Server
from sightline.lsp.unaccounted.candidates import Question, TextOf
from sightline.lsp.unaccounted.python import PythonRules
from sightline.lsp.unaccounted.resolving import MOST_ASKED, Completed, Resolving
from sightline.lsp.unaccounted.rules import Rules
from sightline.lsp.unaccounted.script import ScriptRules
from sightline.text.scopes import grammar_of
from sightline.text.sources import Hits, SourceTexts, offset_of, position_of, word

__all__ = ["MOST_ASKED", "RULES", "Completed", "are_imports", "as_import", "complete", "stand_in"]

#: So many names of a symbol are looked for, and so much text in less time than a thread takes.
_MOST_NAMES, _QUICK = 4, 64 << 10
_SCRIPT = ScriptRules()
RULES: Mapping[str, Rules] = {
    "python": PythonRules(),
    "javascript": _SCRIPT,
    "javascriptreact": _SCRIPT,
    "typescript": _SCRIPT,
    "typescriptreact": _SCRIPT,
}


async def complete(
    server: Server,
    texts: SourceTexts,
    language: str,
    name: str,
    definitions: Sequence[Location],
    places: Sequence[Location],
    text_of: TextOf,
    asked: str,
) -> Completed:
    """The places of a symbol, and what the rest of the occurrences of its name are.

    ``name`` is the one that was asked about, ``places`` what the server reported for it, and
    ``text_of`` gives the text of a file that may lie outside of the project, ``asked`` is the
    path of the one that was asked about.
    """
    rules = RULES.get(language)
    if rules is None or not name or not definitions:
        return Completed(places)
    places = [place for place in places if not _is_misreported(rules, texts, name, place)]
    names = _names(name, places, texts) if language != "python" else [name]
    added, parts = list[Location](), list[Unaccounted]()
    for each in names:
        hits = await texts.find(word(each))
        if hits is None:
            parts.append(Unaccounted(Reason.OVER_BUDGET, 1))
            continue
        known = [*places, *added]
        if _covers(hits, known):
            continue
        question = Question(
            rules, texts, grammar_of(language), each, definitions, known, text_of, asked
        )
        if sum(len(texts.text(path)) for path in hits) <= _QUICK:
            candidates = question.candidates(hits)
        else:
            candidates = await asyncio.to_thread(question.candidates, hits)
        resolving = Resolving(server, rules, texts, candidates.symbol, grammar_of(language))
        resolved = await resolving.resolve(candidates)
        added += resolved.places
        other = each if each != name else ""
        parts += (msgspec.structs.replace(part, name=other) for part in resolved.unaccounted)
    return Completed([*places, *added], merged(parts))


def stand_in(language: str, text: bytes, name: str, at: Position) -> Position:
    """The position that tells the server what the name at a position is: mostly the same."""
    rules = RULES.get(language)
    if rules is None or not name:
        return at
    end = offset_of(text, at)
    start = text.rfind(name.encode(), 0, end + len(name.encode()))
    other = rules.stand_in(text, name, start) if start >= 0 else None
    return at if other is None else position_of(text, other)


def are_imports(language: str, definitions: Sequence[Location], text_of: TextOf) -> bool:
    """Whether imports that lead nowhere are all there is of a definition."""
    rules = RULES.get(language)
    if rules is None or not definitions:
        return False
    for place in definitions:
        text = text_of(place.uri)
        offset = offset_of(text, place.range.start)
        if rules.origin(text, path_in(place.uri), offset) is None:
            return False
    return True


def as_import(
    language: str, file: SourceFile, text: bytes, name: str, at: Position
) -> list[Location]:
    """The place of a name in an import that leads nowhere: all there is of a definition."""
    rules = RULES.get(language)
    end = offset_of(text, at)
    start = text.rfind(name.encode(), 0, end + len(name.encode())) if name else -1
    if rules is None or start < 0 or rules.origin(text, file.path, start) is None:
        return []
    first = position_of(text, start)
    last = Position(first.line, first.character + line_length_utf16(name))
    return [Location(file.uri, Range(first, last))]


def _names(name: str, places: Sequence[Location], texts: SourceTexts) -> list[str]:
    """The name that was asked about, and others under which the same symbol was reported."""
    found = [name]
    for place in places:
        if len(found) == _MOST_NAMES:
            break
        there = texts.name_at(path_in(place.uri), place.range.start).decode("utf-8", "replace")
        if there and there not in found and there != "default":
            found.append(there)
    return found


def _is_misreported(rules: Rules, texts: SourceTexts, name: str, place: Location) -> bool:
    path = path_in(place.uri)
    text = texts.text(path)
    return bool(text) and rules.is_misreported(text, name, texts.offset(path, place.range.start))


def _covers(hits: Hits, places: Sequence[Location]) -> bool:
    """Whether every occurrence was reported, told by their numbers alone."""
    counts: dict[str, set[Position]] = {}
    for place in places:
        counts.setdefault(path_in(place.uri), set()).add(place.range.start)
    return all(len(starts) <= len(counts.get(path, ())) for path, starts in hits.items())
