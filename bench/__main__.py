"""``python -m bench`` lists the benches; with names or ``all`` it runs them."""

import importlib
import sys

BENCHES = {
    "agreement": "two servers of one language, asked for the same references (counts only)",
    "cold_starts": "every language server from a cold start: complete, repeatable (counts only)",
    "context": "465 documents of 5 MB: building a cache, asking it, beside the direct way",
    "context_code": "caches of code on django: building, loading, asking",
    "context_quality": "what is chosen for questions with known answers, beside other ways",
    "dense_scale": "vectors on 30,000 files: what they add to searches, edits and memory",
    "index": "the index on 30,000 files: build, size, updates, searches, beside ripgrep",
    "languages": "every language server on a real code base, beside a bare client",
    "lsp": "the seven tools on django: completeness, repeatability, added time",
    "peers": "Sightline, cclsp and Serena on the same questions, without a network",
    "search_peers": "Sightline beside other searches: build, answers, time, what is found",
    "quality": "questions with known answers: what is found first, beside SQLite FTS5",
    "vscode": "what is added to the window's own providers, in a real VS Code",
    "wire": "CPU per message, start-up and parallel connections, beside the official Python SDK",
}

#: Those with targets of their own, because they take long and install what they compare with.
_APART = {"agreement", "cold_starts", "languages", "peers", "search_peers"}


def main(names: list[str]) -> int:
    if not names:
        width = max(map(len, BENCHES))
        print("\n".join(f"{name:<{width}}  {line}" for name, line in BENCHES.items()))
        return 0
    chosen = [n for n in BENCHES if n not in _APART] if names == ["all"] else names
    unknown = [name for name in chosen if name not in BENCHES]
    if unknown:
        print(f"no bench {unknown[0]!r}; python -m bench lists them", file=sys.stderr)
        return 2
    good = True
    for name in chosen:
        good = importlib.import_module(f"bench.{name}").run() and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
