"""Which files the user's version control ignores, decided by reading ignore files.

Git is never run. What is read: ``.gitignore`` in every folder from the repository's top down,
``info/exclude`` of the repository (also where a worktree's ``.git`` file points), and the user's
own excludes file. The rules are Git's: within a file the last match wins, deeper files win over
outer ones, and nothing inside an ignored folder comes back. Patterns run on a linear-time engine,
and what they cost is bounded: equal files are read once, and a file that is too long, or that comes
when a root has its fill of patterns, holds for nothing. Such files are named, see ``unread``.

>>> rules = Rules.parse("*.log\\n!keep.log\\n/build/\\n", "")
>>> [rules.verdict(p, folder=False) for p in ("a/x.log", "a/keep.log", "build")]
[True, False, None]
>>> rules.verdict("build", folder=True)
True
"""

import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from sightline.workspace.linear import BadPattern, Expression, compile_expression
from sightline.workspace.regular import open_regular

__all__ = ["IGNORE_FILE", "IgnoreFiles", "Rules", "glob_expression", "read_small"]

IGNORE_FILE = ".gitignore"
_MAX_BYTES = 1 << 20
#: Of one ignore file, and of all different ones of a root. A pattern takes about 6 KB in the
#: engine, and a few microseconds of each path.
_MAX_FILE_BYTES = 256 << 10
_MAX_FILE_PATTERNS = 5_000
_MAX_ROOT_BYTES = 2 << 20
_MAX_ROOT_PATTERNS = 20_000
#: How often patterns that hold for one path may turn from ignoring to keeping. Each turn takes two
#: microseconds of every path, and equal files in folders inside each other count each time.
_MAX_TURNS = 5_000
_MAX_CLIMB = 64

#: An expression that nothing matches.
_NEVER = r"[^\x{00}-\x{ff}]"
_CLASSES = {
    "alnum": string.ascii_letters + string.digits,
    "alpha": string.ascii_letters,
    "blank": " \t",
    "cntrl": "".join(map(chr, [*range(32), 127])),
    "digit": string.digits,
    "graph": string.ascii_letters + string.digits + string.punctuation,
    "lower": string.ascii_lowercase,
    "print": string.ascii_letters + string.digits + string.punctuation + " ",
    "punct": string.punctuation,
    "space": string.whitespace,
    "upper": string.ascii_uppercase,
    "xdigit": string.hexdigits,
}


class _Group(NamedTuple):
    """Neighbouring patterns of one sign, as one expression for files and one for folders."""

    ignores: bool
    files: tuple[Expression, ...]
    folders: tuple[Expression, ...]


#: What one text says, strongest first, wherever it stands.
_Groups = tuple[_Group, ...]


@dataclass(frozen=True)
class Rules:
    """The patterns of one ignore file. ``base`` is its folder below the root, with a slash."""

    base: str
    groups: _Groups

    @classmethod
    def parse(cls, text: str, base: str, *, choices: bool = False) -> "Rules":
        """``choices``: see ``glob_expression``."""
        return cls(base, _parse(_patterns(text, choices=choices)))

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        """Whether ``path`` (relative to the root) is ignored; ``None`` if nothing is said of it."""
        if not path.startswith(self.base):
            return None
        inner = path[len(self.base) :].encode("utf-8", "surrogateescape")
        for group in self.groups:
            expressions = group.folders if folder else group.files
            if any(expression.fills(inner) for expression in expressions):
                return group.ignores
        return None


def _patterns(text: str, *, choices: bool) -> list[tuple[bool, str, bool]]:
    found = (_expression(line, choices=choices) for line in _lines(text))
    return [each for each in found if each is not None]


def _parse(patterns: list[tuple[bool, str, bool]]) -> _Groups:
    runs = groupby(patterns, key=itemgetter(0))
    groups = [_compile(ignores, [p[1:] for p in run]) for ignores, run in runs]
    return tuple(reversed(groups))


