"""Running programs for people: one page of text from what their status sockets tell.

Names that came from clients are shown without their control characters, so that nobody can write
to the user's terminal through them.
"""

from typing import Any

__all__ = ["page", "plain"]

Report = dict[str, Any]
_COLUMNS = ("age", "time", "size", "outcome", "tool")


def page(programs: list[Report], now: float, *, calls: int = 5) -> str:
    """Every program, with this many of its last calls."""
    return "\n\n".join(_program(program, now, calls) for program in programs)


def plain(text: object) -> str:
    """Text that cannot move a cursor."""
    return "".join(c if c.isprintable() else "?" for c in str(text))


def _program(program: Report, now: float, calls: int) -> str:
    lines = [f"{program['transport']}  pid {program['pid']}  version {program['version']}"]
    lines += [
        f"  root     {plain(root['path'])}  ({root['files']} files, {root['changes']})"
        for root in program["roots"]
    ]
    lines += [_server(server) for server in program["servers"]]
    lines += [_index(index) for index in program.get("indexes", [])]
    caches = program["caches"]
    lines.append(
        f"  caches   {caches['answers']} answers ({caches['hits']} hits), "
        f"{caches['retained']} result sets, {_size(caches['bytes'])}"
    )
    if program["sessions"]:
        names = ", ".join(plain(name) or "unnamed" for name in program["sessions"])
        lines.append(f"  clients  {names}")
    outcomes = program["calls"]["outcomes"]
    counts = ", ".join(f"{count} {name}" for name, count in sorted(outcomes.items()))
    lines.append(f"  calls    {program['calls']['inFlight']} in flight; {counts or 'none yet'}")
    recent = program["calls"]["recent"][-calls:] if calls else []
    if recent:
        age, time, size, outcome, tool = _COLUMNS
        lines.append(f"           {age:>6} {time:>10} {size:>10}  {outcome:<16} {tool}")
    lines += [_call(call, now) for call in reversed(recent)]
    return "\n".join(lines)


def _server(server: Report) -> str:
    version = f" {plain(server['version'])}" if server["version"] else ""
    busy = f", {server['pending']} pending" if server["pending"] else ""
    return f"  server   {server['name']}{version}  {server['state']}{busy}"


def _index(index: Report) -> str:
    files = f"{index['done']} of {index['total']} files"
    counts = files if index["state"] == "building" else f"{index['done']} files"
    return f"  index    {plain(index['root'])}  {index['state']}, {counts}"


def _call(call: Report, now: float) -> str:
    age, took, size = _age(now - call["at"]), f"{call['ms']:.1f} ms", _size(call["bytes"])
    tool = plain(call["tool"])
    return f"           {age:>6} {took:>10} {size:>10}  {call['outcome']:<16} {tool}"


def _age(seconds: float) -> str:
    whole = max(0, int(seconds))
    return f"{whole} s" if whole < 100 else f"{whole // 60} min" if whole < 6000 else "long"


def _size(count: int) -> str:
    return f"{count} B" if count < 1024 else f"{count / 1024:.1f} KiB"
