"""The languages a window may be asked about, and how their extensions load.

A language whose extension takes the whole workspace over at once is ready when it names one symbol
of a file that nobody opened. One whose extension takes it over piece by piece gives no such sign.
This is data; the reasons are in docs/decisions/0008-editor-bridge.md.
"""

import os
from typing import NamedTuple

__all__ = ["LANGUAGES", "Language", "family", "language_of"]


class Language(NamedTuple):
    title: str
    suffixes: tuple[str, ...]
    #: Whether one right answer means that everything has been loaded.
    at_once: bool = False
    #: Files that begin a project of their own: each needs a document of it to be open.
    projects: tuple[str, ...] = ()


_TSCONFIG = ("tsconfig.json", "jsconfig.json")

#: By the editor's language id.
LANGUAGES: dict[str, Language] = {
    "c": Language("C", (".c", ".h")),
    "cpp": Language("C++", (".cc", ".cpp", ".cxx", ".hh", ".hpp")),
    "csharp": Language("C#", (".cs",)),
    "dart": Language("Dart", (".dart",)),
    "go": Language("Go", (".go",), at_once=True),
    "java": Language("Java", (".java",)),
    "javascript": Language("JavaScript", (".js", ".jsx", ".mjs", ".cjs"), True, _TSCONFIG),
    "kotlin": Language("Kotlin", (".kt", ".kts")),
    "lua": Language("Lua", (".lua",)),
    "php": Language("PHP", (".php",)),
    "python": Language("Python", (".py", ".pyi"), at_once=True),
    "ruby": Language("Ruby", (".rb",)),
    "rust": Language("Rust", (".rs",)),
    "scala": Language("Scala", (".scala",)),
    "swift": Language("Swift", (".swift",)),
    "typescript": Language("TypeScript", (".ts", ".tsx", ".mts", ".cts"), True, _TSCONFIG),
}
_BY_SUFFIX = {suffix: id_ for id_, row in LANGUAGES.items() for suffix in row.suffixes}


def language_of(path: str) -> str | None:
    """The language of a file by its name."""
    return _BY_SUFFIX.get(os.path.splitext(path)[1].lower())


def family(language_id: str) -> str:
    """The row an editor's language id belongs to: ``typescriptreact`` is ``typescript``."""
    return language_id.removesuffix("react")