def _compile(ignores: bool, run: list[tuple[str, bool]]) -> _Group:
    every = [expression for expression, _ in run]
    files = [expression for expression, only_folders in run if not only_folders]
    return _Group(ignores, _alternatives(files), _alternatives(every))


def _alternatives(expressions: list[str]) -> tuple[Expression, ...]:
    if not expressions:
        return ()
    try:
        return (compile_expression("|".join(f"(?:{e})" for e in expressions), utf8=False),)
    except BadPattern:
        # One bad pattern must not switch the others off: keep those that compile alone.
        good = [e for e in expressions if _compiles(e)]
        if len(good) < len(expressions):
            return _alternatives(good)
        half = len(good) // 2  # too many at once for the engine's memory
        return _alternatives(good[:half]) + _alternatives(good[half:])


def _compiles(expression: str) -> bool:
    try:
        compile_expression(expression, utf8=False)
    except BadPattern:
        return False
    return True


def _expression(line: str, *, choices: bool) -> tuple[bool, str, bool] | None:
    """(ignores, expression, only folders) of one line, or ``None`` if it holds no pattern."""
    line = line.removesuffix("\r")
    while line.endswith(" ") and not line.endswith("\\ "):
        line = line[:-1]
    if not line or line.startswith("#"):
        return None
    ignores = not line.startswith("!")
    if not ignores:
        line = line[1:]
    only_folders = line.endswith("/")
    line = line.rstrip("/") if only_folders else line
    if not line:
        return None
    anchored = "/" in line
    line = line.removeprefix("/")
    expression = glob_expression(line, choices=choices)
    if not anchored:
        expression = f"(?:.*/)?{expression}"
    return ignores, expression, only_folders


def glob_expression(pattern: str, *, choices: bool = False) -> str:
    """A Git glob as an RE2 expression over the bytes of a path, read as Latin-1.

    ``choices``: ``{a,b}`` stands for either, as for programs that read Git's files in their own
    way. For them a pattern with a brace too many stands for nothing, and so does an empty choice.
    """
    raw = pattern.encode("utf-8", "surrogateescape").decode("latin-1")
    out: list[str] = []
    place = depth = 0
    while place < len(raw):
        character = raw[place]
        if choices and (character in "{}" or (character == "," and depth)):
            depth += {"{": 1, "}": -1}.get(character, 0)
            if depth < 0:
                return _NEVER
            _choose(out, character)
            place += 1
        elif raw.startswith("**", place):
            step, text = _double_star(raw, place, "{,}" if depth else "")
            place += step
            out.append(text)
        elif character == "*":
            out.append("[^/]*")
            place += 1
        elif character == "?":
            out.append("[^/]")
            place += 1
        elif character == "[":
            step, text = _bracket(raw, place)
            place += step
            out.append(text)
        elif character == "\\" and place + 1 < len(raw):
            out.append(_quote(raw[place + 1]))
            place += 2
        else:
            out.append(_quote(character))
            place += 1
    return _NEVER if depth else "".join(out)


def _choose(out: list[str], character: str) -> None:
    """Adds where a choice begins, goes on or ends, and leaves out those of nothing."""
    if character == "{":
        out.append("(?:")
    elif character == ",":
        if out[-1] not in ("(?:", "|"):
            out.append("|")
    else:
        if out[-1] == "|":
            out.pop()
        if out[-1] == "(?:":
            out.pop()
        else:
            out.append(")")


def _double_star(raw: str, place: int, ends: str) -> tuple[int, str]:
    """Two stars or more: any folders where they stand alone, else like one star. ``ends``: what
    they may stand alone between, besides slashes.
    """
    after = place
    while raw.startswith("*", after):
        after += 1
    starts = place == 0 or raw[place - 1] in f"/{ends}"
    if starts and raw.startswith("/", after):
        return after - place + 1, "(?:.*/)?"
    if starts and (after == len(raw) or raw[after] in ends):
        return after - place, ".*"
    return after - place, "[^/]*"


