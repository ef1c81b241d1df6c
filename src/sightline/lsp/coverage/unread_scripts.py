"""Scripts that servers do not read, since only their first line tells the language.

Servers find the files of a project by their endings. Commands are often without one, and a function
of a library that only commands call seems to have no uses. So the name that was asked about is
looked for in them. It may be another symbol's; it is said, and never taken for a reference.

>>> [is_script(line, ["bash", "python"]) for line in (b"#!/usr/bin/env -S bash -e", b"#!/bin/awk")]
[True, False]
>>> is_script(b"#! /opt/python3.12 -u", ["python"])
True
"""

import re
from collections.abc import Callable, Collection, Sequence

from sightline.contract.source import SourceFile
from sightline.contract.texts import column_of, line_text, listed_paths
from sightline.contract.values import Location, Position
from sightline.lsp.coverage.other_builds import name_at
from sightline.lsp.coverage.source_texts import SourceTexts, word
from sightline.lsp.project.projects import Project
from sightline.lsp.shell import function_at
from sightline.workspace.changes import Change
from sightline.workspace.regular import open_regular

__all__ = ["UnreadScripts", "is_script", "whole_name"]

#: So much of a file is looked at to see whether it is a script.
_FIRST = 128
#: So many files are looked at.
_MOST = 20_000
#: So many are named in a sentence, if their names are plain.
_NAMED = 3
_MISSING = "uses there may be missing."
_SHEBANG = re.compile(rb"#![ \t]*(?:\S*/env[ \t]+(?:-S[ \t]*)?)?(?:\S*/)?([a-z]+)[\d.]*(?:\s|\Z)")


def is_script(line: bytes, interpreters: Collection[str]) -> bool:
    """Whether a first line names one of these programs."""
    found = _SHEBANG.match(line)
    return found is not None and found[1].decode() in interpreters


def whole_name(
    language: str, file: SourceFile, position: Position, found: Sequence[Location]
) -> str:
    """The name at a position. What the server takes for it tells, where names may have hyphens."""
    name = name_at(file.text, position, language)
    if language != "bash":
        return name
    line = line_text(file.text, position.line) or ""
    column = column_of(line, position.character)
    for place in found:
        start, end = place.range.start, place.range.end
        if place.uri == file.uri and start.line == end.line == position.line:
            first, last = column_of(line, start.character), column_of(line, end.character)
            if first <= column <= last and name in line[first:last]:
                return line[first:last]
    return function_at(file.text, position) or name


class UnreadScripts:
    """Those of one project, in one language."""

    def __init__(self, language: str, project: Callable[[], Project]) -> None:
        self._language = language
        self._project = project
        self._texts = SourceTexts(self._files)
        #: Whether a file is a script, as it was last seen.
        self._known: dict[str, bool] = {}
        self._too_many = False

    def changed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._known.pop(change.path, None)
        self._texts.changed(changes)

    async def note(self, name: str) -> str:
        """What is to be said of a name that was asked about."""
        if not name:
            return ""
        hits = await self._texts.find(word(name), name.encode())
        if hits is None or self._too_many:
            return f"Scripts without an extension are too much to look through; {_MISSING}"
        if not hits:
            return ""
        start = len(self._project().folder) + 1
        names = [path[start:] for path in sorted(hits)]
        shown = listed_paths(names, _NAMED)
        scripts = "1 script" if len(hits) == 1 else f"{len(hits):,} scripts"
        where = f"{scripts} that the server does not read{shown}"
        return f"The name also stands in {where}; {_MISSING}"

    def _files(self) -> list[str]:
        project = self._project()
        language = project.projects.registry.languages[self._language]
        found: list[str] = []
        looked = 0
        for path, name in project.walk():
            if language.scripts and name.endswith(language.scripts):
                found.append(path)
            elif "." not in name and not project.projects.registry.language_of(name):
                looked += 1
                if looked <= _MOST and self._is_script(path, language.interpreters):
                    found.append(path)
        self._too_many = looked > _MOST
        return sorted(found)

    def _is_script(self, path: str, interpreters: Collection[str]) -> bool:
        if path not in self._known:
            self._known[path] = is_script(_first_line(path), interpreters)
        return self._known[path]


def _first_line(path: str) -> bytes:
    file = open_regular(path, links=True)
    if file is None:
        return b""
    with file:
        try:
            return file.read(_FIRST).partition(b"\n")[0]
        except OSError:
            return b""
