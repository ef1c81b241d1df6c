"""The page of the settings: every key with its default, its bounds and what it does."""

import json
from typing import Any

from sightline.contract.settings import _RANGES, Settings

__all__ = ["ABOUT", "settings_page"]

#: What each setting is for. A test compares the keys with the code.
ABOUT = {
    "port": "the port of `serve`",
    "bind_address": "the address of `serve`; nothing but loopback is possible",
    "endpoint_path": "the path of `serve`; nothing else is possible",
    "allowed_origins": "web origins that may call `serve` from a browser; none by default",
    "allowed_hosts": "further `Host` names that `serve` answers to, such as a container's",
    "additional_allowed_roots": "absolute folders that are served beside the roots of the command",
    "exclude": "globs, as in a `.gitignore` in each root, of files and folders that are not there: not scanned "
    "or watched, read by no tool, named in no answer. A language server may still follow an import into them; "
    "summaries count its places there",
    "include_ignored": "globs, as in a `.gitignore`, of what is indexed although Git ignores it or it lies in "
    "a folder of dependencies; language servers go by their own rules",
    "enable_sessions": "whether `serve` keeps sessions; without them every request stands alone",
    "max_sessions": "how many clients `serve` keeps at once",
    "session_idle_s": "seconds after which an idle session is forgotten",
    "max_items_per_page": "the longest page, whatever a client asks for",
    "max_response_bytes": "the largest answer, everything counted. Pages end earlier to fit; an unpaged list over it is CAP_EXCEEDED",
    "answer_bytes": "what the client shows its model without cutting it. Pages end earlier and outlines "
    "leave out the deepest symbols to fit; both say so. Clients that were seen to cut have a smaller value "
    "of their own",
    "request_timeout_ms": "how long a question to a language server may take",
    "debug_logging": "whether every call is logged: its tool, outcome, time and size",
    "families": "which tools are offered",
    "profile": "which of them clients are told of: `agent` those of `code`, `contract` those of `lsp`, `index` and `context`; the "
    "others are answered all the same when called by their exact names",
    "tool_names": "`underscore` for clients that refuse dots in a tool's name",
    "content": "what stands in `content` beside the structured answer: nothing, one line, or the "
    "whole answer as text, for clients that show their model nothing else",
    "protocol_header": "`session` for clients that never send `MCP-Protocol-Version`",
    "dense": "`false` ranks by words alone; the vectors that are on disk stay",
    "tokenizer": "what `context.*` counts tokens by; all but `bytes/4` need a further package "
    "([Context](../context.md#selection))",
    "change_detection": "`sweep` looks at every file on each call, for file systems that announce "
    "nothing although they say so",
    "max_servers": "how many language servers run at once; the longest idle one makes room",
    "server_memory_mb": "memory of one language server: the kernel gives each of its processes no more. One that needs more twice within ten minutes is refused until the project changes",
    "server_idle_s": "seconds after which an idle language server is stopped",
    "allow_unstable_hover": "whether servers are asked for hovers that depend on what was asked before",
    "clients": "`tool_names`, `content`, `protocol_header` and `answer_bytes` for one client, by the name it gives itself; `serve` takes in later changes for sessions that begin after them",
    "roots": "further `exclude` and `include_ignored` for one root, by its absolute path",
}


def settings_page() -> str:
    rows = [
        f"| `{name}` | `{_default(name)}` | {_range(name)} | {ABOUT.get(name, '')} |"
        for name in Settings.__struct_fields__
    ]
    return f"""\
# Settings

Each can be given as a flag (`--set port=4040`), in the environment (`SIGHTLINE_PORT=4040`) or in `sightline.toml` in your configuration folder, usually
`~/.config/sightline`; the first that is there counts. You make that file; only `clients` and `roots` cannot be given otherwise. `sightline settings` shows what is in force and where it came from. No file of a project is ever read as
configuration.

| key | default | takes | what it does |
|---|---|---|---|
{chr(10).join(rows)}

A number above its largest value is lowered with a warning. One that is too small, a value of a wrong type, or an unknown key stops the start with a sentence that names it. A variable that begins with `SIGHTLINE_` and is nearly a setting is ignored with a warning.

```toml
port = 4040
additional_allowed_roots = ["/srv/shared/library"]
exclude = ["*.generated.py", "/vendor/"]

[roots."/home/you/src/web"]
exclude = ["dist/"]
include_ignored = ["/build/api/**"]

[clients."cursor-vscode"]
tool_names = "underscore"
content = "mirror"
```
"""


def _default(key: str) -> str:
    value: Any = getattr(Settings(), key)
    return json.dumps(list(value) if isinstance(value, tuple) else value)


def _range(key: str) -> str:
    if key in _RANGES:
        lowest, highest = _RANGES[key]
        return f"{lowest:,} to {highest:,}"
    choices = {
        "bind_address": "`127.0.0.1`",
        "endpoint_path": "`/mcp`",
        "families": "`code`, `lsp`, `index`, `context`",
        "profile": "`agent`, `contract`, `all`",
        "tool_names": "`dotted`, `underscore`",
        "content": "`empty`, `summary`, `mirror`",
        "protocol_header": "`required`, `session`",
        "change_detection": "`auto`, `sweep`",
        "tokenizer": "`bytes/4`, `cl100k_base`, `o200k_base`",
        "clients": "tables",
        "roots": "tables",
    }
    if key in choices:
        return choices[key]
    default = getattr(Settings(), key)
    assert isinstance(default, bool | tuple), f"{key} has choices, which belong above"
    return "true, false" if isinstance(default, bool) else "a list of texts"
