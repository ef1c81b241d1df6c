"""Which occurrences in TypeScript and JavaScript can be uses; those that lead nowhere may be.

cart.add(tea)               // a member, of a value whose type may be ``any``
const { add } = cart        // and by its name in braces
import { Cart } from "./missing"
"""

import os
import re
from functools import lru_cache

from sightline.contract.possessive import possessive
from sightline.contract.unaccounted import Reason
from sightline.contract.uris import above
from sightline.lsp.files.reading import read_json
from sightline.lsp.unaccounted.rules import is_after_dot
from sightline.lsp.unaccounted.symbols import Symbol
from sightline.text.code import JAVASCRIPT
from sightline.text.scopes import Scope
from sightline.text.sources import SourceTexts, position_of, word

__all__ = ["ScriptRules"]

_NEWLINE_BLANKS = b" \t\r\n"
#: The name before a dot.
_ROOT = re.compile(rb"[\w$]+(?=[ \t\n]*[?!]?\Z)")
_PARAMETER_TAG = re.compile(rb"\*[ \t]*@param[ \t]+(?:\{[^\n]*\}[ \t]+)?\[?\Z")
#: So much of a line is read before the name in such a tag, and so much behind its comment.
_MOST_TAG, _MOST_HEAD = 400, 4_000
_RENAMED = re.compile(rb"([\w$*]+)\s+as\s+\Z")
_IMPORT = re.compile(
    possessive(
        rb"^[ \t]*(?:import|export)\b(?P<names>[^;'\"`()=]{0,4000}?)\bfrom[ \t\n]*"
        rb"['\"](?P<module>[^'\"\n]*)['\"]"
    ),
    re.MULTILINE,
)


class ScriptRules:
    no_code = JAVASCRIPT

    def may_use(self, symbol: Symbol, texts: SourceTexts, path: str, offset: int) -> bool:
        text, end = texts.text(path), offset + len(symbol.name.encode())
        if text[offset - 1 : offset] == b"$" or text[end : end + 1] == b"$":
            return False
        dotted = is_after_dot(text, offset)
        if symbol.scope is Scope.MEMBER:
            return dotted or _is_key(text, offset, end)
        if symbol.scope is Scope.PARAMETER:
            return False
        return not dotted or symbol.is_module or _may_be_of_module(text, offset)

    def may_use_string(self, symbol: Symbol, texts: SourceTexts, path: str, offset: int) -> bool:
        return False

    def stand_in(self, text: bytes, name: str, offset: int) -> int | None:
        """A ``@param`` of a comment names the first such name behind it."""
        end = text.find(b"*/", offset) if _is_parameter_tag(text, offset) else -1
        behind = word(name).starts(text[end:][:_MOST_HEAD]) if end >= 0 else []
        return end + behind[0] if behind else None

    def meaning(self, text: bytes, name: str, offset: int) -> bytes | None:
        return None

    def documents(self, symbol: Symbol, text: bytes, path: str, offset: int) -> bool:
        if symbol.scope is not Scope.PARAMETER or not _is_parameter_tag(text, offset):
            return False
        other = self.stand_in(text, symbol.name, offset)
        return other is not None and (path, position_of(text, other), False) in symbol.keys

    def is_misreported(self, text: bytes, name: str, offset: int) -> bool:
        return False

    def passes_on(self, text: bytes, name: str, offset: int) -> int | None:
        """``exports.Cart = Cart`` and ``{ Cart: shop.Cart }`` export what they are given."""
        literal = re.escape(name.encode())
        found = re.compile(
            rb"%b[ \t]*(?:=(?!=)|:)[ \t]*(?:[\w$]+[ \t]*\.[ \t]*)*(%b)\b" % (literal, literal)
        ).match(text, offset)
        return found.start(1) if found is not None else None

    def origin(self, text: bytes, path: str, offset: int) -> bytes | None:
        stated = _import_at(text, offset)
        if stated is None:
            return None
        module = stated["module"]
        if module.startswith(b"."):
            module = os.fsencode(
                os.path.normpath(os.path.join(os.path.dirname(path), os.fsdecode(module)))
            )
        return module + b"#" + _imported_as(text, offset)

    def misled(self, texts: SourceTexts, path: str) -> bool:
        """Whether a place is in what a package of the workspace was built to, or a copy of it."""
        before, modules, inside = path.rpartition("/node_modules/")
        if modules:
            parts = inside.split("/")
            name = "/".join(parts[:2]) if inside.startswith("@") else parts[0]
            return os.fsencode(name) in texts.made_of_all(_own_names)
        return path.endswith((".d.ts", ".d.mts", ".d.cts")) and bool(before or path in texts)

    def unresolved(
        self, symbol: Symbol, texts: SourceTexts, path: str, offset: int, bound: int | None
    ) -> Reason | None:
        text = texts.text(path)
        stated = _import_at(text, offset if bound is None else bound)
        if stated is not None:
            return Reason.UNRESOLVED_IMPORT if _is_own(texts, stated["module"]) else None
        if symbol.scope is Scope.MEMBER and not is_after_dot(text, offset):
            return None  # a local name in braces that nothing declares
        return Reason.UNKNOWN_TYPE


