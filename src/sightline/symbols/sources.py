"""The texts of the roots in which names are looked for: what is tracked, not ignored, and of a
language whose declarations can be read.

They are read once and again when they change. Looking into them happens in a thread.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from sightline.index.building.discover import Discovery
from sightline.index.cutting.declarations import Declaration, declared_in
from sightline.index.reading.languages import language_of
from sightline.text.grammars import GRAMMARS
from sightline.text.scopes import tree_of
from sightline.text.sources import SourceTexts, word
from sightline.workspace.changes import Change
from sightline.workspace.roots import Root
from sightline.workspace.workspace import Workspace

__all__ = ["Hit", "Sources", "declared", "grammar_at"]

#: What these declare are no symbols that code uses by name.
_NO_CODE = frozenset({"html", "css", "sql"})
_HEAD = 2_000
_WORD = re.compile(rb"[A-Za-z_]\w*", re.ASCII)


class Hit(NamedTuple):
    """A file that has a name, and what it declares."""

    path: str
    declarations: Sequence[Declaration]


def grammar_at(path: str, text: bytes = b"") -> str:
    """The grammar that reads the declarations of a file; empty if there is none.

    >>> grammar_at("/a/cart.tsx"), grammar_at("/a/README.md")
    ('tsx', '')
    """
    name = language_of(path.rpartition("/")[2], text[:_HEAD]).name
    return name if name in GRAMMARS and name not in _NO_CODE else ""


class Sources:
    def __init__(self, workspace: Workspace, environment: Mapping[str, str]) -> None:
        self._workspace = workspace
        self._environment = environment
        self._texts: dict[str, SourceTexts] = {}
        workspace.listen(self._changed)
        workspace.listen_to_roots(self._texts.clear)

    def having(self, name: str) -> list[Hit] | None:
        """The files that have a name, in a thread; ``None`` if a root has too much text."""
        found: dict[str, Hit] = {}
        for texts in self._all():
            hits = texts.search(word(name))
            if hits is None:
                return None
            for path in hits:
                found[path] = Hit(path, texts.made(path, declarations_of))
        return [found[path] for path in sorted(found)]

    def known(self, path: str, text: bytes) -> tuple[bytes, Sequence[Declaration]] | None:
        """A text that was read before, as the one object that is kept of it, with its
        declarations; ``None`` where it is another by now.
        """
        for texts in list(self._texts.values()):  # threads add to them
            if path in texts and texts.text(path) == text:
                return texts.text(path), texts.made(path, declarations_of)
        return None

    def words(self) -> set[str]:
        """Every word of the texts that may be a name, in a thread."""
        return {
            each.decode()
            for texts in self._all()
            if texts.search(word("")) is not None
            for path in texts.paths()
            for each in texts.made(path, words_of)
        }

    def paths(self) -> list[str]:
        """Every file that is looked into, in a thread."""
        for texts in self._all():
            texts.search(word(""))
        return sorted({path for texts in self._all() for path in texts.paths()})

    def _all(self) -> Iterator[SourceTexts]:
        for root in self._workspace.roots.roots:
            texts = self._texts.get(root.real)
            if texts is None:  # several threads may get here; the first one's is kept
                discovery = Discovery(root.real, self._environment, root.include_ignored)
                made = SourceTexts(partial(self._files, root, discovery))
                texts = self._texts.setdefault(root.real, made)
            yield texts

    def _files(self, root: Root, discovery: Discovery) -> list[str]:
        observer = self._workspace.observers.get(root.real)
        if observer is None:  # it was taken away meanwhile
            return []
        found = discovery.all(observer.tree).files
        return [f"{root.real}/{path}" for path in sorted(found) if grammar_at(path)]

    def _changed(self, changes: Sequence[Change]) -> None:
        for texts in list(self._texts.values()):
            texts.changed(changes)


def declarations_of(texts: SourceTexts, path: str) -> Sequence[Declaration]:
    text = texts.text(path)
    return declared(path, text)


def declared(path: str, text: bytes) -> Sequence[Declaration]:
    """What a file declares; nothing where no grammar reads it, or where that takes too long."""
    grammar = grammar_at(path, text)
    tree = tree_of(grammar, text) if grammar else None
    return declared_in(text, grammar, tree) if tree is not None else ()


def words_of(texts: SourceTexts, path: str) -> frozenset[bytes]:
    return frozenset(_WORD.findall(texts.text(path)))
