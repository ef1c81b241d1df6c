"""Small workspaces, one per language, and what is true about them.

A sample is written by hand, and so are its truths: every place of one name, counted in the text,
not by a language server. ``⟨name⟩`` marks a place, as in marker files.
"""

import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from sightline.lsp.registry import Operation, Registry, builtin
from tests.markers.archive import Archive

__all__ = ["ON_PATH", "SAMPLES", "Sample", "needs", "offers", "only", "unaccounted"]

Place = tuple[str, int, int]


@dataclass(frozen=True)
class Sample:
    """A workspace, the servers that know it, and the marked places of one symbol."""

    servers: tuple[str, ...]
    text: str
    #: Marks of every place of the symbol, its definition first.
    places: tuple[str, ...] = ()
    #: Marks where its definition is asked for.
    uses: tuple[str, ...] = ()
    #: Names that workspace symbols must find, each in exactly one place.
    symbols: tuple[str, ...] = ()
    #: Files with an error in them, and a word of its message.
    errors: dict[str, str] = field(default_factory=dict)
    #: Names that the outline of a file must have.
    outline: dict[str, set[str]] = field(default_factory=dict)
    #: A word of the hover text of the symbol.
    hover: str = ""

    @property
    def archive(self) -> Archive:
        return Archive.read(self.text)

    def write(self, root: Path) -> Path:
        root.mkdir(parents=True, exist_ok=True)
        self.archive.write_to(root)
        return root

    def place(self, mark: str) -> Place:
        return self.archive.marks[mark]


def only(*names: str) -> Registry:
    """The registry without any other server."""
    known = builtin()
    servers = {name: known.servers[name] for name in names}
    return Registry(known.languages, servers, known.packages)


def unaccounted(name: str, count: int, where: str, files: str) -> str:
    """What a summary says of the places of a name that could not be resolved.

    >>> unaccounted("area", 1, "in macros", "a.h")
    'area also occurs in 1 place in macros (a.h); it may be a use.'
    """
    places = "1 place" if count == 1 else f"{count} places"
    may = "it may be a use" if count == 1 else "they may be uses"
    return f"{name} also occurs in {places} {where} ({files}); {may}."


def offers(server: str, operation: Operation) -> bool:
    spec = builtin().servers[server]
    return operation not in spec.not_offered + spec.unstable


def needs(server: str) -> None:
    """Skips a test whose server must come from the user's PATH and does not."""
    if builtin().servers[server].found == "path" and not _runs(server):
        pytest.skip(f"{server} is not on the PATH, and Sightline does not install it")


def _runs(program: str) -> bool:
    """Whether there is such a program and it works; a proxy without its component does not."""
    found = shutil.which(program)
    ways = [[found, "--version"], [found, "version"]] if found else []
    return any(
        subprocess.run(way, check=False, capture_output=True).returncode == 0 for way in ways
    )


PYTHON = Sample(
    ("ty", "pyright"),
    """
-- shapes/__init__.py --
-- shapes/plane.py --
def ⟨def⟩area(width: int, height: int) -> int:
    \"\"\"The area of a rectangle.\"\"\"
    return width * height


class Square:
    def size(self) -> int:
        return ⟨inner⟩area(2, 2)
-- main.py --
from shapes.plane import ⟨import⟩area

print(⟨one⟩area(2, 3), "area", ⟨two⟩area(4, 5))
-- tests/check.py --
from shapes import plane

assert plane.⟨check⟩area(1, 1) == 1
-- broken.py --
from shapes.plane import Square

size: str = Square().size()
-- notes.txt --
area is not code here
""",
    places=("def", "inner", "import", "one", "two", "check"),
    uses=("def", "inner", "import", "check"),
    symbols=("Square",),
    errors={"broken.py": "assign"},
    outline={"shapes/plane.py": {"area", "Square", "size"}, "main.py": set()},
    hover="area",
)

