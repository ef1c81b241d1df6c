"""What a C or C++ server may go on believing of what it kept, at its next start.

It reads a file again that changed; but of the files that include a header which changed it reads
one, and none whose header came or went, and none for other flags in a configuration. What it kept
of all of them is removed. So is what it kept of a source that is to be read once more for the sake
of a header (``kept_errors``). What the index was made of is noted beside it.
"""

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from sightline.contract.canonical import sha256_hex
from sightline.lsp.c import shards
from sightline.lsp.c.includes import IncludesOf
from sightline.lsp.c.kept_errors import Tried, errors_in, must_load_again, to_read_again
from sightline.lsp.c.parts import Parts
from sightline.lsp.c.shards import Listing
from sightline.lsp.files.reading import read_text

__all__ = ["KeptIndex", "forget", "whole", "write"]

#: What the index was made of when it was last loaded.
_STATE = "includes.json"


class _State(msgspec.Struct, frozen=True):
    #: What every include brought in, in short.
    meanings: dict[str, str]
    #: What every source said, in short, and its includes.
    units: dict[str, list[str]]
    #: How each is compiled, in short.
    commands: dict[str, str]
    #: The only folders of users that could be read, if there was a limit.
    readable: list[str] | None
    #: The headers that were there, and those that were read outside the project.
    headers: frozenset[str]
    outside: frozenset[str]
    #: What every configuration of the server said, in short. It may hold flags for any file.
    configurations: dict[str, str] = {}
    #: Whether parts are to be read before the files that include them, and nobody knows that they
    #: were.
    due: bool = False
    #: What was kept when somebody last looked into it, in short, and what had been read with
    #: errors, with the sources that were read again for it.
    kept: str = ""
    tried: dict[str, list[str]] = {}


class KeptIndex(NamedTuple):
    """What a server loads when it starts."""

    #: Whether parts have to be read before the files that include them.
    unfinished: bool = False
    kept: Mapping[str, tuple[int, int]] = {}
    tried: Mapping[str, Sequence[str]] = {}

    def is_outdone(self, folder: str, units: Collection[str], *, entangled: bool) -> bool:
        """Whether a server that has started since knows less than it kept."""
        return must_load_again(folder, self.kept, units, self.tried, entangled=entangled)


def forget(
    folder: str,
    commands: Mapping[str, str],
    told: IncludesOf,
    configured: Iterable[str],
    parts: Parts,
    *,
    readable: Sequence[str] | None,
    has_read: bool,
) -> KeptIndex:
    """Removes from the index what no longer holds, and would be kept. ``commands``: how each source
    is compiled, in short. ``readable``: the only folders of users that may be read, if there is a
    limit. ``has_read``: a server has read all that it was given last.
    """
    units = commands.keys()
    texts = {path: read_text(path, 1 << 20) for path in configured}
    now = _State(
        told.meanings(),
        {unit: [told.digests.get(unit, ""), *sorted(told.files.get(unit, ()))] for unit in units},
        dict(commands),
        None if readable is None else [*readable],
        frozenset(told.files.keys() - units),
        told.outside & told.files.keys(),
        {path: sha256_hex(text)[:16] for path, text in texts.items() if text},
    )
    state = Path(folder, _STATE)
    before = _state(state)
    ended = before is None or _are_read_anew(before, now)
    if ended:
        _end(folder)
    stale = {*units} if before is None or ended else _stale(before, now, told)
    touched = parts.touched(stale, told)
    there = dict(shards.listing(folder))
    known = before is not None and before.kept == _short(there)
    gone = {os.path.basename(path) for path in stale | touched}
    _remove(folder, [each for each in there if shards.about(each) in gone], there)
    alone = parts.parts - parts.wholes
    due = bool(touched and alone)
    if not due and before is not None and before.due and not has_read:
        # Whoever had begun with them has come to no end that anybody heard of.
        names = Counter(map(shards.about, there))
        due = not Counter(map(os.path.basename, alone)) <= names
    tried = before.tried if before is not None else {}
    if known:
        tried = {path: of for path, of in tried.items() if os.path.basename(path) not in gone}
    elif not due:
        tried = _read_again(folder, units, there, tried)
    now = msgspec.structs.replace(now, due=due, kept="" if due else _short(there), tried=tried)
    if before != now:
        write(state, msgspec.json.encode(now).decode())
    return KeptIndex(due, there, tried)


def _read_again(
    folder: str, units: Collection[str], there: dict[str, tuple[int, int]], tried: Tried
) -> dict[str, list[str]]:
    """Removes what was kept of the sources that are to be read again. What was read with errors."""
    kept = shards.read(folder)
    chosen = to_read_again(kept, units, tried)
    _remove(folder, {kept[unit].shard for unit in chosen.values()}, there)
    wrong = errors_in(kept)
    return {
        path: [*tried.get(path, ()), *filter(None, [chosen.get(path)])] for path in sorted(wrong)
    }


def _remove(folder: str, names: Iterable[str], there: dict[str, tuple[int, int]]) -> None:
    for name in names:
        shards.remove(folder, name)
        del there[name]


def _short(there: Listing) -> str:
    return sha256_hex(repr(sorted(there.items())))[:16]


def _end(folder: str) -> None:
    import shutil  # which takes a moment, and is mostly not needed

    shutil.rmtree(Path(folder, shards.INDEX), ignore_errors=True)


def _are_read_anew(before: _State, now: _State) -> bool:
    """Whether something may be compiled in another way, or what it includes may be closed by now.
    Also a source that no server was given since: what it was read with is what is kept of it.
    """
    if before.configurations != now.configurations or before.readable != now.readable:
        return True
    commands = now.commands
    return any(commands.get(unit, how) != how for unit, how in before.commands.items())


def _stale(before: _State, now: _State, told: IncludesOf) -> set[str]:
    """The files of which something else may be read now."""
    others = [i for i, meant in before.meanings.items() if now.meanings.get(i, meant) != meant]
    stale = told.reached_by(others)
    # What was kept of one that was away may be from the time before.
    stale |= before.units.keys() ^ now.units.keys()
    stale |= (before.headers - now.headers) | (before.outside - now.outside)
    for unit, includes in before.units.items():
        if now.units.get(unit) != includes:
            # What a header declares is kept with the place where this source defined it. A
            # header that is not kept is read in the first source that is known to include it.
            stale |= {unit} | told.brought_by(includes[1:])
    return stale


def _state(path: Path) -> _State | None:
    try:
        return msgspec.json.decode(whole(path).encode(), type=_State)
    except msgspec.DecodeError:
        return None


def write(target: Path, text: str) -> None:
    """Writes a file, unless it says that already."""
    if whole(target) == text:
        return
    fresh = target.with_suffix(".new")
    fresh.write_text(text, encoding="utf-8")
    fresh.replace(target)


def whole(path: Path) -> str:
    """What was written here, however long."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
