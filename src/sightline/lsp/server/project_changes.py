"""What of the workspace concerns one running server: of which changes it is told, and whether they
make another project.

A server that is told of a change takes it in by its own rule (``settling``). Where what the project
is made of is different, or what the name of a module stands for, no rule helps and it starts over.
"""

from collections.abc import Collection, Sequence

from sightline.contract.uris import is_under
from sightline.lsp import shell
from sightline.lsp.c.compile_database import Database
from sightline.lsp.project.first_lines import may_be_script
from sightline.lsp.server.launch import Launch, Trees
from sightline.lsp.server.watchers import interested, watches
from sightline.lsp.typescript.held_open import HeldOpen
from sightline.lsp.typescript.tsconfig import is_twin
from sightline.lsp.wire.client import Client
from sightline.workspace.changes import Change, Kind

__all__ = ["ProjectChanges"]

#: Of so many files it is looked at whether they are scripts, when a call begins.
_MANY = 200


class ProjectChanges:
    def __init__(self, launch: Launch, client: Client, database: Database) -> None:
        self._launch = launch
        self._spec = launch.spec
        #: It knows what the server has registered for.
        self._client = client
        self._database = database

    def told(self, changes: Sequence[Change]) -> list[Change]:
        """The changes that the server is notified of."""
        folder, speaks = self._launch.folder, self._launch.project().speaks
        return [
            change
            for change in changes
            if self.is_own(change.path)
            or interested(self._client, folder, change.path)
            # It may read what lies elsewhere without asking to hear of it.
            or (not is_under(change.path, folder) and speaks(_name(change.path)))
        ]

    def is_own(self, path: str) -> bool:
        """Whether a path is a project file, a file of the server's languages, or one that such a
        file includes, in its project.
        """
        project, name = self._launch.project(), _name(path)
        known = name in self._spec.root_markers or project.speaks(name)
        return project.holds(path) and (known or path in self._database.included)

    def is_used(self, path: str) -> bool:
        """Whether a path is a file outside the project folder that the server depends on: one that
        it may have read, or looked for in vain.
        """
        if is_under(path, self._launch.folder):
            return False
        if self._spec.compile_database:
            return path in self._database.outside
        name = _name(path)
        if name not in self._spec.root_markers and not self._launch.project().speaks(name):
            return False
        return not watches(self._client) or interested(self._client, self._launch.folder, path)

    def some_file(self) -> str | None:
        """Any file of the project."""
        return next(iter(self._launch.project().files()), None)

    def may_move(self, changes: Sequence[Change]) -> bool:
        """Whether other documents may have to be open for the server to load every project."""
        return self._spec.opens in ("tsconfig", "gomod") and any(
            change.kind != Kind.CHANGED or _name(change.path) in self._spec.root_markers
            for change in changes
        )

    def scripts_move(
        self, changes: Sequence[Change], shown: Collection[str], leads_out: bool
    ) -> bool:
        """Whether other scripts are to be held open, or one of them is of a kind that the server
        must read from the start. ``leads_out``: some take in what lies outside.
        """
        some = [change for change in changes if may_be_script(_name(change.path))]
        if not some:
            return False
        project = self._launch.project()
        some = [change for change in some if project.holds(change.path)]
        return len(some) > _MANY or any(
            change.kind != Kind.CHANGED or self._keeps_more(change.path, leads_out)
            if change.path in shown
            else project.is_script(change.path)
            for change in some
        )

    def _keeps_more(self, path: str, leads_out: bool) -> bool:
        """Whether a changed script takes in, or may have taken in, what would be kept."""
        if self._spec.forgets_closed:
            return False
        file = self._launch.read(path)
        return leads_out or file is None or shell.leads_out(file[0].text, path, self._launch.folder)

    def make_another(
        self,
        changes: Sequence[Change],
        folders: Sequence[Change],
        trees: Trees,
        held_open: HeldOpen,
    ) -> bool:
        """Whether what the project is made of, or what a module's name stands for, is different."""
        if any(change.path in held_open.decided_by for change in changes):
            return True
        if self._spec.resolves_once and held_open.named and folders:
            return True
        if self._spec.opens == "gomod" and self._is_new_package(changes, trees):
            return True
        return self._spec.resolves_once and any(
            change.kind != Kind.CHANGED
            and is_twin(change.path, _names_in(change.path.rpartition("/")[0], trees))
            for change in changes
        )

    def _is_new_package(self, changes: Sequence[Change], trees: Trees) -> bool:
        """Whether a folder has its first files: nobody would look there before they are opened."""
        came = {change.path for change in changes if change.kind == Kind.CREATED}
        speaks = self._launch.project().speaks
        return any(
            all(f"{folder}/{name}" in came for name in _names_in(folder, trees) if speaks(name))
            for folder, _, name in (path.rpartition("/") for path in came)
            if speaks(name)
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _names_in(folder: str, trees: Trees) -> Collection[str]:
    return next((tree[folder] for _, tree in trees if folder in tree), ())
