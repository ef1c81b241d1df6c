"""The page that says what the golden found: docs/evidence/golden.md."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bench.golden.bases import BASES
from bench.golden.compare import WITHOUT_ITSELF, Compared, Miss
from tools.evidence import write_page

__all__ = ["totals", "write"]

_LANGUAGES = {"python": "Python", "typescript": "TypeScript", "javascript": "JavaScript", "c": "C"}
_SHOWN = 4

Answers = Mapping[str, Sequence[Compared]]
Times = Mapping[str, Mapping[str, Any]]


def totals(answers: Sequence[Compared]) -> dict[str, int]:
    """What is counted of a code base."""
    misses = [miss for each in answers for miss in each.misses]
    return {
        "questions": len(answers),
        "clean": sum(_is_clean(each) for each in answers),
        "without itself": sum(each.result.endswith(WITHOUT_ITSELF) for each in answers),
        "refused": sum(each.result.startswith("refused") for each in answers),
        "silent": sum(miss.how == "silent" for miss in misses),
        "questions with silent": sum(any(m.how == "silent" for m in e.misses) for e in answers),
        "general": sum(miss.how == "general" for miss in misses),
        "questions with general": sum(any(m.how == "general" for m in e.misses) for e in answers),
        "disputed": sum(miss.how == "disputed" for miss in misses),
        "said": sum(miss.how == "said" for miss in misses),
        "added": sum(len(each.added) for each in answers),
    }


def _is_clean(each: Compared) -> bool:
    return not each.caveats and not each.result.startswith("refused")


def write(answers: Answers, cases: Sequence[Compared], times: Times) -> None:
    """``cases`` are the answers about the small cases."""
    write_page("golden.md", "make golden", _page(answers, cases, times))


def _page(answers: Answers, cases: Sequence[Compared], times: Times) -> str:
    rows = [_row(name, answers[name], times.get(name, {})) for name in answers]
    by_language = [
        _language(title, [each for name in answers for each in answers[name] if _is(name, key)])
        for key, title in _LANGUAGES.items()
    ]
    return f"""# References on pinned code bases, beside independent indexers

{sum(map(len, answers.values()))} questions about identifiers in code, chosen at random with a seed:
declarations and uses of functions, classes, methods, fields, parameters, locals and modules. Each is
asked over `sightline stdio`, one session per code base, with ty, tsgo and clangd. The answers are
compared with pyright and scip-python, tsserver and scip-typescript, and libclang. Every answer is in
`bench/golden/answers`, every place that an indexer names in `bench/golden/truth`.

"Missing" are places that at least one indexer names and the answer does not: silent if no sentence
of the summary covers the place; "general" if only sentences without files do; "said" if a sentence
names the file or does not name all its files, and counts as many lines. Where one indexer names a place and the server of the
other does not, it is disputed, and in none of these columns. "Added" are places that no indexer names.
"Clean" is an answer without a caveat; that places lie outside the workspace is none. "Without itself"
are answers in which the place that was asked about is missing. In brackets: in how many questions.

| code base | what it is | questions | clean | silent places (questions) | general | said | added | without itself | first ms | p50 ms | p95 ms |
|---|---|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

| language | questions | clean | silent places (questions) | general | said | added | without itself |
|---|---|---|---|---|---|---|---|
{chr(10).join(by_language)}

## What was silently wrong once

Small files in which every place of a symbol is marked by hand, and asked about at each
(`bench/golden/cases`). "Right" is an answer with exactly these places.

| case | asked | right | missing | of these silent | added |
|---|---|---|---|---|---|
{chr(10).join(_cases(cases))}

## Silent misses by what the place looks like

{_classes(answers)}

{chr(10).join(_listed(answers))}

## Caveats, by how many answers have them

{_caveats(answers)}

## Weak points

- What all indexers leave out is not seen; where one of them is wrong, it counts as missing here.
  The letters in the lists of places say who names it: p pyright, s scip, t tsserver, c libclang.