TYPESCRIPT = Sample(
    ("tsgo", "vtsls"),
    """
-- package.json --
{"name": "sample", "private": true, "workspaces": ["packages/*"]}
-- tsconfig.json --
{
  // the application; packages have projects of their own
  "compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"},
  "include": ["src"],
}
-- src/plane.ts --
export function ⟨def⟩area(width: number, height: number): number {
  return width * height
}

export class Square {
  size(): number {
    return ⟨inner⟩area(2, 2)
  }
}
-- src/main.tsx --
import { ⟨import⟩area } from "./plane"

export const sum = ⟨one⟩area(2, 3) + ⟨two⟩area(4, 5) // area
-- packages/tool/tsconfig.json --
{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler"}}
-- packages/tool/use.ts --
import { ⟨pimport⟩area } from "../../src/plane"

export const other = ⟨pone⟩area(1, 1)
-- scripts/loose.js --
import { ⟨limport⟩area } from "../src/plane"

export const loose = ⟨lone⟩area(3, 3)
-- src/broken.ts --
import { Square } from "./plane"

export const size: string = new Square().size()
""",
    places=("def", "inner", "import", "one", "two", "pimport", "pone", "limport", "lone"),
    uses=("def", "inner", "one", "pone", "lone"),
    symbols=("Square", "loose"),
    errors={"src/broken.ts": "not assignable"},
    outline={"src/plane.ts": {"area", "Square", "size"}, "scripts/loose.js": {"loose"}},
    hover="area",
)

C = Sample(
    ("clangd",),
    """
-- include/plane.h --
#ifndef PLANE_H
#define PLANE_H
int ⟨decl⟩area(int width, int height);
struct square { int side; };
#endif
-- src/plane.c --
#include "../include/plane.h"

int ⟨def⟩area(int width, int height) {
  return width * height;
}
-- src/main.c --
#include "../include/plane.h"

int main(void) {
  return ⟨one⟩area(2, 3) + ⟨two⟩area(4, 5); // area
}
-- tools/use.cpp --
extern "C" {
#include "../include/plane.h"
}

int other() { return ⟨cpp⟩area(1, 1); }
-- src/broken.c --
int broken(void) { return missing_name; }
""",
    places=("def", "decl", "one", "two", "cpp"),
    uses=("def", "decl", "one", "cpp"),
    symbols=("square", "other"),
    errors={"src/broken.c": "missing_name"},
    outline={"include/plane.h": {"area", "square", "side"}, "src/main.c": {"main"}},
    hover="area",
)

BASH = Sample(
    ("bash",),
    """
-- lib/plane.sh --
#!/bin/bash
# The area of a rectangle.
⟨def⟩area() {
  echo $(( $1 * $2 ))
}
-- main.sh --
#!/bin/bash
source ./lib/plane.sh
⟨one⟩area 2 3
⟨two⟩area 4 5
-- other.sh --
#!/bin/bash
. ./lib/plane.sh
⟨other⟩area 1 1
""",
    places=("def", "one", "two", "other"),
    uses=("def", "one", "other"),
    symbols=("area",),
    outline={"lib/plane.sh": {"area"}, "other.sh": set()},
    hover="area",
)

YAML = Sample(
    ("yaml",),
    """
-- service.yaml --
base: &base
  ⟨def⟩image: one
web:
  <<: *⟨one⟩base
-- broken.yml --
list: [1, 2
""",
    places=("def", "one"),
    uses=("one",),
    errors={"broken.yml": "sequence"},
    outline={"service.yaml": {"base", "image", "web", "<<"}},
)

JSON = Sample(
    ("json",),
    """
-- package.json --
{"name": "sample", "scripts": {"build": "true"}}
-- broken.json --
{"a": 1,}
-- tsconfig.json --
{
  // comments are allowed here
  "files": [],
}
""",
    errors={"broken.json": "comma"},
    outline={"package.json": {"name", "scripts", "build"}, "broken.json": {"a"}},
)

