"""The page of the languages: every server the registry has, and what it does with a project."""

from sightline.lsp.registry import ServerSpec, builtin

__all__ = ["languages_page"]

_FOUND = {
    "bundled": "comes with Sightline",
    "installed": "`sightline servers install`",
    "path": "`PATH`",
}


def languages_page() -> str:
    registry = builtin()
    rows = [_row(name, spec) for name, spec in registry.servers.items()]
    names = [
        f"| {language.title} | {', '.join(f'`{each}`' for each in language.extensions)} | "
        f"{', '.join(registry.servers_for(key)) or 'none'} |"
        for key, language in registry.languages.items()
    ]
    return f"""\
# Languages

`search` covers every text file. The `vscode.lsp` tools answer for these:

| language | files | servers, best first |
|---|---|---|
{chr(10).join(names)}

The servers, as the registry knows them. A server that runs code of a project starts only in roots that you trust (`sightline trust ROOT`).

| server | version | from | licence | runs of a project | network |
|---|---|---|---|---|---|
{chr(10).join(rows)}

[Add a language](../add-a-language.md) says how to get or add one.
"""


def _row(name: str, spec: ServerSpec) -> str:
    where = _FOUND.get(spec.found, spec.found)
    version = spec.version or "any"
    return f"| {name} | {version} | {where} | {spec.licence} | {spec.executes} | {spec.network} |"