def _bracket(raw: str, place: int) -> tuple[int, str]:
    """A character class, which never takes a slash. One that never ends matches nothing."""
    inside = place + 1
    negated = raw[inside : inside + 1] in ("!", "^")
    inside += negated
    members: set[int] = set()
    begin = inside
    while inside == begin or raw[inside : inside + 1] != "]":
        step, found = _member(raw, inside)
        if not step:
            return len(raw) - place, _NEVER
        members |= found
        inside += step
    taken = (set(range(256)) - members if negated else members) - {ord("/")}
    body = "".join(f"\\x{{{code:02x}}}" for code in sorted(taken))
    return inside - place + 1, f"[{body}]" if body else _NEVER


def _member(raw: str, place: int) -> tuple[int, set[int]]:
    """One member of a class: how long it is (0: the class never ends) and what it takes."""
    end = raw.find("]", place + 2) if raw.startswith("[:", place) else -1
    if end > place + 2 and raw[end - 1] == ":":
        named = _CLASSES.get(raw[place + 2 : end - 1])
        return (0, set()) if named is None else (end - place + 1, set(map(ord, named)))
    first, step = _letter(raw, place)
    if (
        first
        and raw.startswith("-", place + step)
        and raw[place + step + 1 : place + step + 2]
        not in (
            "",
            "]",
        )
    ):
        last, more = _letter(raw, place + step + 1)
        if not last:
            return 0, set()
        return step + 1 + more, set(range(ord(first), ord(last) + 1)) | {ord(first)}
    return (step, {ord(first)}) if first else (0, set())


def _letter(raw: str, place: int) -> tuple[str, int]:
    if raw.startswith("\\", place):
        return raw[place + 1 : place + 2], 2
    return raw[place : place + 1], 1


def _quote(character: str) -> str:
    return f"\\x{{{ord(character):02x}}}"


class IgnoreFiles:
    """The ignore files that hold for one root, wherever they lie."""

    def __init__(self, root: str, environment: Mapping[str, str], *, choices: bool = False) -> None:
        """``choices``: see ``glob_expression``."""
        self.root = root
        self._choices = choices
        self._environment = environment
        self._outer = self._find_outer()
        #: What each text says; nothing, where it is too long or came too late.
        self._known: dict[bytes, _Groups | None] = {}
        self._bytes = self._patterns = 0
        #: The ignore files whose patterns do not hold, relative to the root where they lie in it.
        self.unread: list[str] = []

    def begin(self) -> None:
        """Forgets everything. Folders are asked about in one order, so that equal trees agree."""
        self._outer = self._find_outer()
        self._known = {}
        self._bytes = self._patterns = 0
        self.unread = []

    def above(self) -> tuple[Rules, ...]:
        """The rules that hold in the root folder before its own ignore file, weakest first."""
        users = self._user_files()
        found = [self._outside(path, prefix, links=path in users) for path, prefix in self._outer]
        return tuple(rules for rules in found if rules is not None)

    def inside(self, folder: str, outer: Sequence[Rules] = ()) -> Rules | None:
        """The rules of the ignore file directly in ``folder``, a path relative to the root, where
        those of outer folders hold, too.
        """
        base = f"{folder}/" if folder else ""
        shown = base + IGNORE_FILE
        parsed = self._parsed(os.path.join(self.root, base, IGNORE_FILE), shown)
        if parsed is None:
            return None
        if len(parsed) + sum(len(rules.groups) for rules in outer) > _MAX_TURNS:
            self.unread.append(shown)
            return None
        return Rules(base, parsed)

    def stamp(self) -> tuple[tuple[str, int, int], ...]:
        """What the files outside the tracked tree look like now; changes when one of them does."""
        seen: list[tuple[str, int, int]] = []
        for path, _ in self._find_outer():
            try:
                status = os.stat(path)
                seen.append((path, status.st_mtime_ns, status.st_size))
            except OSError:
                seen.append((path, 0, -1))
        return tuple(seen)

    def _find_outer(self) -> list[tuple[str, str]]:
        """(file, where the root lies below its folder) from the weakest to the strongest."""
        top = _repository_top(self.root)
        if top is None:
            return [(path, "") for path in self._user_files()]
        below = self.root[len(top) :].strip("/")
        found = [(path, below) for path in self._user_files()]
        found.append((_exclude_file(top), below))
        folder = top
        for part in below.split("/") if below else []:
            rest = self.root[len(folder) :].strip("/")
            found.append((os.path.join(folder, IGNORE_FILE), rest))
            folder = os.path.join(folder, part)
        return found

    def _user_files(self) -> list[str]:
        home = self._environment.get("HOME", "")
        base = self._environment.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
        chosen = ""
        for file in (f"{base}/git/config", f"{home}/.gitconfig"):
            if file.startswith("/"):
                chosen = _excludes_setting(read_small(file, links=True), home) or chosen
        default = f"{base}/git/ignore"
        path = chosen or default
        return [path] if path.startswith("/") else []

    def _outside(self, path: str, below: str, *, links: bool) -> Rules | None:
        parsed = self._parsed(path, os.path.basename(path), links=links)
        if not parsed:
            return None
        return _Shifted("", parsed, f"{below}/" if below else "")

    def _parsed(self, path: str, shown: str, *, links: bool = False) -> _Groups | None:
        """What an ignore file says, if it is not too much."""
        text = read_small(path, links=links)
        if not text:
            return None
        data = text.encode("utf-8", "surrogateescape")
        key = blake2b(data, digest_size=16).digest()  # texts themselves would fill the memory
        if key not in self._known:
            self._known[key] = self._within_bounds(text, len(data))
        parsed = self._known[key]
        if parsed is None:
            self.unread.append(shown)
        return parsed

    def _within_bounds(self, text: str, size: int) -> _Groups | None:
        if size > min(_MAX_FILE_BYTES, _MAX_ROOT_BYTES - self._bytes):
            return None
        # Counted before they are read: reading takes most of the time.
        count = sum(bool(line) and not line.startswith("#") for line in _lines(text))
        if count > min(_MAX_FILE_PATTERNS, _MAX_ROOT_PATTERNS - self._patterns):
            return None
        self._bytes += size
        self._patterns += count
        return _parse(_patterns(text, choices=self._choices))


