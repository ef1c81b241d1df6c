"""The files of one view as the symbols room reads them: texts with one way to end a line, and what
each declares. Made for one call; what is kept longer lies in ``sources``."""

import re
from collections.abc import Sequence
from itertools import accumulate

from sightline.contract.source import SourceFile
from sightline.contract.texts import column_of, line_length_utf16
from sightline.contract.uris import uri_of
from sightline.contract.values import Position
from sightline.index.cutting.declarations import Declaration
from sightline.index.reading.roles import Role, role_of
from sightline.symbols.sources import Sources, declared, grammar_at
from sightline.symbols.symbol import Symbol, enclosing, qualified, signature_of
from sightline.workspace.view import View

__all__ = ["Files"]

_WRITTEN = frozenset({"constant", "field", "variable"})


class Files:
    def __init__(self, view: View, sources: Sources) -> None:
        self.view = view
        self._sources = sources
        self._texts: dict[str, bytes] = {}
        self._declared: dict[str, Sequence[Declaration]] = {}
        self._lines: dict[str, Sequence[bytes]] = {}
        self._starts: dict[str, Sequence[int]] = {}
        #: Per line, what is around it; and where names are declared.
        self._around: dict[str, Sequence[str]] = {}
        self._names: dict[str, set[tuple[int, int]]] = {}

    def document(self, path: str) -> SourceFile:
        """A file of the workspace, gated. Raises the failure of one that may not be read."""
        return self.view.document(uri_of(path))

    def text(self, path: str) -> bytes:
        if path not in self._texts:
            text = self.document(path).text.replace("\r\n", "\n").replace("\r", "\n")
            encoded = text.encode("utf-8", "surrogatepass")
            known = self._sources.known(path, encoded)
            if known is not None:
                encoded, self._declared[path] = known
            self._texts[path] = encoded
        return self._texts[path]

    def lines(self, path: str) -> Sequence[bytes]:
        if path not in self._lines:
            self._lines[path] = self.text(path).split(b"\n")
        return self._lines[path]

    def line(self, path: str, number: int) -> bytes:
        lines = self.lines(path)
        return lines[number] if number < len(lines) else b""

    def around(self, path: str, line: int) -> str:
        """The innermost function or class around a line: ``Cart.add``; ``-`` at the top."""
        if path not in self._around:
            self._around[path] = enclosing(self.declared(path), len(self.lines(path)))
        around = self._around[path]
        return around[line] if line < len(around) else "-"

    def grammar(self, path: str) -> str:
        return grammar_at(path, self.text(path))

    def declared(self, path: str) -> Sequence[Declaration]:
        """What a file declares; nothing where no grammar reads it."""
        text = self.text(path)  # which may know what it declares
        if path not in self._declared:
            self._declared[path] = declared(path, text)
        return self._declared[path]

    def is_declared_at(self, path: str, position: Position) -> bool:
        """Whether a function, a class or a member is declared there. A variable is written."""
        if path not in self._names:
            self._names[path] = {
                (each.line, each.column)
                for each in self.declared(path)
                if each.kind not in _WRITTEN
            }
        return (position.line, position.character) in self._names[path]

    def named_from(self, path: str, start: Position, name: str) -> Position:
        """Where a name stands at a place, or in its line behind it: some servers tell what it is
        taken from, too, such as ``self``.
        """
        line = self.line(path, start.line).decode("utf-8", "replace")
        column = column_of(line, start.character)
        owner = re.compile(rf"[\w.\[\]()]*\.\s*(?={re.escape(name)}\b)").match(line, column)
        if not name or owner is None:
            return start
        return Position(start.line, line_length_utf16(line[: owner.end()]))

    def shown(self, path: str) -> str:
        """The path that people read, on one line whatever it holds."""
        shown = self.view.relative(path)
        return shown if shown.isprintable() else re.sub(r"[^ -~]", "?", shown)

    def is_test(self, path: str) -> bool:
        return role_of(self.shown(path), self.grammar(path)) == Role.TEST

    def symbol(self, path: str, declared: Declaration, note: str = "") -> Symbol:
        shown, grammar = self.shown(path), self.grammar(path)
        position = Position(declared.line, declared.column)
        return Symbol(
            declared.name,
            declared.kind,
            qualified(declared, shown, grammar),
            declared.container,
            path,
            shown,
            position,
            declared.first,
            declared.last,
            signature_of(grammar, self.text(path), position),
            note=note,
        )

    def offset(self, path: str, position: Position) -> int:
        """The offset of a position in the text of its file."""
        if path not in self._starts:
            lengths = (len(line) + 1 for line in self.lines(path))
            self._starts[path] = [0, *accumulate(lengths)]
        line = self.line(path, position.line).decode("utf-8", "replace")
        before = line[: column_of(line, position.character)]
        return self._starts[path][position.line] + len(before.encode())