- pyright counts uses of overridden members and of stubs as one symbol in more cases than ty does.
- libclang sees one build: what stands under a condition that does not hold is known to nobody.
- Where no indexer knows the symbol, nothing is counted as missing or added.
- The class of a miss is guessed from the text of its line.
- Times are those of one run on a shared machine; "first" includes the start of the server.
"""


def _cases(answers: Sequence[Compared]) -> Iterable[str]:
    by_case: dict[str, list[Compared]] = {}
    for each in answers:
        by_case.setdefault(each.place.partition("/")[0], []).append(each)
    for name, found in by_case.items():
        t = totals(found)
        right = sum(not each.misses and not each.added for each in found)
        missing = sum(len(each.misses) for each in found)
        cells = (name, t["questions"], right, missing, t["silent"], t["added"])
        yield f"| {' | '.join(map(str, cells))} |"


def _is(name: str, language: str) -> bool:
    return BASES[name].language == language


def _row(name: str, answers: Sequence[Compared], times: Mapping[str, Any]) -> str:
    t = totals(answers)
    base = BASES[name]
    cells = (
        name,
        f"{_LANGUAGES[base.language]}: {base.about}",
        t["questions"],
        _percent(t["clean"], t["questions"]),
        f"{t['silent']} ({t['questions with silent']})",
        f"{t['general']} ({t['questions with general']})",
        t["said"],
        t["added"],
        t["without itself"],
        *(times.get(each, "") for each in ("first", "p50", "p95")),
    )
    return f"| {' | '.join(map(str, cells))} |"


def _language(title: str, answers: Sequence[Compared]) -> str:
    t = totals(answers)
    cells = (
        title,
        t["questions"],
        _percent(t["clean"], t["questions"]),
        f"{t['silent']} ({t['questions with silent']})",
        f"{t['general']} ({t['questions with general']})",
        t["said"],
        t["added"],
        t["without itself"],
    )
    return f"| {' | '.join(map(str, cells))} |"


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "-"


def _silent(answers: Sequence[Compared]) -> Iterable[tuple[Compared, Miss]]:
    return ((each, miss) for each in answers for miss in each.misses if miss.how == "silent")


def _classes(answers: Answers) -> str:
    places: Counter[tuple[str, str]] = Counter()
    questions: Counter[tuple[str, str]] = Counter()
    for name, found in answers.items():
        for each in found:
            guesses = [miss.guess for miss in each.misses if miss.how == "silent"]
            places.update((guess, BASES[name].language) for guess in guesses)
            questions.update((guess, BASES[name].language) for guess in set(guesses))
    rows = []
    for guess in sorted({guess for guess, _ in places}):
        keys = [(guess, language) for language in _LANGUAGES]
        cells = (f"{places[key]} ({questions[key]})" if places[key] else "" for key in keys)
        rows.append(f"| {guess} | {' | '.join(cells)} |")
    head = f"| class | {' | '.join(_LANGUAGES.values())} |"
    return "\n".join((head, "|---|---|---|---|---|", *rows))


def _listed(answers: Answers) -> Iterable[str]:
    for name, found in answers.items():
        by_question: dict[str, list[str]] = {}
        for each, miss in _silent(found):
            path, line, column = miss.place
            place = f"{path}:{line}:{column} {miss.guess} ({miss.letters})"
            asked = f"`{each.name}` ({each.kind}) at {each.place}"
            by_question.setdefault(asked, []).append(place)
        lines = [
            f"- {asked}: {len(places)}: {', '.join(places[:_SHOWN])}"
            f"{', ...' if len(places) > _SHOWN else ''}"
            for asked, places in by_question.items()
        ]
        if lines:
            yield "\n".join((f"### {name}\n", *lines, ""))


def _caveats(answers: Answers) -> str:
    counts = {
        title: Counter(
            said
            for name in answers
            if _is(name, key)
            for each in answers[name]
            for said in each.caveats
        )
        for key, title in _LANGUAGES.items()
    }
    total: Counter[str] = sum(counts.values(), Counter())
    rows = [
        f"| {said} | {' | '.join(str(counts[title][said]) for title in counts)} |"
        for said, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))
    ]
    return "\n".join((f"| caveat | {' | '.join(counts)} |", "|---|---|---|---|---|", *rows))
