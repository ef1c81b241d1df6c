"""What a language server may read, run and write, for the kernel to hold it to that.

Servers are honest programs that read hostile projects. What one does not need it is not allowed:
it writes in its own cache, runs itself and what runs it, and, as its entry says, reads only what
the workspace, the system and its installation have, or what may be code that the workspace needs.
A project that is trusted may have its server read and run anything; nothing is ever written to it.
Servers of the user's own, found on the PATH, have no walls: nobody here knows what they need.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from sightline.contract.uris import above, is_under
from sightline.lsp.registry import ServerSpec
from sightline.process.allowed import Allowed
from sightline.process.programs import is_native, needed_to_run

__all__ = ["around", "temporary_folder"]

#: Where programs and libraries are installed.
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix", "/gnu", "/snap")
#: What loaders, the C library and runtimes read besides. Nothing here is anybody's own.
_FACTS = (
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives"),
    *("/etc/localtime", "/etc/ssl/openssl.cnf", "/etc/nsswitch.conf", "/etc/locale.alias"),
    *("/proc/self", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/loadavg"),
    *("/proc/version", "/proc/filesystems", "/proc/sys/vm", "/proc/sys/kernel/random"),
    *("/sys/devices/system/cpu", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage"),
)
_NOWHERE = "/dev/null"
#: What lies beside these, at the top, may be somebody's code.
_NOT_CODE = frozenset("boot dev etc lost+found proc run sys var".split())
#: What hidden folders of a home folder have that code is made of. The others keep keys, tokens,
#: histories and mail.
_HIDDEN_CODE = (
    *(".cache/uv", ".cache/pypoetry", ".cache/pip", ".cache/hatch", ".cache/yarn", ".cache/pnpm"),
    *(".cache/deno", ".pyenv", ".rye", ".conda", ".condarc", ".virtualenvs", ".venv", ".venvs"),
    *(".nvm", ".volta", ".fnm", ".asdf", ".mise", ".nodenv", ".bun", ".deno", ".yarn", ".pnpm"),
    *(".pnpm-store", ".npm/_npx", ".rustup", ".cargo/registry", ".cargo/git"),
    *(".local/bin", ".local/lib", ".local/pipx", ".local/share/virtualenvs", ".local/share/uv"),
    *(".local/share/pnpm", ".local/share/mise", ".local/share/fnm", ".local/share/hatch"),
    *(".local/share/pypoetry", ".local/share/mamba"),
)
#: What was left behind by a server that was killed is removed after so long.
_DAY_S = 86_400.0


def around(
    spec: ServerSpec,
    command: Sequence[str],
    *,
    cache: str,
    of_the_user: bool,
    installed: Iterable[str],
    helpers: Iterable[str],
    tops: Sequence[str],
    home: str,
    trusted: bool,
) -> Allowed:
    """The walls of one start. ``cache``: where it may write; ``of_the_user``: its program is what
    the user has by that name; ``installed``: what else belongs to it; ``helpers``: programs it
    asks; ``tops``: the folders that it is asked about.
    """
    if spec.found == "path":
        return Allowed()
    runs = reads = None
    if not trusted:
        program, *_ = command
        runs = tuple(_runs(program, home, tops, named=of_the_user))
        runs += tuple(path for helper in helpers for path in needed_to_run(helper))
        if spec.reads != "anything":
            elsewhere = _code(home) if spec.reads == "code" else ()
            reads = (*tops, *installed, *_SYSTEM, *_FACTS, *elsewhere)
    return Allowed(reads, runs, (cache, _NOWHERE))


def _runs(program: str, home: str, tops: Sequence[str], *, named: bool) -> list[str]:
    """The program and what it takes to run it.

    What the user has by a name may be a stand-in that picks one of several versions, and runs what
    it wants to find out which. Such ones live below a hidden folder in the home folder.
    """
    real = os.path.realpath(program)
    hidden = home and is_under(real, home) and os.path.relpath(real, home).startswith(".")
    if is_native(real) and not (named and hidden):
        return needed_to_run(real)
    own = os.path.join(home, os.path.relpath(real, home).split("/")[0]) if hidden else ""
    wide = [*_SYSTEM, own or os.path.dirname(real)]
    return [*needed_to_run(real), *(each for each in wide if not _meets(each, tops))]


def _code(home: str) -> Iterator[str]:
    """Everything but what a system and a home folder keep of their own."""
    real = os.path.realpath(home) if home else "/"
    for folder in above(real):
        names = _names(folder)
        if folder == real and folder != "/":
            names = [name for name in names if not name.startswith(".")] + [*_HIDDEN_CODE]
        elif folder == "/":
            names = [name for name in names if name not in _NOT_CODE]
        places = (f"{folder.rstrip('/')}/{name}" for name in names)
        yield from (place for place in places if not is_under(real, place))


def _names(folder: str) -> list[str]:
    """What is in a folder itself. A link would open what it leads to, and that may be hidden."""
    try:
        return sorted(entry.name for entry in os.scandir(folder) if not entry.is_symlink())
    except OSError:
        return []


def _meets(folder: str, tops: Iterable[str]) -> bool:
    """Whether a folder lies in one of these, or one of these in it."""
    return any(is_under(top, folder) or is_under(folder, top) for top in tops)


def temporary_folder(cache: str, now: float) -> str:
    """Where a server puts what it needs for a while, without what older ones left there."""
    folder = Path(cache, "tmp")
    folder.mkdir(mode=0o700, exist_ok=True)
    for entry in os.scandir(folder):
        if entry.is_file(follow_symlinks=False) and now - entry.stat().st_mtime > _DAY_S:
            Path(entry.path).unlink(missing_ok=True)
    return str(folder)
