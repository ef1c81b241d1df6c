"""The page that tells how well questions are answered."""

from typing import Any

__all__ = ["page"]

_NAMES = {
    "python": "Python: django",
    "scripts": "TypeScript and JavaScript: rxjs, effect, OpenLayers",
}
_NEEDED = {"python": 1.6, "scripts": 1.8}


def page(results: dict[str, Any]) -> str:
    parts = [_part(_NAMES[name], results[name]) for name in _NAMES]
    limits = "\n".join(_limits(name, results[name]) for name in _NAMES)
    return f"""# Questions with known answers

Public packages, brought from the registries when the bench runs. The question is the first sentence of a function's
documentation, the answer is the function; all documentation texts are blanked in the copy that is searched, and sentences with
the function's name in them are not asked. SQLite FTS5 (porter stemming, bm25, any word may match) has exactly the same chunks. An
answer counts when the chunk is the one that declares the function. Load {results["load"]}.

{"".join(parts)}## Limits

| limit | allowed | measured |
|---|---|---|
{limits}

Each question's place is in `bench/results/quality.txt`; a change of ranking shows there as a diff.

## How far this can be trusted

The answers are never tests, so part of what moving tests down brings is built in; the row without it is the fairer comparison.
Documentation sentences are written by people who saw the code; issue texts are not, and no history of changes is asked for here.
"""


def _part(title: str, found: dict[str, Any]) -> str:
    rows = "\n".join(
        f"| {name} | {row['mrr']:.3f} | {row['r1']:.3f} | {row['r5']:.3f} | {row['r10']:.3f} |"
        for name, row in [
            ("Sightline", found["own"]),
            ("Sightline, nothing moved down", found["undemoted"]),
            ("SQLite FTS5", found["fts5"]),
        ]
    )
    names = found["names"]
    return f"""## {title}

{found["files"]:,} files, {found["chunks"]:,} chunks, {found["questions"]} questions. Ten hits take {found["tokens"]:.0f} tokens.

| engine | MRR@10 | recall@1 | recall@5 | recall@10 |
|---|---|---|---|---|
{rows}

A definition whose name nothing else has, asked for by that name: first in {names["first"]:.1%} of {names["asked"]}.

"""


def _limits(name: str, found: dict[str, Any]) -> str:
    ratio = found["own"]["mrr"] / found["fts5"]["mrr"]
    fair = found["undemoted"]["mrr"] / found["fts5"]["mrr"]
    return (
        f"| {name}: MRR@10 against FTS5, at least | {_NEEDED[name]} | {ratio:.2f} (nothing moved down: {fair:.2f}) |\n"
        f"| {name}: unique name first, at least | 97 % | {found['names']['first']:.1%} |"
    )
