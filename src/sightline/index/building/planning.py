"""What has to be done: the files of a root compared with the rows of its index.

A file whose stamp is the recorded one is taken as unchanged without being opened. Everything else
is read; one that turns out to have the recorded hash only gets its new stamp.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from sightline.index.building.discover import Discovery, Found
from sightline.index.building.jobs import Task
from sightline.index.storage.manifest import FileRow
from sightline.workspace.tree import Stamp, Tree

__all__ = ["Plan", "batches", "plan_all", "plan_some"]

#: About how much source one job is given: enough to be efficient, little to lose when cancelled.
BATCH_BYTES = 3 << 20
_BATCH_FILES = 1_000


@dataclass
class Plan:
    tasks: list[Task] = field(default_factory=list)
    #: The stamps the tasks were planned by, and their sizes.
    stamps: dict[str, Stamp] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    #: Set when everything was looked at.
    found: Found | None = None

    def __bool__(self) -> bool:
        return bool(self.tasks or self.removed)

    def add(self, path: str, stamp: Stamp, row: FileRow | None, *, force: bool) -> None:
        known = b"" if row is None or force else row.hash
        self.tasks.append(Task(path, known))
        self.stamps[path] = stamp


def plan_all(discovery: Discovery, tree: Tree, rows: Mapping[str, FileRow], *, force: bool) -> Plan:
    """Everything there is to do for a root."""
    found = discovery.all(tree)
    plan = Plan(found=found)
    for path, stamp in sorted(found.files.items()):
        row = rows.get(path)
        if force or row is None or not row.matches(stamp):
            plan.add(path, stamp, row, force=force)
    plan.removed = sorted(rows.keys() - found.files.keys())
    return plan


def plan_some(
    discovery: Discovery,
    tree: Tree,
    rows: Mapping[str, FileRow],
    paths: Iterable[str],
    doubted: Container[str] = (),
) -> Plan:
    """What there is to do for files that were announced as changed.

    ``doubted`` ones are read whatever their stamps say.
    """
    plan = Plan()
    for path in sorted(paths):
        folder, _, name = path.rpartition("/")
        place = f"{discovery.root}/{folder}" if folder else discovery.root
        stamp = tree.get(place, {}).get(name)
        row = rows.get(path)
        if stamp is None or not discovery.admits(path):
            if row is not None:
                plan.removed.append(path)
        elif row is None or path in doubted or not row.matches(stamp):
            plan.add(path, stamp, row, force=False)
    return plan


def batches(plan: Plan) -> list[list[Task]]:
    """The tasks in groups of a fair size, in the order of paths."""
    groups: list[list[Task]] = []
    group: list[Task] = []
    size = 0
    for task in plan.tasks:
        own = min(plan.stamps[task.path].size, BATCH_BYTES)
        if group and (size + own > BATCH_BYTES or len(group) >= _BATCH_FILES):
            groups.append(group)
            group, size = [], 0
        group.append(task)
        size += own
    if group:
        groups.append(group)
    return groups
