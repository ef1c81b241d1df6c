"""``sightline doctor``: what is missing here, and the command that fixes it.

A check looks at one thing and says how it is; ``CHECKS`` lists them all in the order they are
shown. A new check is a function and a line in that list. Nothing is repaired and nothing of a
workspace is run.
"""

import argparse
import asyncio
import json
import os
import shlex
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from sightline.cli.configuration import Configuration, configure
from sightline.cli.exits import CommandError, Exit
from sightline.cli.folders import Folders, private
from sightline.cli.loops import plain_runner
from sightline.cli.main import make_parser
from sightline.cli.plain import plain, plain_json
from sightline.cli.start import EXTRA_ROOTS, build_program, context_options, roots_from
from sightline.contract.failures import Failure
from sightline.contract.texts import listed
from sightline.lsp.coverage.packages import KINDS
from sightline.lsp.coverage.unreadable import FIX
from sightline.lsp.install.store import Store
from sightline.lsp.pool import Pool
from sightline.lsp.routing.routes import Outlook, Route
from sightline.lsp.shortcomings import Shortcoming
from sightline.process import landlock
from sightline.server.logs import Log
from sightline.server.tokens import BadTokenFile, TokenFile
from sightline.workspace.exclusions import chosen
from sightline.workspace.observers import Scope, observe
from sightline.workspace.roots import Root
from sightline.workspace.surroundings import Surroundings
from sightline.workspace.trust import BadTrustFile, TrustStore

__all__ = ["CHECKS", "Finding", "Situation"]

