"""Which occurrences in Python can be uses, and what those that lead nowhere may mean.

handle.close()              # a member, of a value whose type may be unknown
load("x", strict=True)      # a parameter, where the call names its function
from shop import cart       # a module; also ``shop.cart`` behind ``import shop.cart``
options["historic"]         # the key of a TypedDict
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sightline.contract.unaccounted import Reason
from sightline.contract.uris import path_in
from sightline.lsp.unaccounted.python_imports import (
    chain_before,
    import_at,
    imported,
    imports,
    name_from,
)
from sightline.lsp.unaccounted.python_stand_ins import (
    by_module,
    in_chain,
    is_before_binding,
    is_type_comment,
)
from sightline.lsp.unaccounted.rules import is_after_dot, is_before
from sightline.lsp.unaccounted.symbols import Symbol
from sightline.text.code import PYTHON
from sightline.text.scopes import Scope
from sightline.text.sources import SourceTexts
from sightline.text.spans import Spans

__all__ = ["PythonRules"]

#: So much is read before an argument to find the call that it belongs to.
_MOST_CALL, _MOST_CALLEE = 4_000, 200
_OPENING, _CLOSING = frozenset(b"([{"), frozenset(b")]}")
#: What copies an object with some of its fields changed.
_COPIES = re.compile(rb"\b(?:replace|evolve|_replace|__replace__|model_construct)\b")
_LOADS = re.compile(rb"\bimport_module\b|\b__import__\b|\bimportorskip\b|\bsys\.modules\b")
_WORD = re.compile(rb"[\w\x80-\xff]+")
#: What stands before the parentheses of a declaration.
_DECLARES = re.compile(rb"\b(?:def|class)[ \t]+\w+[ \t]*(?:\[[^\[\]]*\])?[ \t]*\Z")
#: Where a module is installed.
_INSTALLED = re.compile(r"(?<=[/](?:site|dist)-packages)/.+")
_SUBSCRIPT = re.compile(rb"\[[ \t]*[rRbBuUfF]?\Z")


class PythonRules:
    no_code = PYTHON

    def may_use(self, symbol: Symbol, texts: SourceTexts, path: str, offset: int) -> bool:
        text, end = texts.text(path), offset + len(symbol.name.encode())
        if symbol.is_module:
            return True
        dotted = is_after_dot(text, offset)
        if symbol.scope is Scope.PARAMETER:
            return not dotted and _is_argument(symbol, texts, path, offset, end)
        if symbol.scope is Scope.MEMBER:
            if dotted:
                return import_at(text, offset) is None
            return _is_argument(symbol, texts, path, offset, end)
        if not dotted:
            return not (is_before(text, end, b"=") and _opening(texts, path, offset) is not None)
        return import_at(text, offset) is None and _may_be_of_module(texts, path, offset)

    def may_use_string(self, symbol: Symbol, texts: SourceTexts, path: str, offset: int) -> bool:
        if is_type_comment(texts.text(path), offset):
            return True
        if symbol.scope is not Scope.MEMBER:
            return False
        text, end = texts.text(path), offset + len(symbol.name.encode())
        quote = text[offset - 1 : offset]
        if quote not in (b'"', b"'") or text[end : end + 1] != quote:
            return False
        return is_before(text, end + 1, b"]") and bool(
            _SUBSCRIPT.search(text, max(0, offset - 20), offset - 1)
        )

    def meaning(self, text: bytes, name: str, offset: int) -> bytes | None:
        """``forms.CharField`` behind ``from django import forms`` is ``django.forms.CharField``."""
        if import_at(text, offset) is not None:
            stated = self.origin(text, "", offset)
            return stated if stated is not None and not stated.startswith(b"/") else None
        chain = chain_before(text, offset + len(name.encode()))
        root, dot, rest = (chain or b"").partition(b".")
        modules = set(_bindings(text).get(root, ()))
        if len(modules) != 1 or _is_rebound(text, root):
            return None
        module = modules.pop()
        if module.startswith(b"."):
            return None
        whole = (
            root if module.startswith(root + b".") and module in _plain_imports(text) else module
        )
        return whole + dot + rest

    def documents(self, symbol: Symbol, text: bytes, path: str, offset: int) -> bool:
        return False

    def stand_in(self, text: bytes, name: str, offset: int) -> int | None:
        found = in_chain(text, name, offset)
        return by_module(text, name, offset) if found is None else found

    def is_misreported(self, text: bytes, name: str, offset: int) -> bool:
        return is_before_binding(text, name, offset)

    def passes_on(self, text: bytes, name: str, offset: int) -> int | None:
        return None

    def origin(self, text: bytes, path: str, offset: int) -> bytes | None:
        stated = import_at(text, offset)
        if stated is None:
            return None
        module = stated["module"]
        if module is not None:
            if stated.start("module") <= offset < stated.end("module"):
                return _absolute(
                    module[: offset - stated.start("module")] + name_from(text, offset), path
                )
            module = _absolute(module, path) + b"."
        for each in imported(stated):
            if each.start() <= offset < each.end("name"):
                return (module or b"") + text[each.start("name") : offset] + name_from(text, offset)
            if each["alias"] is not None and each.start("alias") <= offset < each.end("alias"):
                return (module or b"") + each["name"]
        return None

    def misled(self, symbol: Symbol, texts: SourceTexts, path: str) -> Reason | None:
        installed = _INSTALLED.search(path)
        if installed is None:
            return None
        declared = (path_in(place.uri) for place in symbol.definitions)
        is_copy = any(own.endswith(installed[0]) for own in declared)
        return Reason.COPY if is_copy else None

    def unresolved(
        self, symbol: Symbol, texts: SourceTexts, path: str, offset: int, bound: int | None
    ) -> Reason | None:
        text = texts.text(path)
        if not text or offset in texts.spans(path, PYTHON):
            return None
        at = offset if bound is None else bound
        stated = import_at(text, at)
        if stated is not None:
            return Reason.UNRESOLVED_IMPORT if _may_lead(texts, stated, at) else None
        dotted = is_after_dot(text, offset)
        opened = None if dotted else _opening(texts, path, offset)
        root = _root(text, offset) if dotted else None
        if opened is not None and _callee(text, opened) in symbol.owners:
            root = _root(text, opened)
        if root is not None and _is_foreign(texts, text, root):
            return None
        return Reason.UNKNOWN_TYPE


def _is_argument(symbol: Symbol, texts: SourceTexts, path: str, offset: int, end: int) -> bool:
    """Whether the name is given to a call that names an owner, or that makes a changed copy."""
    text = texts.text(path)
    if not is_before(text, end, b"="):
        return False
    opened = _opening(texts, path, offset)
    if opened is None:
        return False
    line = text.rfind(b"\n", max(0, opened - _MOST_CALLEE), opened) + 1 or opened
    if _DECLARES.search(text, line, opened):
        return False
    call = text[line:offset]
    if symbol.scope is Scope.MEMBER and _COPIES.search(call):
        return True
    owners, bound = {each.encode() for each in symbol.owners}, _bindings(text)
    return any(
        each in owners or any(whole.rpartition(b".")[2] in owners for whole in bound.get(each, ()))
        for each in _WORD.findall(call)
    )


def _opening(texts: SourceTexts, path: str, offset: int) -> int | None:
    """Where the parentheses open that an argument is directly in."""
    text, no_code = texts.text(path), texts.spans(path, PYTHON)
    place, last = offset - 1, max(0, offset - _MOST_CALL)
    while place >= last and (text[place : place + 1].isspace() or place in no_code):
        place -= 1
    if place < last or text[place] not in b"(,":
        return None
    return _unclosed(text, no_code, place)


def _unclosed(text: bytes, no_code: Spans, place: int) -> int | None:
    depth, last = 0, max(-1, place - _MOST_CALL)
    while place > last:
        byte = text[place]
        if byte in _CLOSING and place not in no_code:
            depth += 1
        elif byte in _OPENING and place not in no_code:
            if not depth:
                return place if byte == ord("(") else None
            depth -= 1
        place -= 1
    return None


def _absolute(module: bytes, path: str) -> bytes:
    """A module as every file can name it: a relative one begins with the folder of its package."""
    dots = len(module) - len(module.lstrip(b"."))
    if not dots:
        return module
    folder = "/".join(path.split("/")[:-dots])
    return os.fsencode(folder) + b"/" + module[dots:]


def _root(text: bytes, offset: int) -> bytes | None:
    """The first name of the chain before a dot or a parenthesis; ``None`` if there is none."""
    end = offset
    while end and text[end - 1] in b" \t\n\\":
        end -= 1
    chain = chain_before(text, end - 1 if text[end - 1 : end] == b"." else end)
    return chain.partition(b".")[0] if chain is not None else None


def _callee(text: bytes, opened: int) -> str:
    """The last name before a parenthesis."""
    chain = chain_before(text, opened)
    return chain.rpartition(b".")[2].decode("utf-8", "replace") if chain is not None else ""


@lru_cache(maxsize=64)
def _bindings(text: bytes) -> Mapping[bytes, Sequence[bytes]]:
    """The names that a file's imports bind, each with the modules that it comes from."""
    bound: dict[bytes, list[bytes]] = {}
    for found in imports(text):
        module = found["module"] or b""
        for each in imported(found):
            name, alias = each["name"], each["alias"]
            if module:
                whole = module + (b"" if module.endswith(b".") else b".") + name
                bound.setdefault(alias or name, []).append(whole)
            else:
                bound.setdefault(alias or name.partition(b".")[0], []).append(name)
    return bound