def _is_own(texts: SourceTexts, module: bytes) -> bool:
    """Whether an import that leads nowhere may be of the workspace: relative, by an alias, by the
    name of one of its packages, or by a folder.
    """
    if module.startswith((b".", b"@/", b"~", b"#", b"/")):
        return True
    parts = module.split(b"/")
    package = b"/".join(parts[:2]) if module.startswith(b"@") else parts[0]
    own = texts.made_of_all(_own_names)
    return package in own or (len(parts) > 1 and parts[0] in own)


def _own_names(texts: SourceTexts) -> frozenset[bytes]:
    """The names of the packages that sources are in, and of the folders and files at the top."""
    folders = {path.rpartition("/")[0] for path in texts.paths()}
    if not folders:
        return frozenset()
    top = os.path.commonpath(folders)
    folders |= {outer for folder in folders for outer in above(folder, top)}
    manifests = (read_json(f"{folder}/package.json") for folder in sorted(folders))
    names = {each.get("name") for each in manifests if isinstance(each, dict)}
    names |= {path[len(top) + 1 :].partition("/")[0].partition(".")[0] for path in texts.paths()}
    return frozenset(os.fsencode(name) for name in names if isinstance(name, str))


def _imported_as(text: bytes, offset: int) -> bytes:
    """The name that an import takes from a module where it binds the one at an offset."""
    here = re.compile(rb"[\w$]*").match(text, offset)
    before = _RENAMED.search(text, max(0, offset - 200), offset)
    return before[1] if before is not None else here[0] if here is not None else b""


def _is_parameter_tag(text: bytes, offset: int) -> bool:
    return _PARAMETER_TAG.search(text, max(0, offset - _MOST_TAG), offset) is not None


def _is_key(text: bytes, start: int, end: int) -> bool:
    """Whether a name may be the key of an object, or be taken from one: it stands in braces."""
    before, after = start - 1, end
    while before >= 0 and text[before] in _NEWLINE_BLANKS:
        before -= 1
    while after < len(text) and text[after] in _NEWLINE_BLANKS:
        after += 1
    return text[before : before + 1] in (b"{", b",") and text[after : after + 1] in (
        b",",
        b"}",
        b":",
        b"=",
    )


def _may_be_of_module(text: bytes, offset: int) -> bool:
    """Whether what an exported name is taken from may be a module: ``import * as``, ``require``."""
    end = text.rfind(b".", 0, offset)
    root = _ROOT.search(text, max(0, end - 200), end)
    return root is not None and root[0] != b"this" and _binds_module(text, root[0])


@lru_cache(maxsize=256)
def _binds_module(text: bytes, root: bytes) -> bool:
    name = re.escape(root)
    bound = rb"\*[ \t]*as[ \t]+%b\b|\b%b[ \t]*=[ \t]*(?:await[ \t]+)?(?:require|import)[ \t]*\("
    return re.search(bound % (name, name), text) is not None or any(
        re.search(rb"\b%b\b" % name, found["names"]) for found in _imports(text)
    )


@lru_cache(maxsize=64)
def _imports(text: bytes) -> tuple[re.Match[bytes], ...]:
    return tuple(_IMPORT.finditer(text)) if b"from" in text else ()


def _import_at(text: bytes, offset: int) -> re.Match[bytes] | None:
    return next((each for each in _imports(text) if each.start() <= offset < each.end()), None)