@dataclass(frozen=True)
class _Shifted(Rules):
    """Rules of a folder above the root: paths get the root's own place put in front."""

    prefix: str = ""

    def verdict(self, path: str, *, folder: bool) -> bool | None:
        return super().verdict(self.prefix + path, folder=folder)


def _lines(text: str) -> list[str]:
    """The lines of an ignore file, as Git tells them apart: other characters that end lines
    elsewhere are part of a name.
    """
    return text.removeprefix("\ufeff").split("\n")


def read_small(path: str, *, links: bool = False) -> str:
    """The text of a small regular file, or nothing. Links are followed outside of projects only."""
    file = open_regular(path, links=links)
    if file is None:
        return ""
    with file:
        try:
            return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
        except OSError:
            return ""


def _repository_top(root: str) -> str | None:
    folder = root
    for _ in range(_MAX_CLIMB):
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return None


def _exclude_file(top: str) -> str:
    """``info/exclude`` of a repository, also for worktrees, whose ``.git`` is a file."""
    git = os.path.join(top, ".git")
    pointer = read_small(git)
    if pointer.startswith("gitdir:"):
        git = os.path.join(top, pointer[len("gitdir:") :].strip())
        common = read_small(os.path.join(git, "commondir")).strip()
        if common:
            git = os.path.join(git, common)
    return os.path.normpath(os.path.join(git, "info", "exclude"))


def _excludes_setting(text: str, home: str) -> str:
    """``core.excludesFile`` of the user's Git settings."""
    section = ""
    found = ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("["):
            section = stripped.strip("[]").strip().lower()
        elif section == "core":
            name, _, value = stripped.partition("=")
            if name.strip().lower() == "excludesfile":
                found = value.strip().strip('"')
    if found.startswith("~/") and home:
        found = home + found[1:]
    return found if found.startswith("/") else ""