@lru_cache(maxsize=64)
def _plain_imports(text: bytes) -> frozenset[bytes]:
    """The modules of imports that bind only the first part of their names: ``import a.b``."""
    return frozenset(
        each["name"]
        for found in imports(text)
        if not found["module"]
        for each in imported(found)
        if each["alias"] is None
    )


@lru_cache(maxsize=128)
def _is_rebound(text: bytes, name: bytes) -> bool:
    """Whether anything but an import may bind a name in a file."""
    literal = re.escape(name)
    bound = (
        rb"(?<![\w.])%b[ \t]*(?:=(?!=)|:|,[ \t\w,]*=(?!=))"
        rb"|\b(?:def|class|for|as|global|del)[ \t]+%b\b"
        rb"|\bdef[ \t]+\w+[ \t]*\([^)]{0,%d}\b%b\b|\blambda\b[^:\n]{0,%d}\b%b\b"
        % (literal, literal, _MOST_CALL, literal, _MOST_CALLEE, literal)
    )
    given = sum(1 for found in imports(text) for _ in _aliases(found, name))
    return len(re.findall(bound, text)) > given


def _aliases(stated: re.Match[bytes], name: bytes) -> Iterator[re.Match[bytes]]:
    """The places at which an import binds a name with ``as``."""
    return (each for each in imported(stated) if each["alias"] == name)


