"""Which occurrences in TypeScript and JavaScript can be uses; those that lead nowhere may be.

cart.add(tea)               // a member, of a value whose type may be ``any``
const { add } = cart        // and by its name in braces
import { Cart } from "./missing"
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from sightline.contract.possessive import possessive
from sightline.contract.unaccounted import Reason
from sightline.contract.uris import above, is_under, path_in
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
#: What binds a name to a module, behind the name.
_LOADED = re.compile(
    rb"[ \t]*=[ \t]*(?:await[ \t]+)?(?:[\w$]+\.)?(?:require|import)(?:[A-Z]\w*)?[ \t]*"
    rb"(?:<[^>\n]*>)?\([ \t]*(?:['\"](?P<module>[^'\"\n]*)['\"])?"
)
_LOADS = re.compile(rb"\b(?:require|import)[A-Z]\w*[ \t]*[(<]")
_DEPENDENCIES = "dependencies", "devDependencies", "peerDependencies", "optionalDependencies"
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

    def misled(self, symbol: Symbol, texts: SourceTexts, path: str) -> Reason | None:
        """What a package was built to, or a copy of it, is the package that declares the symbol."""
        packages = texts.made_of_all(_packages)
        declared = [path_in(place.uri) for place in symbol.definitions]
        _, modules, inside = path.rpartition("/node_modules/")
        if modules:
            folders = packages.named.get(_package(os.fsencode(inside)), ())
            is_own = any(is_under(own, folder) for own in declared for folder in folders)
            return Reason.COPY if is_own else None
        if not path.endswith((".d.ts", ".d.mts", ".d.cts")) or path not in texts:
            return None
        if symbol.scope is Scope.MEMBER:
            return Reason.OVERRIDE
        is_own = packages.around(path) in map(packages.around, declared)
        return Reason.COPY if is_own else None

    def unresolved(
        self, symbol: Symbol, texts: SourceTexts, path: str, offset: int, bound: int | None
    ) -> Reason | None:
        text = texts.text(path)
        stated = _import_at(text, offset if bound is None else bound)
        if stated is not None:
            return Reason.UNRESOLVED_IMPORT if _is_own(texts, stated["module"]) else None
        dotted = is_after_dot(text, offset)
        if symbol.scope is Scope.MEMBER and not dotted:
            return None  # a local name in braces that nothing declares
        if dotted and symbol.scope is Scope.GLOBAL:
            root = _root_before(text, offset)
            modules = _modules_of(text, root) if root is not None else ()
            if modules and not any(each is None or _is_own(texts, each) for each in modules):
                return None
        return Reason.UNKNOWN_TYPE


class _Packages(NamedTuple):
    """The packages that sources are in, by what their manifests say."""

    #: The folders of the packages of each name.
    named: Mapping[bytes, Sequence[str]]
    folders: frozenset[str]
    #: What they depend on.
    needed: frozenset[bytes]
    #: What the files and folders of the workspace are called.
    parts: frozenset[bytes]

    def around(self, path: str) -> str:
        """The folder of the package that a file is in; nothing if it is in none."""
        while path:
            path = path.rpartition("/")[0]
            if path in self.folders:
                return path
        return ""


def _packages(texts: SourceTexts) -> _Packages:
    inside = {path.rpartition("/")[0] for path in texts.paths()}
    inside |= {outer for folder in inside for outer in above(folder, texts.top)}
    named, folders, needed = dict[bytes, list[str]](), set[str](), set[str]()
    for folder in sorted(inside):
        manifest = read_json(f"{folder}/package.json")
        if not isinstance(manifest, dict):
            continue
        folders.add(folder)
        if isinstance(name := manifest.get("name"), str):
            named.setdefault(os.fsencode(name), []).append(folder)
        for kind in _DEPENDENCIES:
            needed.update(given if isinstance(given := manifest.get(kind), dict) else ())
    paths = (path.removeprefix(texts.top).split("/") for path in texts.paths())
    parts = {part.partition(".")[0] for path in paths for part in path}
    return _Packages(
        named,
        frozenset(folders),
        frozenset(map(os.fsencode, needed)),
        frozenset(map(os.fsencode, parts)),
    )


def _is_own(texts: SourceTexts, module: bytes) -> bool:
    """Whether an import that leads nowhere may be of the workspace: relative, by an alias, by the
    name of one of its packages, or by a folder or a file that no dependency is called like.
    """
    if module.startswith((b".", b"@/", b"~", b"#", b"/")):
        return True
    packages, name = texts.made_of_all(_packages), _package(module)
    if name in packages.named:
        return True
    return name not in packages.needed and module.split(b"/")[0].lstrip(b"@") in packages.parts


def _package(module: bytes) -> bytes:
    """The name of the package that a module is in: ``@here/shapes``, ``shapes``."""
    return b"/".join(module.split(b"/")[: 2 if module.startswith(b"@") else 1])


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
    root = _root_before(text, offset)
    if root is None or root == b"this":
        return False
    return bool(_modules_of(text, root)) or _loads_modules(text)


def _root_before(text: bytes, offset: int) -> bytes | None:
    """The name right before the dot before an offset."""
    end = text.rfind(b".", 0, offset)
    root = _ROOT.search(text, max(0, end - 200), end)
    return root[0] if root is not None else None


@lru_cache(maxsize=256)
def _modules_of(text: bytes, root: bytes) -> Sequence[bytes | None]:
    """The modules that a name is bound to in a file; ``None`` where the text tells none."""
    name = re.compile(rb"(?<![\w$])%b(?![\w$])" % re.escape(root))
    found: list[bytes | None] = [
        each["module"] for each in _imports(text) if name.search(each["names"])
    ]
    loaded = (_LOADED.match(text, each.end()) for each in name.finditer(text))
    return [*found, *(each["module"] for each in loaded if each is not None)]


@lru_cache(maxsize=64)
def _loads_modules(text: bytes) -> bool:
    """Whether a file hands modules on to functions: ``vi.importActual("./a").then((a) => ...)``."""
    return _LOADS.search(text) is not None


@lru_cache(maxsize=64)
def _imports(text: bytes) -> tuple[re.Match[bytes], ...]:
    return tuple(_IMPORT.finditer(text)) if b"from" in text else ()


def _import_at(text: bytes, offset: int) -> re.Match[bytes] | None:
    return next((each for each in _imports(text) if each.start() <= offset < each.end()), None)
