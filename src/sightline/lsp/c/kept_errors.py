"""What a C or C++ server read with errors, and what it is to read once more because of that.

After an error it goes on, and much of what follows is lost without a word: the rest of an
expression that has an unknown name in it, and after a header that is not there every use of a
template. It notes in its index which files it read so, and tells nobody.

A header has no errors of its own: it is noted for one if any file that includes it has errors and
was read first. When one without errors is read later, what that says of the header takes its place
on disk, but not in the memory of the server. And where two are read at a time, or the server is
ended between them, the one with errors may be what stays on disk. So some file without errors that
includes it is read again then, and what was kept is loaded.

>>> kept = {"/bad.c": Kept("", True, ("/x.h",)), "/x.h": Kept("", True, ())}
>>> to_read_again(kept, ["/bad.c", "/good.c"], {})
{}
>>> to_read_again(kept | {"/good.c": Kept("", False, ("/x.h",))}, ["/bad.c", "/good.c"], {})
{'/x.h': '/good.c'}
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence

from sightline.lsp.c.shards import Kept, Listing, listing, read

__all__ = ["Tried", "errors_in", "must_load_again", "to_read_again", "with_errors"]

#: The files that were read with errors, each with the sources that were read again for it.
Tried = Mapping[str, Sequence[str]]
#: So many sources are read again for one file: a header that some other header includes is not
#: included wherever that one is.
_MOST_TRIED = 3


def with_errors(folder: str, paths: Collection[str]) -> frozenset[str]:
    """Those of these files that were read with errors, by the index beside a database."""
    names = {os.path.basename(path) for path in paths}
    return errors_in(read(folder, names.__contains__)).intersection(paths)


def errors_in(kept: Mapping[str, Kept]) -> frozenset[str]:
    return frozenset(path for path, each in kept.items() if each.had_errors)


def to_read_again(kept: Mapping[str, Kept], units: Collection[str], tried: Tried) -> dict[str, str]:
    """The files that were read with errors and need not have been, each with a source that has none
    and includes it: the one with the fewest headers in between that was not tried yet.
    """
    wrong = errors_in(kept)
    sound = [unit for unit in sorted(units) if unit in kept and unit not in wrong]
    found: dict[str, str] = {}
    for order in (sound, sound[::-1]) if wrong else ():
        nearest = _nearest(order, kept)
        for path in sorted(wrong & nearest.keys()):
            before = tried.get(path, ())
            if nearest[path] not in before and len(before) < _MOST_TRIED:
                found.setdefault(path, nearest[path])
    return found


def _nearest(units: Iterable[str], kept: Mapping[str, Kept]) -> dict[str, str]:
    """Of every file, the first of these units that reaches it in the fewest steps."""
    found = {unit: unit for unit in units}
    reached = list(found)
    while reached:
        further = []
        for path in reached:
            for included in kept[path].includes if path in kept else ():
                if included not in found:
                    found[included] = found[path]
                    further.append(included)
        reached = further
    return found


def must_load_again(
    folder: str, before: Listing, units: Collection[str], tried: Tried, *, entangled: bool
) -> bool:
    """Whether a server that was started on what was listed before may know less than it kept."""
    fresh = {name for name, stamp in listing(folder).items() if before.get(name) != stamp}
    if entangled or not fresh:
        return bool(fresh)
    kept = read(folder)
    written = {path for path, each in kept.items() if each.shard in fresh}
    wrong = {path for path in written if kept[path].had_errors}
    sound = written - wrong
    if not sound.isdisjoint(tried) or (wrong.intersection(units) and not sound <= {*units}):
        return True
    return bool(to_read_again(kept, units, tried))
