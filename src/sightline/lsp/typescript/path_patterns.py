"""The patterns of TypeScript's configurations, which say what paths belong to a project.

A star stands for a part of a name, two for any folders; where patterns include, neither stands for
what is hidden, nor two for folders of installed packages. Anybody may have written them, so they
run on the engine whose time no pattern can blow up.

>>> pattern = expression_of("src/**/*", "/ws", files=True)
>>> [fills(pattern, path) for path in ("/ws/src/a/b.ts", "/ws/src/node_modules/b.ts")]
[True, False]
"""

import posixpath
import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import takewhile

from sightline.lsp.files.globs import MAX_PATTERN, fills
from sightline.workspace.linear import BadPattern, Expression, compile_expression

__all__ = ["PACKAGES", "expression_of", "fills", "fixed_part", "is_refused", "joined"]

#: Folders of installed packages.
PACKAGES = ("node_modules", "bower_components", "jspm_packages")
#: What stands for other letters in a pattern.
_WILD = {"*", "?"}


@lru_cache(maxsize=4_096)
def expression_of(pattern: str, base: str, *, files: bool) -> Expression | None:
    """A path pattern as an expression on absolute paths. A folder stands for all below it.

    It is linear in the path, whatever a project has written; ``None`` if it cannot be read, or if
    servers do not read it alike.
    """
    full = joined(base, pattern)
    last = posixpath.basename(full)
    if not pattern or (files and last == "**"):
        return None
    if "*" not in last and "?" not in last and (not files or "." not in last):
        full = f"{full}/**/*" if files else full
    out: list[str] = []
    parts = [part for part in full.split("/") if part]
    for number, part in enumerate(parts):
        if part == "**":
            inner = _plain_folder() if files else "[^/]+"
            out.append(f"(?:/{inner})*" if number < len(parts) - 1 else "(?s:/.+)?")
        else:
            shown = files and part[:1] in "*?"
            out.append("/" + (_shown(part) if shown else _glob(part)))
    try:
        if len(full) > MAX_PATTERN:
            return None
        return compile_expression("".join(out) + ("" if files else "(?s:/.*)?"))
    except BadPattern:
        return None


def fixed_part(pattern: str, base: str) -> str:
    """The path that everything is or is below that a pattern stands for.

    >>> fixed_part("src/**/*", "/ws"), fixed_part("../a/b?.ts", "/ws"), fixed_part("**/*", "/ws")
    ('/ws/src', '/a', '/ws')
    """
    parts = (part for part in joined(base, pattern).split("/") if part)
    return "".join(f"/{part}" for part in takewhile(lambda part: not _WILD & {*part}, parts))


def is_refused(pattern: str, *, files: bool) -> bool:
    """Whether a pattern is an error for TypeScript, and stands for nothing.

    >>> [is_refused(each, files=True) for each in ("src/**", "src/**/../a", "../**/*")]
    [True, True, False]
    """
    if files and f"/{pattern.removesuffix('/')}".endswith("/**"):
        return True
    any_folder = f"/{pattern}".find("/**/")
    return 0 <= any_folder < f"/{pattern}/".rfind("/../")


def _glob(part: str) -> str:
    return re.escape(part).replace(r"\*", "[^/]*").replace(r"\?", "[^/]")


def _shown(part: str) -> str:
    """A part that begins with a star or a question mark, which stand for no hidden name."""
    rest = part.lstrip("*")
    if rest == part:
        return f"[^/.]{_glob(part[1:])}"
    more = f"[^/.][^/]*{_glob(rest)}"
    if rest.startswith("."):
        return more
    return f"(?:{more}|[^/.]{_glob(rest[1:])})" if rest[:1] == "?" else f"(?:{more}|{_glob(rest)})"


@cache
def _plain_folder() -> str:
    """A folder that is not hidden and not one of installed packages.

    The engine has no way to say what must not follow, so every other beginning is spelled out.
    """

    def other_than(endings: Sequence[str], besides: str = "") -> str:
        letters = sorted({ending[0] for ending in endings if ending})
        ways = [f"[^/{''.join(letters)}{besides}][^/]*"]
        ways += [each + other_than([e[1:] for e in endings if e[:1] == each]) for each in letters]
        more = f"(?:{'|'.join(ways)})"
        return more if besides or "" in endings else f"{more}?"

    return other_than(PACKAGES, ".")


def joined(base: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(base, name))
