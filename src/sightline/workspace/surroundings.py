"""The repositories that roots are parts of: observed, never read or shown.

Who opens one package of a repository gets answers from servers that read its neighbours, too: what
they import, headers, settings that a project file extends. A change there must reach the servers
like one inside. Of installed packages only the outermost folder is observed, where an install
shows. What is too large to be observed is not, and people are told so.
"""

from collections.abc import Iterable, Sequence

from sightline.contract.uris import is_under
from sightline.workspace.observers import Observer, Scope, Sweeper, Watcher, observe
from sightline.workspace.roots import Root
from sightline.workspace.tree import Tree

__all__ = ["Surroundings"]

#: More files than this are not observed where they are announced, and where they are swept for,
#: which every question has to wait for.
_MAX_ANNOUNCED = 100_000
_MAX_SWEPT = 5_000


class Surroundings:
    def __init__(self) -> None:
        self.observers: list[Observer] = []
        #: Why a repository is not observed.
        self.unobserved: dict[str, str] = {}
        self._starting: Observer | None = None

    def follow(self, roots: Iterable[Root], *, notify: bool) -> None:
        """Observes what is around these roots, and nothing else. Looks at the disk."""
        wanted = _wanted(list(roots))
        kept = [each for each in self.observers if wanted.get(each.top) == each.scope.skip]
        for observer in self.observers:
            if observer not in kept:
                observer.close()
        self.observers, self.unobserved = kept, {}
        # In one order in every process: the first epochs come from the trees as they stand here.
        for top in sorted(wanted.keys() - {each.top for each in kept}):
            scope = Scope(wanted[top], True, _MAX_ANNOUNCED, _MAX_SWEPT)
            if self._starting is not None:
                self._starting.close()  # its first look failed
            self._starting = observer = observe(top, notify=notify, scope=scope)
            observer.start()
            self._starting = None
            why = _too_much(observer)
            if why:
                observer.close()
                self.unobserved[top] = why
            else:
                self.observers.append(observer)

    def trees(self) -> list[tuple[str, Tree]]:
        return [(observer.top, observer.tree) for observer in self.observers]

    def why_not(self, root: Root) -> str:
        """Why the repository that a root is a part of is not observed, if it is not."""
        outgrown = {each.top: _too_much(each) for each in self.observers}
        unobserved = self.unobserved | outgrown
        return next((why for top, why in unobserved.items() if why and _holds(top, root)), "")

    def report(self, root: Root) -> str:
        """What people are told about the rest of a root's repository; nothing if there is none."""
        if self.why_not(root):
            return f"not watched: {self.why_not(root)}"
        if any(_holds(each.top, root) for each in self.observers):
            return "watched"
        return ""

    def close(self) -> None:
        """Ends a first look that is under way, too."""
        for observer in self.observers:
            observer.close()
        if self._starting is not None:
            self._starting.close()


def _holds(top: str, root: Root) -> bool:
    return bool(root.around) and is_under(root.around, top)


def _too_much(observer: Observer) -> str:
    """Why a repository is not observed, if it is not."""
    if observer.complete:
        return ""
    if isinstance(observer, Watcher) and observer.sweeps:
        return observer.reason
    limit = _MAX_SWEPT if isinstance(observer, Sweeper) else _MAX_ANNOUNCED
    return f"it has more than {limit:,} files"


def _wanted(roots: Sequence[Root]) -> dict[str, frozenset[str]]:
    """What should be observed, each with the folders in it that are not its concern."""
    known = [root.real for root in roots]
    tops = {root.around for root in roots if root.around}
    return {
        top: frozenset(real for real in known if is_under(real, top))
        for top in sorted(tops)
        if not any(is_under(top, other) for other in (*known, *(tops - {top})))
    }
