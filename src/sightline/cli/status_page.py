"""Running programs for people: one page of text from what their status sockets tell.

Names that came from clients are shown without their control characters, so that nobody can write
to the user's terminal through them.
"""

import re
from typing import Any

from sightline.cli.plain import plain
from sightline.process.memory import tree_memory

__all__ = ["page"]

Report = dict[str, Any]
#: Below this many columns a call is shown without its age and size.
_NARROW = 72
_LEAD = 11


def page(programs: list[Report], now: float, *, calls: int = 5, width: int = 0) -> str:
    """Every program, with this many of its last calls, for so many columns (0: any number)."""
    return "\n\n".join(_program(program, now, calls, width) for program in programs)


def _program(program: Report, now: float, calls: int, width: int) -> str:
    lines = [plain(f"{program['transport']}  pid {program['pid']}  version {program['version']}")]
    for root in program["roots"]:
        about = f"  ({root['files']} files, {plain(root['changes'])})"
        lines.append(f"  root     {_path(root['path'], width - _LEAD - len(about), width)}{about}")
        if "around" in root:
            lines.append(f"           rest of its repository {plain(root['around'])}")
    lines += [_server(server, width) for server in program["servers"]]
    lines += [_index(index, width) for index in program.get("indexes", [])]
    if program["sessions"]:
        names = ", ".join(plain(name) or "unnamed" for name in program["sessions"])
        lines.append(f"  clients  {names}")
    caches = program["caches"]
    kept = f"{caches['answers']} answers kept, {caches['hits']} used again"
    lines.append(f"  caches   {_size(caches['bytes'])}: {kept}, {caches['retained']} result sets")
    outcomes = program["calls"]["outcomes"]
    counts = ", ".join(f"{count} {_words(name)}" for name, count in sorted(outcomes.items()))
    lines.append(f"  calls    {program['calls']['inFlight']} in flight; {counts or 'none yet'}")
    recent = program["calls"]["recent"][-calls:] if calls else []
    if recent:
        lines.append(_row("age", "time", "size", "tool", "outcome", width))
    lines += [_call(call, now, width) for call in reversed(recent)]
    return "\n".join(lines)


def _server(server: Report, width: int) -> str:
    version = f" {plain(server['version'])}" if server["version"] else ""
    busy = f", {server['pending']} pending" if server["pending"] else ""
    process = f"pid {server['pid']}, {_size(tree_memory(server['pid']))}  " if server["pid"] else ""
    name, state = plain(server["name"]), plain(server["state"])
    about = f"  server   {name}{version}  {state}{busy}  {process}"
    return about + _path(server["root"], width - len(about), width)


def _index(index: Report, width: int) -> str:
    files = f"{index['done']} of {index['total']} files"
    counts = files if index["state"] == "building" else f"{index['done']} files"
    about = f"  {index['state']}, {counts}"
    return f"  index    {_path(index['root'], width - _LEAD - len(about), width)}{about}"


def _call(call: Report, now: float, width: int) -> str:
    age, took, size = _age(now - call["at"]), _time(call["ms"]), _size(call["bytes"])
    return _row(age, took, size, plain(call["tool"]), _words(call["outcome"]), width)


def _row(age: str, took: str, size: str, tool: str, outcome: str, width: int) -> str:
    if 0 < width < _NARROW:
        return f" {took:>8} {outcome:<16}  {tool}"
    return f"  {age:>6} {took:>8} {size:>8}  {tool:<32}  {outcome}".rstrip()


def _path(path: str, room: int, width: int) -> str:
    """A path whose end is kept where there is no room for all of it."""
    text = plain(path)
    return text if not width or len(text) <= room else "…" + text[-max(8, room - 1) :]


def _words(name: str) -> str:
    """The name of an outcome, as a person says it."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", plain(name)).lower()


def _age(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min" if whole < 6000 else "long"


def _time(ms: float) -> str:
    return f"{ms:.1f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def _size(count: int) -> str:
    if count < 1024:
        return f"{count} B"
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
