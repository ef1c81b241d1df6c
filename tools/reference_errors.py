"""The page of the errors: every failure, how each family spells it, and its cure."""

from sightline.calls.families import CODES
from sightline.cli.exits import exit_for
from sightline.contract import failures as f

__all__ = ["CURES", "errors_page"]

#: Per failure: why it happens, and what a person does about it.
CURES: dict[type[f.Failure], tuple[str, str]] = {
    f.InvalidArguments: (
        "the arguments do not fit the tool's schema",
        "compare them with the [tools](tools.md); `details.issues` names each mistake",
    ),
    f.UnknownTool: (
        "no tool of this name was listed",
        "`sightline tools` lists them; dots and underscores are not mixed",
    ),
    f.UriInvalid: (
        "not a `file:` URI, or no such file inside the roots",
        (
            "`lsp` tools: pass the absolute `file:` URI of a file that exists, its odd characters as "
            "`%XX`; `show_file` takes a path relative to a root, too"
        ),
    ),
    f.WorkspaceDenied: (
        "the file is outside of every root",
        (
            "start Sightline in the project, name the folder as a root, or add it to "
            "`additional_allowed_roots`; see [several roots](../roots.md)"
        ),
    ),
    f.NotFound: (
        "there is no such position, symbol or hit, or the file cannot be opened",
        "see [tool by tool](#not_found-tool-by-tool)",
    ),
    f.NotReady: (
        "the language server or the index is still loading, so that an answer would be a part",
        "ask again in a moment; `details.waitingFor` says what is awaited, `sightline status` shows it",
    ),
    f.NoIndex: (
        "nothing was indexed yet",
        "build it: `index_build`",
    ),
    f.TimedOut: (
        "the time limit passed",
        (
            "`lsp`: ask again, the work goes on meanwhile; if it always happens, see `sightline "
            "status` for a server that hangs. `index`, `context`: the work was stopped; ask for "
            "less, or again (files that were read by then stay indexed)"
        ),
    ),
    f.Cancelled: ("the client cancelled the call", "nothing"),
    f.Overloaded: (
        "too many calls at once",
        "ask again when some have ended; ask one thing at a time",
    ),
    f.TooLarge: (
        "one answer is larger than the byte cap",
        "ask for less (a smaller `pageSize`, a narrower question), or set `answer_bytes`",
    ),
    f.TooMany: ("more results than may be counted", "narrow the question"),
    f.CursorInvalid: (
        "the cursor belongs to another question, or was changed",
        "drop it and ask for the first page",
    ),
    f.CursorStale: (
        "files changed since the cursor was given",
        "ask for the first page again: the old pages would not fit the new ones",
    ),
    f.CursorExpired: (
        "the results behind the cursor are no longer kept",
        "ask for the first page again",
    ),
    f.SnapshotTooLarge: (
        "the result set is too large to be kept for paging",
        "narrow the question",
    ),
    f.Unavailable: (
        "there is no language server for this file, or a dependency is missing",
        (
            "`sightline doctor` names what is missing and the command that gets it; see "
            "[add a language](../add-a-language.md)"
        ),
    ),
    f.CacheMissing: (
        "there is no context cache of this name",
        "`context.list_caches` names those there are; `sightline context build` makes one",
    ),
    f.CacheInvalid: ("a context cache is damaged", "`sightline context build` makes it again"),
    f.CacheUnreadable: ("a context cache cannot be read", "check the permissions of its folder"),
    f.InvalidBudget: (
        "the token budget is negative, or too small for the answer",
        "pass a larger budget",
    ),
    f.DownloadUnverified: (
        "what was downloaded does not have the pinned hash; nothing was kept",
        "try again; if it stays so, somebody between you and the registry changes files",
    ),
    f.ArchiveUnsafe: (
        "an archive holds an entry that would leave its folder; nothing was unpacked",
        "report it: the pinned archives do not",
    ),
    f.ArchiveTooLarge: (
        "an archive is larger than it may be; nothing was unpacked",
        "report it: the pinned archives are not",
    ),
    f.Bug: (
        "a mistake in Sightline",
        "the log (standard error) has the place; please report it. The question can be asked again",
    ),
}

