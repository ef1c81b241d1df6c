"""Repositories in several languages that are edited at random, and the truth about one name.

The truth is counted in the text: the files hold no comment or string with the name, so every
occurrence of the word is a reference.
"""

import os
import re
from pathlib import Path

from tests.system.freshness import EDITS, NAME, Place, Repository

__all__ = ["EDITS", "REPOSITORIES", "Repository"]


class TextRepository(Repository):
    """A repository whose truth is every occurrence of the word."""

    def truth(self) -> set[Place]:
        places: set[Place] = set()
        for file in self.sources():
            for number, line in enumerate(file.read_text().splitlines()):
                for match in re.finditer(rf"\b{NAME}\b", line):
                    places.add((file.as_uri(), number, match.start()))
        return places

    def sources(self) -> list[Path]:
        return [self.core_file, *self.users()]

    def definition(self) -> dict[str, int]:
        for number, line in enumerate(self.core_file.read_text().splitlines()):
            if (found := line.find(NAME)) >= 0:
                return {"line": number, "character": found + 1}
        raise AssertionError("the definition is gone")

    def to_core(self, folder: Path) -> str:
        """The way from a folder to the one of the definition, ending in a slash."""
        up = os.path.relpath(self.root, folder)
        return "./" if up == "." else f"{up}/"

    def padding(self) -> str:
        return "\n" * self.random.randrange(3)

    def uses(self) -> str:
        return self.use * self.random.randrange(1, 6)


class TypeScript(TextRepository):
    suffix = ".ts"
    use, other = f"{NAME}()\n", "t = 000;\n"[: len(NAME) + 2] + "\n"

    def __init__(self, root: Path, seed: int) -> None:
        root.mkdir(parents=True)
        (root / "tsconfig.json").write_text('{"compilerOptions": {"strict": true}}\n')
        super().__init__(root, seed)

    def core(self) -> str:
        return self.padding() + f"export function {NAME}(): number {{\n  return 1\n}}\n"

    def user(self, folder: Path) -> str:
        line = f'import {{ {NAME} }} from "{self.to_core(folder)}core"\n'
        return self.padding() + line + "let t = 1\n" + self.uses()


class LooseJavaScript(TextRepository):
    """No project file anywhere: every file is known to the server only while it is open."""

    suffix = ".js"
    use, other = f"{NAME}()\n", "t = 000;\n"[: len(NAME) + 2] + "\n"

    def core(self) -> str:
        return self.padding() + f"export function {NAME}() {{\n  return 1\n}}\n"

    def user(self, folder: Path) -> str:
        line = f'import {{ {NAME} }} from "{self.to_core(folder)}core.js"\n'
        return self.padding() + line + "let t = 1\n" + self.uses()


class C(TextRepository):
    suffix = ".c"
    use, other = f"  {NAME}();\n", f"  {'9' * len(NAME)}+1;\n"

    def __init__(self, root: Path, seed: int) -> None:
        root.mkdir(parents=True)
        (root / "core.h").write_text(f"int {NAME}(void);\n")
        super().__init__(root, seed)

    def sources(self) -> list[Path]:
        return [self.root / "core.h", *super().sources()]

    def core(self) -> str:
        return self.padding() + f'#include "core.h"\nint {NAME}(void) {{\n  return 1;\n}}\n'

    def user(self, folder: Path) -> str:
        self.serial += 1
        line = f'#include "{self.to_core(folder)}core.h"\n'
        return (
            f"{self.padding()}{line}int user{self.serial}(void) {{\n{self.uses()}  return 1;\n}}\n"
        )

    def write(self) -> None:
        if self.random.random() < 0.15:
            (self.root / "core.h").write_text(self.padding() + f"int {NAME}(void);\n")
        else:
            super().write()


class Bash(TextRepository):
    suffix = ".sh"
    use, other = f"{NAME}\n", f"{'x' * len(NAME)}\n"

    def core(self) -> str:
        return f"#!/bin/bash\n{self.padding()}{NAME}() {{\n  echo 1\n}}\n"

    def user(self, folder: Path) -> str:
        line = f"source {self.to_core(folder)}core.sh\n"
        return f"#!/bin/bash\n{self.padding()}{line}{self.uses()}"


class Go(TextRepository):
    """One package: the name is not exported."""

    suffix = ".go"
    use, other = f"\t{NAME}()\n", "\t_ = 1000\n"

    def __init__(self, root: Path, seed: int) -> None:
        root.mkdir(parents=True)
        (root / "go.mod").write_text("module example.invalid/sample\n\ngo 1.24\n")
        super().__init__(root, seed)

    def core(self) -> str:
        return f"package sample\n{self.padding()}\nfunc {NAME}() int {{\n\treturn 1\n}}\n"

    def user(self, folder: Path) -> str:
        self.serial += 1
        body = f"func user{self.serial}() {{\n{self.uses()}}}\n"
        return f"package sample\n{self.padding()}\n{body}"

    def folders(self) -> list[Path]:
        return [self.root]


class Rust(TextRepository):
    """A library, and programs, tests and examples that cargo finds by their place."""

    suffix = ".rs"
    use, other = f"    {NAME}();\n", f"    {'9' * len(NAME)}+1;\n"

    def __init__(self, root: Path, seed: int) -> None:
        (root / "src/bin").mkdir(parents=True)
        (root / "Cargo.toml").write_text(
            '[package]\nname = "sample"\nversion = "0.1.0"\nedition = "2021"\n'
        )
        super().__init__(root, seed)

    @property
    def core_file(self) -> Path:
        return self.root / "src/lib.rs"

    def core(self) -> str:
        return f"{self.padding()}pub fn {NAME}() -> i32 {{\n    1\n}}\n"

    def user(self, folder: Path) -> str:
        line = f"use sample::{NAME};\n"
        return f"{self.padding()}{line}fn main() {{\n{self.uses()}}}\n"

    def folders(self) -> list[Path]:
        return [self.root / "src/bin", self.root / "tests", self.root / "examples"]


#: Per server the repositories it is tried on.
REPOSITORIES: dict[str, tuple[type[Repository], ...]] = {
    "ty": (Repository,),
    "pyright": (Repository,),
    "tsgo": (TypeScript, LooseJavaScript),
    "vtsls": (TypeScript, LooseJavaScript),
    "clangd": (C,),
    "bash": (Bash,),
    "gopls": (Go,),
    "rust-analyzer": (Rust,),
}
