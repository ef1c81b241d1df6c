"""Macros of C: a server that knows some of them lists none."""

from pathlib import Path

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files


async def test_macros_are_not_listed_in_part(tmp_path: Path) -> None:
    """clangd tells those of what it has open, and of what that includes."""
    root = write_files(
        tmp_path / "ws",
        {
            f"h{number}.h": f"#define LIMIT_{number} 1\nint limit_{number}(void);\n"
            for number in "123"
        }
        | {
            f"s{number}.c": f'#include "h{number}.h"\n#define LIMIT_OF_{number} 2\n'
            f"int limit_{number}(void) {{ return LIMIT_{number} + LIMIT_OF_{number}; }}\n"
            for number in "123"
        },
    )
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        for opened in ("s1.c", "s3.c"):
            await running.call("vscode.lsp.hover", uri=running.uri(opened), **_at(2, 5))
            found = await running.call("vscode.lsp.workspaceSymbols", query="limit")
            assert [item["name"] for item in found["items"]] == ["limit_1", "limit_2", "limit_3"]
            assert (
                "6 macros with such names are not listed (h1.h, h2.h, h3.h, 3 more)"
                in found["summary"]
            )
        write_files(root, {"h2.h": "int limit_2(void);\n"})
        found = await running.call("vscode.lsp.workspaceSymbols", query="limit_2")
        assert "1 macro with such a name is not listed (s2.c)" in found["summary"]
        found = await running.call("vscode.lsp.workspaceSymbols", query="limit_of_2")
        assert "1 macro with such a name is not listed (s2.c)" in found["summary"]
        found = await running.call("vscode.lsp.workspaceSymbols", query="nothing")
        assert "macro" not in found["summary"]


def _at(line: int, character: int) -> dict[str, dict[str, int]]:
    return {"position": {"line": line, "character": character}}