#: The causes of one code, tool by tool, and their cures.
NOT_FOUND: tuple[tuple[str, str, str], ...] = (
    (
        "definition, references, hover",
        "the document has fewer lines, or the line is shorter",
        (
            "lines and columns count from 0 (the lines of `show_file` and `search` from 1), columns "
            "in UTF-16 units, so that an emoji is two; the end of a line is its last column. Take the "
            "position from `documentSymbols`, `workspaceSymbols` or a search hit"
        ),
    ),
    (
        "definition, references, hover, documentSymbols, diagnostics.document",
        "the file is not UTF-8 text, is larger than 16 MiB, is no regular file or may not be read",
        "the message says which: save it as UTF-8 or change its permissions; the others are not asked about",
    ),
    (
        "`show_file` with `path`",
        "no root has such a file",
        "pass the `path` or the `uri` of a search hit, or a path relative to a root; case counts",
    ),
    (
        "`show_file` with `symbol`",
        "the index has no such symbol (none inside functions), or not in the file of `path`",
        "leave `path` out, or `search` for the name and pass the `id` of a hit",
    ),
    (
        "`show_file` with `id`",
        "the file of the hit is gone or has another name",
        "`search` again: new hits have new ids",
    ),
    (
        "`show_file`",
        "the file is not text, or may not be read",
        "change its permissions, or read another",
    ),
    (
        "`context.*` (`cache_missing`)",
        "there is no cache of this name",
        "pass a name that `context.list_caches` tells, or run `sightline context build`",
    ),
)


def errors_page() -> str:
    rows = []
    for kind, ((number, lsp), index, context) in CODES.items():
        why, cure = CURES[kind]
        again = "yes" if kind.retryable else ""
        rows.append(
            f"| `{lsp}` | {number} | {_code(index)} | {_code(context)} | {again} | {why} | {cure} | "
            f"{_exit(kind)} |"
        )
    return f"""\
# Errors

Every error that a tool can give, why, and what to do. A model reads the message, which names the next step and carries the code in brackets; a program reads the code.

- `lsp` tools fail with a JSON-RPC error: its number, and `data.code` with `MCP_LSP_GATEWAY/` before the code below.
- `index` tools fail with `isError` and JSON text that has `code`, `message` and `hint`.
- `code` tools fail with `isError` and plain text: what is wrong, then the next step.
- `context` tools fail with `isError` and frozen JSON text that has `error.code` and `error.message`.
- *again*: the same call can succeed later without any other change; `details.retryable` is true.
- *exit*: how `sightline call` ends, with the error as one line of JSON on standard error.

| `lsp` | number | `index` | `context` | again | why | cure | exit |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

## NOT_FOUND, tool by tool

| tool | why | cure |
|---|---|---|
{chr(10).join(f"| {tool} | {why} | {cure} |" for tool, why, cure in NOT_FOUND)}

## Errors of the transport

| status | why | cure |
|---|---|---|
| 401 | no token, or not one that is valid now | `sightline config CLIENT --http --write` gives a client the present one |
| 403 | the `Host` or the `Origin` is not allowed | use `127.0.0.1`; else the settings `allowed_hosts`, `allowed_origins` |
| 404 | another path than `/mcp`, or a session that is gone | the client initializes again; most do so by themselves |
| 405 | another method than POST | none is needed: clients try GET or DELETE and go on |
| 400, 406, 408, 413, 415, 431 | a message that MCP does not allow, is too large or does not come | see [PROTOCOL](../PROTOCOL.md) |
| -32601 | a method that Sightline does not have | none is needed: newer clients ask and go on |

Commands have [exit codes](commands.md#exit-codes) and one sentence on standard error.
"""


def _code(code: str | None) -> str:
    return f"`{code}`" if code else "-"


def _exit(kind: type[f.Failure]) -> int:
    arguments: dict[type[f.Failure], dict[str, object]] = {
        f.NotReady: {"waiting_for": ""},
        f.TimedOut: {"timeout_ms": 1},
    }
    return int(exit_for(kind(**arguments.get(kind, {}))))  # type: ignore[arg-type]
