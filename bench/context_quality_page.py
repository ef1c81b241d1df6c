"""The page that tells how well code is chosen for questions with known answers."""

from typing import Any

__all__ = ["page"]


def page(results: dict[str, Any]) -> str:
    projects = "\n".join(
        f"| {name} {p['version']} | {p['files']:,} | {p['definitions']:,} | {p['docs']} | {p['tests']} |"
        for name, p in results["projects"].items()
    )
    limits = "\n".join(
        f"| {limit['name']} | {limit['allowed']:g} | {limit['measured']:.2f} | {'yes' if limit['kept'] else 'no'} |"
        for limit in results["limits"]
    )
    tables = "\n\n".join(
        f"### {title}\n\n{_table(results['recall'], kind)}"
        for kind, title in (
            ("all", "All questions"),
            ("docs", "From documentation"),
            ("tests", "From tests"),
        )
    )
    return f"""# Code for a question under a budget

The share of the needed definitions that are in the answer, mean over questions. The first number counts a definition whose head is there (a
signature is enough), the second one whose whole text is. Load {results["load_before"]} before and {results["load_after"]} after; recall does not depend on it.

![recall over budgets](context-quality.png)

| project | source files | definitions | questions from docs | from tests |
|---|---|---|---|---|
{projects}

## Recall

{tables}

The repository map was asked fewer questions because it takes seconds; "same questions" is Sightline on exactly those.

## Limits

| limit | at least | measured | kept |
|---|---|---|---|
{limits}

## How, and what is weak about it

- **Questions from documentation**: a paragraph that refers to functions, methods or classes, the references taken out. Needed is what they refer to. **Questions from tests**: the
  words of a test's name and docstring. Needed are the definitions that the test calls and only one definition is called so; what more than 3 % of the tests call is left out.
  Truth comes from Python's own parser and from names. At most 150 questions of each kind and project, chosen by a digest.
- Nobody has judged whether what is needed by this measure is enough, or whether something else would have done as well. A test's name often holds words of what it calls. Five Python
  projects; no other language.
- A signature counts as seen. That favours ways that shorten: beside it stands the number for whole texts.
- The ways: **BM25 over functions** is the textbook formula over functions, methods and class bodies with identifiers taken apart and tests left out. **whole files (v0)** is what context
  0.1.0 selects from the source files as documents, tests left out for it. **grep and read** orders files by how many of the question's words they hold and reads them from the top until the budget
  is spent. **repository map (aider)** is aider's map with the question's words as mentioned names; aider itself would go on to ask for files.
- The search model saw the code of aiohttp, click, networkx and werkzeug while it was trained, so the gain of **Sightline** over **Sightline, words alone** is too good there. Scrapy was held
  out; the weight of vectors was chosen on it and on tornado.
- The weights of the choice were set on other projects (jinja2, flask, marshmallow) with questions made in the same way.
"""


def _table(recall: dict[str, Any], kind: str) -> str:
    budgets = list(recall["Sightline"]["all"])
    lines = [
        "| | " + " | ".join(f"{int(b):,}" for b in budgets) + " |",
        "|---" * (len(budgets) + 1) + "|",
    ]
    for rival, kinds in recall.items():
        means = kinds.get(kind, {})
        cells = [f"{means[b][0]:.2f} / {means[b][1]:.2f}" if b in means else "" for b in budgets]
        lines.append(f"| {rival} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
