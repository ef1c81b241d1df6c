"""Scripts without an extension in which a server may have missed uses.

Servers find the files of a project by their endings. Scripts that only their first line tells are
held open for those that read them then; others are not read by anybody: those of a dialect, those
that are too many, and those that cannot be shown. And a server may leave out one that it was shown,
because a project tells it so, or not follow what it imports. A function of a library that only such
scripts call seems to have no uses. So the name that was asked about is looked for in them. It may
be another symbol's; it is said, and never taken for a reference.
"""

from collections.abc import Callable, Collection, Sequence

from sightline.contract.source import SourceFile
from sightline.contract.texts import column_of, line_text
from sightline.contract.unaccounted import Reason, Unaccounted
from sightline.contract.values import Location, Position
from sightline.lsp.coverage.in_files import in_files
from sightline.lsp.project.projects import Project
from sightline.lsp.shell import function_at
from sightline.text.names import name_at
from sightline.text.sources import SourceTexts, word
from sightline.workspace.changes import Change

__all__ = ["UnreadScripts", "whole_name"]


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
    """Those of one server in one project."""

    def __init__(self, project: Callable[[], Project]) -> None:
        self._project = project
        self._texts = SourceTexts(self._files)
        self._too_many = False

    def changed(self, changes: Sequence[Change]) -> None:
        self._texts.changed(changes)

    async def unaccounted(self, name: str, found: Collection[str]) -> Sequence[Unaccounted]:
        """The scripts that have a name, but for the files in ``found``: those have uses."""
        hits = await self._texts.find(word(name)) if name else {}
        if hits is None or self._too_many:
            return [Unaccounted(Reason.OVER_BUDGET, 1)]
        return [in_files(Reason.EXCLUDED_FILE, self._texts, hits, found)]

    def _files(self) -> list[str]:
        project = self._project()
        projects = project.projects
        languages = [projects.registry.languages[name] for name in project.spec.languages]
        endings = tuple(ending for language in languages for ending in language.scripts)
        dialects = {program for language in languages for program in language.dialects}
        found = [path for path, name in project.walk() if name.endswith(endings)] if endings else []
        if dialects:
            unnamed = filter(project.holds, projects.unnamed())
            found += (p for p in unnamed if projects.first_lines.program(p) in dialects)
        found += project.scripts()
        self._too_many = projects.too_many_unnamed
        return sorted(found)
