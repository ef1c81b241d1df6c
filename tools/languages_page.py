"""Writes docs/languages.md from the registry: every language, every server, and how it is treated.

``python -m tools.languages_page`` writes it, ``--check`` fails when it is out of date.
"""

import sys
from pathlib import Path

from sightline.lsp.registry import OPERATIONS, Operation, Registry, ServerSpec, builtin
from tools.generated import write

__all__ = ["render"]

_PAGE = Path(__file__).parent.parent / "docs" / "languages.md"
_HEAD = """# Languages

Generated from `src/sightline/lsp/registry.toml` by `make docs`; checked by `make check`.

Sightline asks language servers. `sightline doctor` tells for each language of a workspace which
server answers, or the command that gets one. Nothing is fetched while serving: only
`sightline servers install NAME` fetches, pinned by version and checked by hash.

## What is answered

The first server of a language that is there is taken; how to get each is said [below](#servers).
A cell says whether it answers: `yes`, `no` (it cannot answer that completely, so it is not asked),
or `set` (its answers are not repeatable; `allow_unstable_hover = true` asks all the same).

"""
_SERVERS = """
## Servers

*Ready* says when a server may be asked, *after an edit* what makes it see one: the words are
explained [at the end](#a-server-of-your-own). *Silent limits* are lengths at which a server cuts
an answer off without a word; such an answer is refused. *Executes* is what a server runs of a
project.
"""
_OWN = """
## Scripts without an extension

A file without an extension whose name tells no language (`bin/deploy`) is known by its first line,
such as `#!/usr/bin/env python3`. It can be asked about and counts like any other file: it is held
open for its server, up to 500 of them in a project. References say in which scripts the name stands
where no use was found. Of your own servers those do this whose entry says `reads_scripts = true`:
say it of one that counts what is open as a part of the project.

## Python environments

Packages are found in the first environment there is: `.venv` (or `venv`, `env`, `.env`) in the
project; the one that Poetry or Pipenv keep for its folder; the same for each folder above it, up to
the repository; then the environment that was active where Sightline was started (`VIRTUAL_ENV`, or
`CONDA_PREFIX` if it is not the base environment). A folder inside a root that has its own is a
project of its own. None is run. `sightline doctor` names an environment that lies outside, and an
install is in the next answer. For any other, set `VIRTUAL_ENV` in the client's entry.

## A server of your own

`sightline.toml` in your configuration folder (never one in a workspace) changes an entry or adds
one; the keys are those of the registry. What an entry of yours does not name stays as it is, in
tables within tables, too; a list takes the place of the other. A new server comes before the
built-in ones, a built-in one keeps its place; `prefer = true` puts either first, `false` last.

```toml
[languages.lua]
title = "Lua"
extensions = [".lua"]

[servers.lua-language-server]
languages = ["lua"]
command = ["lua-language-server"]
found = "path"
readiness = "progress"
ready_signal = "Loading workspace"
diagnostics = "pull"
executes = "nothing"
needs_trust = false
```

A server whose entry does not say `needs_trust = false` needs `sightline trust ROOT` before it is
started, whatever it says that it executes. A server without a signal of its readiness must not be
described as `answers-block` unless it waits by itself: Sightline passes on what such a server says.

Workspace diagnostics are asked for document by document, unless the entry says
`workspace_diagnostics = "pull"` (the server reports all files in one answer) or `"none"`.

Sightline needs for each server a rule that says when its answers are complete (`readiness`) and
one that says what makes it see an edit (`after_change`):

| readiness | the server may be asked |
|---|---|
| answers-block | at once: it waits by itself instead of answering from a part |
| documents | at once: it knows nothing beyond the document it is asked about |
| log | after it has logged `ready_signal` |
| progress | after the progress whose token and title match `ready_signal` has ended |
| status | after it has said that it is quiescent |
| notification | after it has sent the notification `ready_signal` |

| after_change | what makes the server see an edit |
|---|---|
| told | the protocol's notification; the next answer is from the new state |
| rescan | the notification; after a file came or went, its own words that it has looked again |
| reload | a changed file is opened; after one came or went, its command `reload_command` |
| quiesce | a changed file is opened and closed; else `reload_command`, until it is quiescent |
| reindex | a changed source is opened and waited for; anything else starts the server over |
| reveal | a changed file is opened and closed; one that comes or goes starts the server over |
| restart | the server starts over |

`passes` names variables of your environment that the server gets besides the few that every server
gets, such as `JAVA_HOME`. `[[servers.NAME.troubles]]` with `says` (a pattern for a line of its
log), `means` and `fix` make an answer say that something of the project could not be loaded.
"""