CSS = Sample(
    ("css",),
    """
-- main.css --
:root { --accent: red; }
.button { color: var(--accent); }
-- broken.css --
.button { colr: red; }
-- theme.scss --
$accent: red;
.card { .title { color: $accent; } }
""",
    errors={"broken.css": "colr"},
    outline={"main.css": {":root", ".button"}, "theme.scss": {"$accent", ".card", ".title"}},
)

HTML = Sample(
    ("html",),
    """
-- index.html --
<!DOCTYPE html>
<html>
<body>
<h1 id="title">Shapes</h1>
<script>
function area(width, height) { return width * height }
</script>
</body>
</html>
-- broken.html --
<!DOCTYPE html>
<html>
<body>
<script>
let = ;
</script>
</body>
</html>
""",
    errors={"broken.html": "expected"},
    outline={"index.html": {"html", "body", "h1#title", "script", "area"}},
)

GO = Sample(
    ("gopls",),
    """
-- go.work --
go 1.24

use (
	./app
	./lib
)
-- lib/go.mod --
module example.invalid/lib

go 1.24
-- lib/lib.go --
package lib

// Area is the area of a rectangle.
func ⟨def⟩Area(width, height int) int {
	return width * height
}

type Square struct{ Side int }

func (s Square) Size() int { return ⟨inner⟩Area(s.Side, s.Side) }
-- lib/lib_test.go --
package lib

import "testing"

func TestArea(t *testing.T) {
	if ⟨test⟩Area(2, 3) != 6 {
		t.Fatal("Area")
	}
}
-- app/go.mod --
module example.invalid/app

go 1.24

require example.invalid/lib v0.0.0
-- app/main.go --
package main

import "example.invalid/lib"

func main() {
	println(lib.⟨one⟩Area(2, 3), "Area", lib.⟨two⟩Area(4, 5))
}
-- app/broken/broken.go --
package broken

func broken() int { return "text" }
""",
    places=("def", "inner", "test", "one", "two"),
    uses=("inner", "test", "one", "two"),
    symbols=("TestArea",),
    errors={"app/broken/broken.go": "cannot use"},
    outline={"lib/lib.go": {"Area", "Square", "(Square).Size"}},
    hover="func lib.Area(width int, height int) int",
)

RUST = Sample(
    ("rust-analyzer",),
    """
-- Cargo.toml --
[workspace]
members = ["app", "plane"]
resolver = "2"
-- plane/Cargo.toml --
[package]
name = "plane"
version = "0.1.0"
edition = "2021"
-- plane/src/lib.rs --
/// The area of a rectangle.
pub fn ⟨def⟩area(width: u32, height: u32) -> u32 {
    width * height
}

pub struct Square(pub u32);

impl Square {
    pub fn size(&self) -> u32 {
        ⟨inner⟩area(self.0, self.0)
    }
}
-- app/Cargo.toml --
[package]
name = "app"
version = "0.1.0"
edition = "2021"

[dependencies]
plane = { path = "../plane" }
-- app/src/main.rs --
mod broken;

use plane::⟨import⟩area;

fn main() {
    let text = "area";
    let _ = (⟨one⟩area(2, 3), text, plane::⟨two⟩area(4, 5));
}
-- app/src/broken.rs --
pub fn broken() -> u32 {
    missing_brace(
""",
    places=("def", "inner", "import", "one", "two"),
    uses=("inner", "import", "one", "two"),
    symbols=("Square",),
    errors={"app/src/broken.rs": "expected"},
    outline={"plane/src/lib.rs": {"area", "Square", "size"}},
    hover="pub fn area(width: u32, height: u32) -> u32",
)

#: Samples of servers that a user brings. They are recorded; the real ones are asked where they are.
ON_PATH: dict[str, Sample] = {"gopls": GO, "rust-analyzer": RUST}

SAMPLES: dict[str, Sample] = {
    "python": PYTHON,
    "typescript": TYPESCRIPT,
    "c": C,
    "bash": BASH,
    "yaml": YAML,
    "json": JSON,
    "css": CSS,
    "html": HTML,
}

#: Every server with its sample.
SERVERS = [(server, sample) for sample in SAMPLES.values() for server in sample.servers]
