"""What the catalogues say and what their versions promise is changed on purpose only.

The listing of each family is pinned byte by byte, and so is the promise of each tool
(tests/support/promises.py). ``pytest tests/tools/test_promises.py --update-pins`` renews both; it
refuses where a promise is broken and ``schema_version`` did not rise. Read the diff.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sightline.calls.listing import Listing
from sightline.contract.settings import Settings
from sightline.protocol.revisions import NEWEST
from sightline.server.compose import catalogue_for
from sightline.tools.catalogue import CATALOGUE
from sightline.tools.tool import Tool
from tests.support.promises import breaks, promise_of

FOLDER = Path(__file__).parent.parent / "vectors"
PROMISES = FOLDER / "promises.json"
FAMILIES = ("code", "lsp", "index", "context")
NAMES = [tool.info.name for tool in CATALOGUE]

Promise = dict[str, Any]
Change = Callable[[Promise], None]


def pinned() -> dict[str, Promise]:
    promises: dict[str, Promise] = json.loads(PROMISES.read_text(encoding="utf-8"))
    return promises


def promised() -> dict[str, Promise]:
    """The promises of this tree, as they are kept in the file."""
    made = {tool.info.name: promise_of(tool) for tool in CATALOGUE}
    promises: dict[str, Promise] = json.loads(json.dumps(made))
    return promises


def wrong_with(old: dict[str, Promise], new: dict[str, Promise]) -> list[str]:
    """Every promise that was broken without a new version."""
    found = [f"{name} is gone; a tool is not dropped or renamed" for name in old.keys() - new]
    for name in old.keys() & new.keys():
        before, now = old[name]["version"], new[name]["version"]
        if now < before:
            found.append(f"{name}: schema_version went down from {before} to {now}")
        if now == before:
            found += [
                f"{name}: {what}; raise schema_version" for what in breaks(old[name], new[name])
            ]
    return sorted(found)


@pytest.mark.requirement("ST-2.2-bump", "ST-3.1-names", "ST-10-schema-snapshot")
def test_a_promise_is_changed_only_with_its_version(request: pytest.FixtureRequest) -> None:
    old, new = pinned(), promised()
    assert wrong_with(old, new) == []
    if request.config.getoption("--update-pins"):
        PROMISES.write_text(json.dumps(new, indent=1) + "\n", encoding="utf-8")
        old = new
    assert old == new, "renew the pins: pytest tests/tools/test_promises.py --update-pins"
    assert list(old) == NAMES


@pytest.mark.requirement(
    "GW-2.1-pinned", "GW-9-together", "ST-3.2-six", "ST-3.1-names", "ST-10-schema-snapshot"
)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_listing_is_pinned(family: str, request: pytest.FixtureRequest) -> None:
    """Names, texts, schemas, annotations, versions; ``toolingVersion`` is masked."""
    settings, _ = Settings.parse({"families": [family]})
    listing = Listing(catalogue_for(settings), "0.0.0-masked").result("dotted", "empty", NEWEST)
    pin = FOLDER / f"tools-{family}.json"
    tools = json.loads(bytes(listing))["tools"]
    if request.config.getoption("--update-pins"):
        assert wrong_with(pinned(), promised()) == []
        pin.write_text(json.dumps(tools, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    kept = json.loads(pin.read_text(encoding="utf-8"))
    assert kept == tools, "renew the pins: pytest tests/tools/test_promises.py --update-pins"
    compact = json.dumps({"tools": kept}, separators=(",", ":"), ensure_ascii=False)
    assert compact.encode() == bytes(listing), "in the same order, too"


# The rules, each broken once


def _a_member(promise: Promise, part: str, **rules: Any) -> None:
    promise[part]["added"] = {"required": False, "type": "string", "maxLength": 9, **rules}


def _first(promise: Promise, part: str) -> dict[str, Any]:
    """A member that stands by itself."""
    member: dict[str, Any] = next(iter(promise[part].values()))
    return member


def _limited(promise: Promise, part: str, key: str) -> dict[str, Any]:
    member: dict[str, Any] = next(each for each in promise[part].values() if key in each)
    return member


def _rename(part: str) -> Change:
    def change(promise: Promise) -> None:
        name = next(iter(promise[part]))
        promise[part]["renamed"] = promise[part].pop(name)

    return change


def _limit(part: str, key: str, more: int) -> Change:
    def change(promise: Promise) -> None:
        _limited(promise, part, key)[key] += more

    return change


def _set(part: str, key: str, value: Any) -> Change:
    return lambda promise: promise[part].__setitem__(key, value)


def _of_first(part: str, **rules: Any) -> Change:
    return lambda promise: _first(promise, part).update(rules)


def _require(promise: Promise) -> None:
    optional = next(each for each in promise["arguments"].values() if not each["required"])
    optional["required"] = True


def _default(promise: Promise) -> None:
    name = next(iter(promise["defaults"]))
    promise["defaults"][name] = "another"


def _argument_with_a_default(promise: Promise) -> None:
    _a_member(promise, "arguments")
    promise["defaults"]["added"] = "x"


def _new_code(promise: Promise) -> None:
    promise["codes"]["NewFailure"] = "NEW_CODE"


def _lost_code(promise: Promise) -> None:
    codes = promise["codes"]
    code = codes["Cancelled"]
    promise["codes"] = {event: each for event, each in codes.items() if each != code}


def _moved_code(promise: Promise) -> None:
    promise["codes"]["NotFound"] = promise["codes"]["Bug"]


#: What needs a higher version, and what the refusal says.
NEEDS: dict[str, tuple[Change, str]] = {
    "a required argument": (
        lambda promise: _a_member(promise, "arguments", required=True),
        "the argument added came and is required",
    ),
    "an argument that became required": (_require, "is required now"),
    "a renamed argument": (_rename("arguments"), "is gone"),
    "an argument of another type": (_of_first("arguments", type="object"), "takes less"),
    "an argument with a new rule": (_of_first("arguments", pattern="^x$"), "takes less"),
    "an argument that may be shorter only": (_limit("arguments", "maxLength", -1), "takes less"),
    "an argument with a higher minimum": (_limit("arguments", "minimum", 1), "takes less"),
    "another default": (_default, "the default of"),
    "a required member": (
        lambda promise: _a_member(promise, "result", required=True),
        "the result's added came",
    ),
    "a renamed member": (_rename("result"), "is gone"),
    "a member of another type": (_of_first("result", type="null"), "something else"),
    "a member that may be longer": (_limit("result", "maxLength", 1), "may be more"),
    "a member that may be missing": (_of_first("result", required=False), "not always there"),
    "a code that came": (_new_code, "the code NEW_CODE came"),
    "a code that went": (_lost_code, "is gone"),
    "an event with another code": (_moved_code, "NotFound was"),
    "another time limit": (_set("endings", "timeoutMs", 1), "how a call ends"),
    "work that goes on or not": (_set("endings", "goesOn", None), "how a call ends"),
    "another size of answers": (_set("endings", "responseBytes", 1), "how a call ends"),
    "another code after a cancel": (_set("endings", "cancelled", "X"), "how a call ends"),
}

#: What needs none: no client can have relied on it.
FREE: dict[str, Change] = {
    "nothing": lambda promise: None,
    "an optional argument": lambda promise: _a_member(promise, "arguments"),
    "its default": _argument_with_a_default,
    "an optional member": lambda promise: _a_member(promise, "result"),
    "a member that is shorter": _limit("result", "maxLength", -1),
    "an argument that may be longer": _limit("arguments", "maxLength", 1),
    "an event with a known code": lambda promise: promise["codes"].__setitem__(
        "NewFailure", promise["codes"]["Bug"]
    ),
}


def _changed(tool: Tool[Any], change: Change) -> tuple[dict[str, Promise], dict[str, Promise]]:
    """The promises of now, and what they would be."""
    old = promised()
    new = copy.deepcopy(old)
    change(new[tool.info.name])
    return old, new


def _cases(changes: Any) -> list[Any]:
    """Every change of every tool that has what it changes."""
    found = []
    for what, entry in changes.items():
        change = entry[0] if isinstance(entry, tuple) else entry
        for tool in CATALOGUE:
            try:
                change(copy.deepcopy(promise_of(tool)))
            except (StopIteration, KeyError):  # it has no such member, or no codes
                continue
            found.append(pytest.param(tool, entry, id=f"{tool.info.name}: {what}"))
    return found


@pytest.mark.requirement("ST-2.2-bump")
@pytest.mark.parametrize(("tool", "rule"), _cases(NEEDS))
def test_a_broken_promise_needs_a_higher_version(tool: Tool[Any], rule: tuple[Change, str]) -> None:
    old, new = _changed(tool, rule[0])
    name = tool.info.name
    said = wrong_with(old, new)
    assert said and all(each.startswith(f"{name}: ") for each in said)
    assert any(rule[1] in each for each in said), said
    new[name]["version"] += 1
    assert wrong_with(old, new) == []
    new[name]["version"] -= 2
    assert any("went down" in each for each in wrong_with(old, new))


@pytest.mark.parametrize(("tool", "change"), _cases(FREE))
def test_a_compatible_change_needs_no_new_version(tool: Tool[Any], change: Change) -> None:
    assert wrong_with(*_changed(tool, change)) == []


@pytest.mark.requirement("ST-3.1-names")
def test_a_tool_is_not_dropped() -> None:
    new = promised()
    del new["search"]
    assert wrong_with(promised(), new) == ["search is gone; a tool is not dropped or renamed"]


def test_every_rule_was_broken_somewhere() -> None:
    kinds = {case.id.partition(": ")[2] for case in [*_cases(NEEDS), *_cases(FREE)]}
    assert kinds == NEEDS.keys() | FREE.keys()