def render(registry: Registry) -> str:
    """The page as it should be."""
    parts = [_HEAD, *_matrix(registry), _left_out(registry), _SERVERS]
    for name, spec in registry.servers.items():
        parts += _server(registry, name, spec)
    return "".join([*parts, _OWN])


def _matrix(registry: Registry) -> list[str]:
    titles = " | ".join(OPERATIONS)
    lines = [f"| language | server | {titles} |\n", "|---" * (2 + len(OPERATIONS)) + "|\n"]
    for language, described in registry.languages.items():
        for name in registry.servers_for(language):
            spec = registry.servers[name]
            cells = " | ".join(_offer(spec, operation) for operation in OPERATIONS)
            lines.append(f"| {described.title} | {name} | {cells} |\n")
    return lines


def _left_out(registry: Registry) -> str:
    """The languages that have a name here and no server."""
    titles = [
        each.title for name, each in registry.languages.items() if not registry.servers_for(name)
    ]
    return (
        "\nAnswers about the workspace name the languages that they leave out, and references "
        "count the places of the name in files of those that may use it."
        f" Known for that, without a server: {', '.join(titles)}.\n"
    )


def _offer(spec: ServerSpec, operation: Operation) -> str:
    if operation in spec.not_offered:
        return "no"
    return "set" if operation in spec.unstable else "yes"


def _server(registry: Registry, name: str, spec: ServerSpec) -> list[str]:
    languages = [registry.languages[language] for language in spec.languages]
    extensions = [extension for language in languages for extension in language.extensions]
    read = languages if spec.reads_scripts else []
    programs = [program for language in read for program in language.interpreters]
    get = {
        "bundled": "comes with Sightline",
        "installed": f"`sightline servers install {spec.package}`",
        "path": f"`{spec.get or spec.command[0]}`; taken from PATH",
    }[spec.found]
    diagnostics = f"{spec.diagnostics}; of the workspace by {spec.workspace_diagnostics}"
    caps = [
        f"{n:,} {operation}: an answer that long is refused" for operation, n in spec.caps.items()
    ]
    rows = {
        "languages": ", ".join(language.title for language in languages),
        "files": " ".join(f"`{extension}`" for extension in extensions),
        "scripts by first line": " ".join(f"`{p}`" for p in programs) or "none",
        "version": registry.version_of(name) or "the user's own",
        "licence": registry.licence_of(name),
        "how to get it": get,
        "oldest version": f"{spec.oldest}; {spec.oldest_why}" if spec.oldest else "any",
        "project markers": " ".join(f"`{marker}`" for marker in spec.root_markers) or "none",
        "ready": spec.readiness + (f", `{spec.ready_signal}`" if spec.ready_signal else ""),
        "after an edit": spec.after_change,
        "diagnostics": diagnostics if spec.diagnostics != "none" else "none",
        "silent limits": "; ".join([*caps, spec.caps_lifted] if spec.caps_lifted else caps)
        or "none",
        "does not read": spec.leaves_out or "not known",
        "says when it lacks something": _troubles(spec),
        "from your environment": " ".join(f"`{name}`" for name in spec.passes) or "nothing more",
        "executes": spec.executes + ("; only after `sightline trust`" if spec.needs_trust else ""),
        "network": spec.network,
    }
    lines = [f"\n### {name}\n\n", "| | |\n|---|---|\n"]
    lines += [f"| {title} | {_cell(text)} |\n" for title, text in rows.items()]
    return [*lines, f"\n{spec.notes}\n"] if spec.notes else lines


def _troubles(spec: ServerSpec) -> str:
    told = [each.means for each in spec.troubles]
    return "yes, and answers then say: " + " ".join(told) if told else "no"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.exit(write({_PAGE: render(builtin())}, __doc__))