def _may_be_of_module(texts: SourceTexts, path: str, offset: int) -> bool:
    """Whether what a name is taken from may be a module: an import binds it, or the file loads
    modules by their names.
    """
    text = texts.text(path)
    root = _root(text, offset)
    if texts.made(path, _loads_modules):
        return root not in (b"self", b"cls")
    return root is not None and root in _bindings(text)


def _loads_modules(texts: SourceTexts, path: str) -> bool:
    return _LOADS.search(texts.text(path)) is not None


def _is_foreign(texts: SourceTexts, text: bytes, root: bytes) -> bool:
    """Whether a name is bound by imports alone, and all of those are of others' modules."""
    modules = _bindings(text).get(root, ())
    return bool(modules) and not any(_is_own(texts, module) for module in modules)


def _may_lead(texts: SourceTexts, stated: re.Match[bytes], at: int) -> bool:
    """Whether an import that leads nowhere may be of a module that has the symbol."""
    module = stated["module"]
    if module is None:
        for each in imported(stated):
            if each.start() <= at < each.end():
                module = each["name"]
    return module is None or _is_own(texts, module)


def _is_own(texts: SourceTexts, module: bytes) -> bool:
    """Whether a module may be one of the project: something in it is called like its first part."""
    first = module.partition(b".")[0]
    return not first or first in texts.made_of_all(_module_names)


def _module_names(texts: SourceTexts) -> frozenset[bytes]:
    """What the files of a project and their folders are called in an import."""
    paths = (path.rpartition(".")[0].removeprefix(texts.top) for path in texts.paths())
    return frozenset(os.fsencode(part) for path in paths for part in path.split("/"))
