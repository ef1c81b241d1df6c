"""A symbol's range begins at its name, so that it can be asked about where it was found."""

import re
from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.markers.archive import Archive
from tests.support.engine import engine

PYTHON = """
-- a.py --
import functools

LIMIT: int = 3
zeta_total = 4


# decorated is what follows
@functools.lru_cache(maxsize=len("(decorated"))  # decorated
async def decorated(self) -> None: ...


class Outer:
    field: int = 1

    def __init__(self) -> None:
        self.member = 1

    @property
    def getter(self) -> int:
        return 1

    @getter.setter
    def getter(self, value: int) -> None: ...


text = "😀é"; behind = 2
print(LIMIT, zeta_total, decorated, Outer().field, Outer().getter)
"""
TYPESCRIPT = """
-- tsconfig.json --
{"compilerOptions": {"target": "es2022", "experimentalDecorators": true}}
-- a.ts --
function mark(text: string): any { return text }

/** The Outer class. */
@mark("Outer (")
export default abstract class Outer {
  private static readonly field = "field"
  #hidden = 1
  protected async method(): Promise<void> { this.#hidden }
  get get() { return 1 }
  static set static(value: number) {}
}
export const first = 1, second = () => Outer
export interface Shape { "quoted-name": string, plain: string }
export type Alias<T> = T
export enum Color { Red, Green }
export namespace Space { export function inner() {} }
second(); first
"""
C = """
-- a.cpp --
#define LIMIT 3
namespace shop {
template <class T> class Outer { public: int method() const; int operator+(int x); };
}
template <class T> int shop::Outer<T>::method() const { return LIMIT; }
typedef struct box { int side; } box_t;
enum color { RED };
static inline int *area(void) { return nullptr; }
"""
BASH = """
-- a.sh --
#!/bin/bash
function area { local inner=1; echo "$inner"; }
  other-name () { area; }
declare -r limit=3
export first=1 second=2
total=3
area; other-name; echo "$limit $first $second $total"
"""
SERVERS = [
    ("ty", PYTHON, "LIMIT zeta_total decorated Outer field getter behind"),
    ("pyright", PYTHON, "LIMIT zeta_total decorated Outer field member getter behind"),
    (
        "tsgo",
        TYPESCRIPT,
        "mark Outer field #hidden method first second Shape Alias Color Red Space",
    ),
    (
        "vtsls",
        TYPESCRIPT,
        "mark Outer field #hidden method get static first second Shape Alias Color Red",
    ),
    ("clangd", C, "shop Outer method operator+ box side color RED area"),
    ("bash", BASH, "area other-name limit first second total"),
]


@pytest.mark.parametrize(("server", "text", "names"), SERVERS)
async def test_a_range_begins_at_the_name(
    tmp_path: Path, server: str, text: str, names: str
) -> None:
    archive = Archive.read(text)
    root = tmp_path / "ws"
    root.mkdir()
    archive.write_to(root)
    seen: set[str] = set()
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        for name in names.split():
            found = await running.call("vscode.lsp.workspaceSymbols", query=name)
            for item in found["items"]:
                uri, start = item["location"]["uri"], item["location"]["range"]["start"]
                assert _there(archive, uri, start).startswith(_last_word(item["name"])), item
                asked = {"uri": uri, "position": start, "includeDeclaration": True}
                assert (await running.call("vscode.lsp.references", **asked))["items"], item
                seen.add(item["name"])
        for file in [each for each in archive.files if not each.endswith(".json")]:
            uri = running.uri(file)
            found = await running.call("vscode.lsp.documentSymbols", uri=uri)
            for item in found["symbols"]:
                there = _there(archive, uri, item["selectionRange"]["start"])
                assert there.startswith(_last_word(item["name"])), item
    assert seen >= set(names.split())


def _there(archive: Archive, uri: str, start: dict[str, int]) -> str:
    """What stands at a place, without the quotation mark that a name may begin with."""
    line = archive.files[uri.rpartition("/")[2]].split("\n")[start["line"]]
    units = line.encode("utf-16-le")[start["character"] * 2 :]
    return units.decode("utf-16-le").removeprefix('"')


def _last_word(name: str) -> str:
    """Servers call names ``(get) size``, ``Outer<T>::method`` or ``operator+``."""
    found: list[str] = re.findall(r"#?[^\W#][\w-]*", name)
    return found[-1]
