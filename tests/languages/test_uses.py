"""A use is the same thing whichever server is asked, and wherever in the symbol it is asked.

Every place of a symbol is marked by hand: ``d`` where it is declared, ``u`` where it is used, ``n``
where it is used under another name or in a text, from where another question would be asked.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.markers.archive import Archive
from tests.support.engine import Engine, engine

Place = tuple[str, int, int]

PYTHON = {
    "a class": """
-- shop/cart.py --
class ⟨d1⟩Cart:
    def total(self) -> int: ...
-- shop/__init__.py --
from shop.cart import ⟨u1⟩Cart as ⟨n1⟩Basket
from shop.cart import (
    ⟨u2⟩Cart,  # (again)
)
__all__ = ["⟨n2⟩Basket"]
__all__ += ['⟨n3⟩Cart', "Other"]
-- use.py --
import shop
from shop import ⟨n4⟩Basket
one = shop.⟨u3⟩Cart()
two = shop.⟨n5⟩Basket() or ⟨n6⟩Basket()
match one:
    case shop.⟨u4⟩Cart as cart:
        print(cart)
-- twice.py --
from shop import ⟨n7⟩Basket as ⟨n8⟩Trolley
three: ⟨n9⟩Trolley
""",
    "a variable": """
-- state.py --
⟨d1⟩counter = 0


def bump() -> None:
    global ⟨u1⟩counter
    ⟨u2⟩counter += 1


⟨u3⟩counter = 5
print(⟨u4⟩counter)
-- use.py --
from state import ⟨u5⟩counter
import state
state.⟨u6⟩counter = 9
print(⟨u7⟩counter)
""",
    "an attribute": """
-- box.py --
class Box:
    ⟨d1⟩size: int = 0

    def __init__(self) -> None:
        self.⟨u1⟩size = 1

    def grow(self, by: int) -> int:
        self.⟨u2⟩size += by
        return self.⟨u3⟩size
-- use.py --
from box import Box
box = Box()
box.⟨u4⟩size = 7
print(box.⟨u5⟩size)
""",
    "a function": """
-- tools.py --
import typing
@typing.overload
def ⟨d1⟩pick(one: int) -> int: ...
@typing.overload
def ⟨d2⟩pick(one: str) -> str: ...
def ⟨d3⟩pick(one: object) -> object:
    return ⟨u1⟩pick
-- use.py --
if True:
    from tools import ⟨u2⟩pick
__all__ = ("⟨n1⟩pick",)
-- elsewhere.py --
def outer() -> None:
    from tools import ⟨u3⟩pick
__all__ = ["pick"]
""",
    "a stub beside": """
-- shop/__init__.py --
-- shop/cart.py --
class ⟨d1⟩Cart:
    pass

def make() -> ⟨u1⟩Cart: ...
-- shop/cart.pyi --
class ⟨d2⟩Cart: ...
def make() -> ⟨u2⟩Cart: ...
-- use.py --
from shop.cart import ⟨u3⟩Cart
⟨u4⟩Cart()
""",
    "a parameter with a stub": """
-- low.py --
class Till:
    def cost(self, item, ⟨d1⟩tax):
        return item * ⟨u1⟩tax

def cost(item, tax): ...
Till().cost(1, ⟨u2⟩tax=3)
-- low.pyi --
class Till:
    def cost(
        self, item: int,  # (with tax,
        ⟨d2⟩tax: int,
    ) -> int: ...
def cost(item: int, tax: int) -> int: ...
-- use.py --
from low import Till
Till().cost(1, ⟨u3⟩tax=5)
""",
    "a parameter": """
-- tools.py --
def twice(⟨d1⟩number: int) -> int:
    ⟨u1⟩number = ⟨u2⟩number * 2
    return ⟨u3⟩number
""",
}

TYPESCRIPT = {
    "a class": """
-- tsconfig.json --
{}
-- cart.ts --
export class ⟨d1⟩Cart { total(): number { return 1; } }
-- index.ts --
export { ⟨u1⟩Cart as ⟨n1⟩Basket } from "./cart";
import { ⟨u2⟩Cart as ⟨n2⟩Trolley } from "./cart";
import { ⟨u3⟩Cart } from "./cart";
const one = new ⟨n3⟩Trolley();
const two = new ⟨u4⟩Cart();
export { ⟨u5⟩Cart };
-- use.ts --
import { ⟨n4⟩Basket, ⟨u6⟩Cart } from "./index";
import * as all from "./index";
const three = [new ⟨n5⟩Basket(), new ⟨u7⟩Cart(), new all.⟨n6⟩Basket()];
""",
    "a variable": """
