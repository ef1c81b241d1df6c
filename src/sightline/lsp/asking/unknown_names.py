"""Names that a server can tell nothing of, mostly for an import that it does not resolve.

It then finds no use of the name, or only those in one file, and says no more than that. So it is
said where a name stands in code and has no definition, or none but the import itself.

>>> is_name("python", "# get\\nget(1)", Position(0, 3)), is_name("python", "get(1)", Position(0, 1))
(False, True)
"""

import keyword
import re
from collections.abc import Callable, Sequence

from sightline.contract.possessive import possessive
from sightline.contract.texts import column_of
from sightline.contract.values import Location, Position
from sightline.lsp.c import preprocessor
from sightline.text.code import JAVASCRIPT, PYTHON
from sightline.text.names import name_at
from sightline.text.sources import offset_of
from sightline.text.spans import spans_of

__all__ = ["LEFT_OUT", "NOTE", "UNKNOWN", "is_imported", "is_name", "is_nameless", "is_unknown"]

UNKNOWN = (
    "{} cannot tell what `{}` is, perhaps for an import or a type that it does not resolve; "
    "search the text for it"
)
LEFT_OUT = (
    "{} cannot tell what `{}` is here ({}); ask where it is declared, or search the text for it"
)
NOTE = (
    "The server cannot tell what this name is, perhaps for an import that it does not resolve; "
    "search the text for it."
)

_JAVASCRIPT = frozenset(
    "abstract any as asserts async await bigint boolean break case catch class const continue "
    "debugger declare default delete do else enum export extends false finally for from function "
    "if implements import in infer instanceof interface is keyof let namespace never new null "
    "number of override private protected public readonly return satisfies static string super "
    "switch this throw true try type typeof undefined unique unknown var void while with "
    "yield".split()
)
_KEYWORDS = {
    "python": frozenset(keyword.kwlist),
    "c": preprocessor.KEYWORDS,
    "cpp": preprocessor.KEYWORDS,
    "javascript": _JAVASCRIPT,
    "javascriptreact": _JAVASCRIPT,
    "typescript": _JAVASCRIPT,
    "typescriptreact": _JAVASCRIPT,
}
#: What stands before a name that an import gives.
_OF_PYTHON = re.compile(
    # Nothing of what a comment holds is ever looked at in another way: that would take for ever.
    possessive(
        r"^[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import\b[ \t]*"
        r"(?:[\w., \t]*|\((?:[^()#]++|#[^\n]*+)*+)\Z"
    ),
    re.MULTILINE,
)
_OF_JAVASCRIPT = re.compile(
    r"^[ \t]*import\s+(?:type\s+)?(?:[\w$]+\s*,\s*)?(?:\{[^{}'\"]*|\*\s*as\s+)?\Z", re.MULTILINE
)
_IMPORTS = {
    "python": _OF_PYTHON,
    "javascript": _OF_JAVASCRIPT,
    "javascriptreact": _OF_JAVASCRIPT,
    "typescript": _OF_JAVASCRIPT,
    "typescriptreact": _OF_JAVASCRIPT,
}
_MOST_BEFORE = 4_096


def is_unknown(
    language: str,
    text: str,
    position: Position,
    definitions: Sequence[Location],
    text_of: Callable[[str], str | None],
) -> bool:
    """Whether a server knows nothing of the name at a position, by the definitions that it has."""
    if not definitions:
        return is_name(language, text, position)
    return all(is_imported(language, each, text_of) for each in definitions)


def is_nameless(
    language: str,
    text: str,
    position: Position,
    definitions: Sequence[Location],
    text_of: Callable[[str], str | None],
) -> bool:
    """Whether a server that finds no use of what stands at a position takes it for no symbol.

    What ``return`` and ``await`` lead to in TypeScript is the function around them.
    """
    word = name_at(text, position, language)
    if not definitions or word not in _KEYWORDS.get(language, ()):
        return not definitions
    starts = ((text_of(each.uri) or "", each.range.start) for each in definitions)
    return all(name_at(there, start, language) != word for there, start in starts)


def is_imported(language: str, place: Location, text_of: Callable[[str], str | None]) -> bool:
    """Whether a definition is nothing but the import of a name."""
    pattern = _IMPORTS.get(language)
    before = _before(text_of(place.uri) or "", place.range.start)
    return pattern is not None and pattern.search(before) is not None


def is_name(language: str, text: str, position: Position) -> bool:
    """Whether a position is in a name in code, as far as the language is known here."""
    name = name_at(text, position, language)
    keywords = _KEYWORDS.get(language)
    if keywords is None or not name or name in keywords:
        return False
    if language in ("c", "cpp"):
        return name_at(preprocessor.code_of(text), position) == name
    no_code = PYTHON if language == "python" else JAVASCRIPT
    data = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "surrogatepass")
    return offset_of(data, position) not in spans_of(no_code, data)


def _before(text: str, place: Position) -> str:
    """What stands before a place, as far as an import can begin."""
    lines = text.split("\n", place.line + 1)[: place.line + 1]
    if not lines:
        return ""
    last = lines[-1][: column_of(lines[-1], place.character)]
    return "\n".join([*lines[:-1], last])[-_MOST_BEFORE:]
