"""Rounds of new questions, put in turns to Sightline, to a bare client, and to one behind a bridge.

A round is one document that no side has seen: its outline is asked for, then every other tool about
a symbol in it. Every question is new, so that nothing comes from memory, and the bare clients do
what any client has to: they open the document and ask. The bridge only passes messages on, so that
the price of a process of its own can be told from what Sightline does in it.
"""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

from bench.bare import BareClient
from bench.language_cases import Case
from bench.language_sides import TOOLS, arguments, call
from sightline.lsp.registry import Operation, builtin
from tests.languages.samples import offers
from tests.support.stdio import StdioServer

__all__ = ["SIDES", "Rounds"]

SIDES = ("own", "bridge", "bare")
#: A server may still be at work when the next side is asked, so every side comes after every other.
_ORDERS = list(permutations(SIDES))
#: Rounds stop after so many seconds, but not before there are a few.
_SECONDS = 60.0
_FEWEST = 4

#: What a bare client is asked; diagnostics only where they are pulled.
_METHODS: dict[Operation, str] = {
    "documentSymbols": "textDocument/documentSymbol",
    "definition": "textDocument/definition",
    "references": "textDocument/references",
    "hover": "textDocument/hover",
    "workspaceSymbols": "workspace/symbol",
    "documentDiagnostics": "textDocument/diagnostic",
}

Ask = Callable[[Operation, Path, dict[str, int], str], Any]
#: A document, a place in it and the name that stands there.
Spot = tuple[Path, dict[str, int], str]


class Rounds:
    def __init__(self, server: StdioServer, clients: Mapping[str, BareClient], case: Case) -> None:
        def own(name: Operation, file: Path, place: dict[str, int], symbol: str) -> Any:
            return call(server, TOOLS[name], arguments(name, file, place, symbol))

        self._sides: dict[str, Ask] = {"own": own}
        self._sides |= {side: _plain(client) for side, client in clients.items()}
        spec = builtin().servers[case.server]
        offered = [name for name in _METHODS if offers(case.server, name)]
        #: Where Sightline asks in another way than the protocol's plain one, it is asked alone.
        own_way: tuple[Operation, ...] = ()
        if spec.diagnostics != "pull":
            own_way += ("documentDiagnostics",)
        if spec.dialect == "tsserver":
            own_way += ("workspaceSymbols",)
        self._compared = [name for name in offered if name not in own_way]
        self._alone = [name for name in offered if name in own_way]
        self._times: dict[str, dict[str, list[float]]] = {side: {} for side in SIDES}
        self._totals: dict[str, list[float]] = {side: [] for side in SIDES}
        self._spots: list[Spot] = []
        self._compared_answers = self._told_less = 0
        #: Processor seconds of this process while it asked each side.
        self.client_cpu = dict.fromkeys(SIDES, 0.0)

    def run(self, files: list[Path], enough: int) -> int:
        """Rounds about these files, until there are enough; how many questions each was asked."""
        limit = time.monotonic() + _SECONDS
        for number, file in enumerate(files):
            done = len(self._totals["own"])
            if done == enough or (done >= _FEWEST and time.monotonic() > limit):
                break
            self._round(file, _ORDERS[number % len(_ORDERS)])
        return sum(map(len, self._times["own"].values()))

    def run_alone(self) -> None:
        """What only Sightline is asked, about the same places."""
        limit = time.monotonic() + _SECONDS
        for name in self._alone:
            times = self._times["own"].setdefault(name, [])
            for file, place, symbol in self._spots:
                if len(times) >= _FEWEST and time.monotonic() > limit:
                    break
                begin = time.perf_counter()
                self._sides["own"](name, file, place, symbol)
                times.append((time.perf_counter() - begin) * 1000)

    def _round(self, file: Path, sides: Sequence[str]) -> None:
        times: dict[str, dict[str, float]] = {side: {} for side in SIDES}
        answers: dict[str, dict[str, Any]] = {side: {} for side in SIDES}

        def ask(side: str, name: Operation, place: dict[str, int], symbol: str) -> None:
            begin, cpu = time.perf_counter(), time.process_time()
            answers[side][name] = self._sides[side](name, file, place, symbol)
            times[side][name] = (time.perf_counter() - begin) * 1000
            self.client_cpu[side] += time.process_time() - cpu

        for side in sides:
            ask(side, "documentSymbols", {}, "")
        symbols = answers["own"]["documentSymbols"]["symbols"]
        if not symbols:
            return  # nothing to ask about
        symbol = symbols[len(symbols) // 2]
        spot = (symbol["selectionRange"]["start"], symbol["name"])
        self._spots.append((file, *spot))
        for side in sides:
            for name in self._compared[1:]:
                try:
                    ask(side, name, *spot)
                except SystemExit:  # an answer that the server may have cut is refused
                    times["own"].pop(name, None)
        compared = set.intersection(*(set(times[side]) for side in SIDES))
        for side in SIDES:
            self._totals[side].append(sum(times[side][name] for name in compared))
            for each in compared:
                self._times[side].setdefault(each, []).append(times[side][each])
        for each in compared:
            told = {side: _size(answers[side][each]) for side in SIDES}
            self._compared_answers += 1
            self._told_less += told["bare"] < told["own"]

    def result(self) -> dict[str, Any]:
        own, bridge, plain = (statistics.median(self._totals[side]) for side in SIDES)
        tools = {
            name: {
                "own_ms": statistics.median(times),
                "own_p95_ms": statistics.quantiles(times, n=20)[-1],
                "bridge_ms": statistics.median(self._times["bridge"].get(name, [0.0])) or None,
                "bare_ms": statistics.median(self._times["bare"].get(name, [0.0])) or None,
            }
            for name, times in self._times["own"].items()
        }
        return {
            "rounds": len(self._totals["own"]),
            "tools": tools,
            "own_ms": own,
            "bridge_ms": bridge,
            "bare_ms": plain,
            "ratio": own / plain,
            "bridge_ratio": bridge / plain,
            "compared_answers": self._compared_answers,
            "told_less": self._told_less,
        }


def _plain(client: BareClient) -> Ask:
    def ask(name: Operation, file: Path, place: dict[str, int], symbol: str) -> Any:
        given = arguments(name, file, place, symbol)
        if name != "workspaceSymbols":
            given = {"textDocument": {"uri": client.open(file)}, **given}
            given |= {"context": {"includeDeclaration": True}} if name == "references" else {}
        return client.request(_METHODS[name], given)

    return ask


def _size(answer: Any) -> int:
    """How much an answer tells: the items of its lists, one below the other; any text is one."""
    if isinstance(answer, list):
        return sum(1 + _size(item.get("children")) for item in answer if isinstance(item, dict))
    if isinstance(answer, dict):
        if "contents" in answer:
            return 1 if answer["contents"] else 0
        return sum(_size(value) for value in answer.values() if isinstance(value, list))
    return 0 if answer is None else 1