-- tsconfig.json --
{}
-- state.ts --
export let ⟨d1⟩total = 0;
⟨u1⟩total = 3;
⟨u2⟩total += 1;
-- use.ts --
import { ⟨u3⟩total } from "./state";
console.log(⟨u4⟩total);
""",
    "a member": """
-- tsconfig.json --
{}
-- shapes.ts --
export interface Shape { ⟨d1⟩area(): number; name: string }
export class Box implements Shape { name = "b"; ⟨n1⟩area() { return 1; } }
const literal: Shape = { name: "x", ⟨n2⟩area: () => 2 };
literal.⟨u1⟩area();
""",
    "an interface": """
-- tsconfig.json --
{}
-- shapes.ts --
export interface ⟨d1⟩Shape { name: string }
export interface ⟨d2⟩Shape { extra?: number }
export class Box implements ⟨u1⟩Shape { name = "b" }
-- use.ts --
import type { ⟨u2⟩Shape } from "./shapes";
const shape: ⟨u3⟩Shape = { name: "x" };
""",
}

SHELL = {
    "a function": """
-- lib.sh --
#!/bin/bash
⟨d1⟩greet() { echo hello; }
⟨u1⟩greet
-- main.sh --
#!/bin/bash
source ./lib.sh
⟨u2⟩greet
""",
    "a function by its keyword": """
-- lib.sh --
#!/bin/bash
function ⟨d1⟩greet { echo hello; }
⟨u1⟩greet
-- main.sh --
#!/bin/bash
source ./lib.sh
if true; then
  ⟨u2⟩greet
fi
""",
    "a variable": """
-- lib.sh --
#!/bin/bash
⟨u1⟩name=1
⟨u2⟩name=2
echo "$⟨u3⟩name"
-- main.sh --
#!/bin/bash
source ./lib.sh
⟨u4⟩name=3
echo "$⟨u5⟩name"
""",
}

C = {
    "a function": """
-- twice.h --
int ⟨d1⟩twice(int number);
-- twice.c --
#include "twice.h"
int ⟨d2⟩twice(int number) { return number * 2; }
-- main.c --
#include "twice.h"
int main(void) { return ⟨u1⟩twice(⟨u2⟩twice(2)); }
""",
}

CASES = [
    pytest.param(server, text, id=f"{server}, {kind}")
    for servers, texts in (
        (("ty", "pyright"), PYTHON),
        (("tsgo", "vtsls"), TYPESCRIPT),
        (("bash",), SHELL),
        (("clangd",), C),
    )
    for server in servers
    for kind, text in texts.items()
]


async def places(running: Engine, asked: Place, *, declared: bool) -> set[Place]:
    file, line, character = asked
    answer: Any = await running.call(
        "vscode.lsp.references",
        uri=running.uri(file),
        position={"line": line, "character": character},
        includeDeclaration=declared,
    )
    assert answer["summary"] == f"Returned {len(answer['items'])} references."
    starts = [(item["uri"], item["range"]["start"]) for item in answer["items"]]
    root = f"{running.root.as_uri()}/"
    return {(uri.removeprefix(root), at["line"], at["character"]) for uri, at in starts}


@pytest.mark.requirement("GW-7.2-references")
@pytest.mark.parametrize(("server", "text"), CASES)
async def test_uses_are_all_places_but_the_declarations(
    tmp_path: Path, server: str, text: str
) -> None:
    archive = Archive.read(text)
    (tmp_path / "ws").mkdir()
    archive.write_to(tmp_path / "ws")
    declared = {place for mark, place in archive.marks.items() if mark.startswith("d")}
    used = set(archive.marks.values()) - declared
    asked = [place for mark, place in archive.marks.items() if not mark.startswith("n")]
    async with engine(tmp_path / "ws", cache=tmp_path / "cache", registry=only(server)) as running:
        for place in asked:
            assert await places(running, place, declared=True) == declared | used, place
            assert await places(running, place, declared=False) == used, place
