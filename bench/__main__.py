"""``python -m bench`` lists the benches; with names or ``all`` it runs them."""

import importlib
import sys

BENCHES = {
    "context": "465 documents of 5 MB: building a cache, asking it, beside the direct way",
    "lsp": "the seven tools on django: completeness, repeatability, added time",
    "wire": "CPU per message, start-up and parallel connections, beside the official Python SDK",
}


def main(names: list[str]) -> int:
    if not names:
        width = max(map(len, BENCHES))
        print("\n".join(f"{name:<{width}}  {line}" for name, line in BENCHES.items()))
        return 0
    chosen = list(BENCHES) if names == ["all"] else names
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