Status = Literal["ok", "note", "missing"]
#: How long one language may take to get ready before the report goes on.
_READY_S = 60
_REINSTALL = "install Sightline again"
_MAX_NAMED = 8
_DAMAGED_NAMED = 2
_LONGEST_LINE = 200
_LEAST_SPACE = 1 << 20
_MORE_WATCHES = "sudo sysctl fs.inotify.max_user_watches=1048576"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at. ``missing`` means that Sightline cannot do its work."""

    subject: str
    status: Status
    detail: str
    #: The command or the step that puts it right.
    fix: str = ""


@dataclass(frozen=True)
class Situation:
    """What checks look at."""

    folders: Folders
    configuration: Configuration
    roots: list[Root]


def parser(name: str) -> argparse.ArgumentParser:
    made = make_parser(
        name,
        "Says what works here, what is missing, and the command that fixes it.",
        "sightline doctor --json | jq '.findings[] | select(.status != \"ok\")'",
    )
    made.add_argument(
        "roots", nargs="*", metavar="ROOT", help="folders to look at (default: this project)"
    )
    made.add_argument("--json", action="store_true", help="as JSON")
    return made


def run(arguments: argparse.Namespace) -> int:
    findings = list(examine(arguments.roots))
    well = not any(finding.status == "missing" for finding in findings)
    if arguments.json:
        shown = {"ok": well, "findings": [asdict(finding) for finding in findings]}
        print(plain_json(json.dumps(shown, ensure_ascii=False)))
    else:
        _show(findings)
    return int(Exit.OK if well else Exit.MISSING)


def examine(paths: list[str]) -> Iterator[Finding]:
    """Every finding. Without settings or roots there is nothing more to look at."""
    folders = Folders(os.environ)
    try:
        configuration = configure(folders, os.environ)
    except CommandError as problem:
        yield Finding("settings", "missing", str(problem), f"edit {folders.settings}")
        return
    yield Finding("settings", "ok", "; ".join(configuration.warnings) or str(folders.settings))
    try:
        roots = roots_from(paths, configuration, folders)
    except CommandError as problem:
        said, _, step = str(problem).partition("; ")
        if EXTRA_ROOTS in said:
            step = f"correct or remove {EXTRA_ROOTS}"
        elif step.startswith("pass "):
            step = "sightline doctor ROOT"
        yield Finding("roots", "missing", str(problem), step)
        return
    roots = [chosen(root, configuration.settings) for root in roots]
    situation = Situation(folders, configuration, roots)
    for check in CHECKS:
        yield from check(situation)


def _writable(folder: Path, name: str) -> str:
    """How a folder becomes one that can be written: what is in the way is put right, if it can."""
    move = f"set XDG_{name.upper()}_HOME to a folder you can write"
    try:
        there = next(each for each in (folder, *folder.parents) if os.path.lexists(each))
        status = there.stat()
        frozen = os.name == "posix" and os.statvfs(there).f_flag & os.ST_RDONLY
    except OSError:
        return move
    if not stat.S_ISDIR(status.st_mode):
        return f"move {there} away, which is no folder, or {move}"
    own = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    if frozen or not own or os.access(there, os.R_OK | os.W_OK | os.X_OK):
        return move  # its permissions are not what is in the way
    return f"chmod u+rwx {shlex.quote(str(there))}, or {move}"


def folders_are_writable(situation: Situation) -> Iterator[Finding]:
    for name in ("data", "cache"):
        folder = getattr(situation.folders, name)
        fix = _writable(folder, name)
        try:
            private(folder)
        except CommandError as problem:
            yield Finding(f"{name} folder", "missing", str(problem), fix)
            continue
        if _is_full(folder):
            full = f"no space is left on the disk of {folder}"
            yield Finding(f"{name} folder", "missing", full, _more_space(name))
        elif why := _cannot_write(folder):
            told = f"{folder} cannot be written ({why})"
            yield Finding(f"{name} folder", "missing", told, fix)
        else:
            yield Finding(f"{name} folder", "ok", str(folder))


def _is_full(folder: Path) -> bool:
    """Whether a disk takes nothing more. Folders and empty files can still be made there."""
    return shutil.disk_usage(folder).free < _LEAST_SPACE


def _more_space(name: str) -> str:
    return f"free some space there, or set XDG_{name.upper()}_HOME to another disk"


def _cannot_write(folder: Path) -> str:
    """Why nothing can be put into a folder. Asked by doing it: permissions do not say all."""
    import tempfile

    try:
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def token_is_usable(situation: Situation) -> Iterator[Finding]:
    tokens = TokenFile(situation.folders.tokens)
    if not os.path.lexists(tokens.path):
        yield Finding("token", "ok", "none yet; sightline serve makes one")
        return
    try:
        count = len(tokens.read())
    except BadTokenFile as problem:
        yield Finding("token", "missing", str(problem), "sightline token rotate")
        return
    yield Finding("token", "ok", f"{count} in a file that only you can read")


def context_can_be_asked(situation: Situation) -> Iterator[Finding]:
    """What keeps servers from starting for the sake of context tools."""
    try:
        private(situation.folders.data)
    except CommandError:
        return  # which was found before
    try:
        context_options(situation.configuration.settings, situation.folders)
    except CommandError as problem:
        said, _, step = str(problem).partition("; ")
        yield Finding("context", "missing", said, step)


def languages_are_known(situation: Situation) -> Iterator[Finding]:
    """Every language of the roots: its server is started and must say that it is ready."""
    with plain_runner() as runner:
        findings = runner.run(_languages(situation))
    yield from findings


async def _languages(situation: Situation) -> list[Finding]:
    folders = situation.folders
    try:
        program = build_program(situation.configuration, situation.roots, folders, Log())
    except CommandError:
        return []  # it cannot start at all, which was found before
    try:
        try:
            outlooks = await program.pool.outlook()
        except Failure as failure:  # nothing is answered about these roots
            return [Finding("languages", "missing", failure.advice)]
        if not outlooks:
            roots = ", ".join(root.given for root in situation.roots)
            return [Finding("languages", "note", f"no file of a known language in {roots}")]
        return [await _language(program.pool, outlook, situation) for outlook in outlooks]
    finally:
        await program.close()


async def _language(pool: Pool, outlook: Outlook, situation: Situation) -> Finding:
    subject = f"{outlook.language} in {outlook.root}"
    if not outlook.routes:
        # The other languages are answered all the same, so this is not a fault of the whole.
        why = outlook.why.removesuffix("; run sightline doctor")
        return Finding(subject, "note", why, outlook.fix)
    names = sorted({route.name for route in outlook.routes})
    damage = _damage(situation, outlook.routes[0])
    if damage:
        return Finding(subject, "missing", f"{names[0]} is damaged: {damage}", _get(outlook))
    try:
        async with asyncio.timeout(_READY_S):
            versions = [await pool.prepared(route) for route in outlook.routes]
    except TimeoutError:
        waiting = f"{', '.join(names)} is still loading after {_READY_S} s"
        return Finding(subject, "note", waiting, "sightline status --watch")
    except Failure as failure:
        return _not_startable(pool, outlook, subject, failure, situation)
    except OSError as problem:
        why = f"{names[0]} cannot be started ({problem.strerror})"
        return Finding(subject, "missing", why, "put that right, then sightline doctor")
    ready = f"{names[0]} {versions[0]}, ready".replace("  ", " ")
    return await _reach(pool, outlook, subject, ready)


async def _reach(pool: Pool, outlook: Outlook, subject: str, ready: str) -> Finding:
    """What a server that works lacks, or leaves out."""
    ready = ", with ".join([ready, *pool.gaps.environments(outlook)[:1]])
    shortcomings = pool.shortcomings(*outlook.routes)
    if shortcomings:
        sentences = " ".join(each.sentence for each in shortcomings)
        said = next(filter(None, (_telling(pool.words(route)) for route in outlook.routes)), "")
        detail = f"{ready}. {sentences}" + (f" It says: {said}" if said else "")
        return Finding(subject, "note", detail, _fixes(shortcomings))
    packages = pool.gaps.unlinked(outlook)
    if packages:
        kind = KINDS[outlook.name]
        told = f"{ready}; {kind.told}: {listed(packages, _MAX_NAMED)}"
        return Finding(subject, "note", told, kind.fix)
    missing = pool.gaps.not_installed(outlook)
    if missing:
        told = f"{ready}; packages not installed: {listed(missing, _MAX_NAMED)}"
        return Finding(subject, "note", told, KINDS[outlook.name].fix)
    left_out = await pool.gaps.left_out(outlook)
    if left_out:
        ready += f"; files that are left out: {left_out:,}"
    unread = await pool.gaps.of_files(outlook.routes)
    if unread:
        ready += f". {unread}"
    return Finding(subject, "note", ready, FIX) if unread else Finding(subject, "ok", ready)


def _not_startable(
    pool: Pool, outlook: Outlook, subject: str, failure: Failure, situation: Situation
) -> Finding:
    """A server that is there and does not work: what it said about that, and how to get one."""
    why = str(failure).removesuffix("; run sightline doctor")
    routes, cache = outlook.routes, situation.folders.cache
    if _is_full(cache):
        return Finding(subject, "missing", why.partition("; ")[0], _more_space("cache"))
    needed = cache / "servers"  # where what a start needs is made
    if _cannot_write(needed if os.path.lexists(needed) else cache):
        return Finding(subject, "missing", why, _writable(needed, "cache"))
    words = [pool.words(route) or pool.complaint(route) for route in routes]
    said = next(filter(None, map(_telling, words)), "")
    fix = _fixes(pool.shortcomings(*routes)) or _get(outlook)
    return Finding(subject, "missing", f"{why}: {said}" if said else why, fix)


def _get(outlook: Outlook) -> str:
    """How to get the server of a language that works; what is damaged is installed again."""
    spec = outlook.routes[0].spec
    if spec.found == "installed":
        return f"sightline servers install {spec.package}"
    own = spec.get or f"put a {spec.command[0]} that works on the PATH"
    return _REINSTALL if spec.found == "bundled" else own


def _damage(situation: Situation, route: Route) -> str:
    """Which files of an installed server are gone or cut off."""
    package = situation.configuration.registry.packages.get(route.spec.package)
    if route.spec.found != "installed" or package is None:
        return ""
    store = Store(situation.folders.servers)
    files = store.damaged(route.spec.package, package.version)
    return f"gone or changed: {listed(files, _DAMAGED_NAMED)}" if files else ""


def _fixes(shortcomings: list[Shortcoming]) -> str:
    return "; ".join(dict.fromkeys(each.fix for each in shortcomings if each.fix))


def _telling(complaint: str) -> str:
    """The line of a complaint that says most: the first that speaks of an error, else the last."""
    # Without control characters: it may repeat a file name, and this goes to a terminal.
    seen = ("".join(filter(str.isprintable, line)).strip() for line in complaint.splitlines())
    lines = [line for line in seen if line]
    errors = (line for line in lines if "error" in line.lower())
    line = next(errors, lines[-1] if lines else "")
    if len(line) > _LONGEST_LINE:  # what comes last is what went wrong
        line = line[max(line.rfind("error: "), 0) :]
    return line[:_LONGEST_LINE]


def changes_are_noticed(situation: Situation) -> Iterator[Finding]:
    for root in situation.roots:
        scope = Scope(exclude=root.exclude, root=root.real)
        observer, subject = observe(root.real, scope=scope), f"changes in {root.given}"
        try:
            observer.start()
            swept = observer.sweeps
        except OSError as error:
            yield _not_listed(subject, error)
            continue
        finally:
            observer.close()
        if not swept:
            yield Finding(subject, "ok", "announced by the kernel (inotify)")
        else:
            fix = _MORE_WATCHES if "watch" in observer.reason else ""
            yield Finding(subject, "note", f"looked for on each call: {observer.reason}", fix)
    yield from _changes_around(situation.roots)


def _changes_around(roots: Sequence[Root]) -> Iterator[Finding]:
    around = Surroundings()
    try:
        around.follow(roots, notify=True)
        for top, _ in around.trees():
            yield Finding(f"changes in the rest of {top}", "ok", "watched, too")
        for top, why in around.unobserved.items():
            said = f"not watched, {why}; answers may miss what changes there"
            yield Finding(f"changes in the rest of {top}", "note", said, "open all of it as a root")
    except OSError as error:
        yield _not_listed("changes around the roots", error)
    finally:
        around.close()


def _not_listed(subject: str, error: OSError) -> Finding:
    """A folder that may hold anything: nothing is answered until that is known."""
    return Finding(subject, "missing", f"{error.filename} cannot be looked into: {error.strerror}")


def choices_are_known(situation: Situation) -> Iterator[Finding]:
    """What the settings keep out of the roots, and let in, where they do."""
    for root in situation.roots:
        for key, globs in (("exclude", root.exclude), ("include_ignored", root.include_ignored)):
            if globs:
                yield Finding(f"{key} in {root.given}", "ok", ", ".join(globs))


def trust_is_known(situation: Situation) -> Iterator[Finding]:
    try:
        trusted = TrustStore(situation.folders.trust).roots()
    except BadTrustFile as problem:
        yield Finding("trust", "missing", str(problem), f"rm {situation.folders.trust}")
        return
    for root in situation.roots:
        known = "trusted" if root.real in trusted else "not trusted: none of its code is run"
        yield Finding(f"trust in {root.given}", "ok", known)


def servers_are_enclosed(situation: Situation) -> Iterator[Finding]:
    if landlock.version():
        said = "the kernel lets them write in their cache only (Landlock)"
        yield Finding("language servers", "ok", said)
    else:
        said = "the kernel offers no Landlock here: what they write is not restricted"
        yield Finding("language servers", "note", said)


#: Every check, in the order of the report.
CHECKS: list[Callable[[Situation], Iterator[Finding]]] = [
    folders_are_writable,
    token_is_usable,
    context_can_be_asked,
    languages_are_known,
    changes_are_noticed,
    choices_are_known,
    trust_is_known,
    servers_are_enclosed,
]


def _show(findings: list[Finding]) -> None:
    words = {"ok": "ok", "note": "note", "missing": "MISSING"}
    for finding in findings:
        print(f"{words[finding.status]:<8}{plain(finding.subject)}: {plain(finding.detail)}")
        if finding.fix:
            print(f"{'':<8}fix: {plain(finding.fix)}")
