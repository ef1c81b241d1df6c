"""A server that speaks while it still loads is not believed before it has said that it is done."""

from pathlib import Path

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

_MANY = 60
_FILLER = "echo one two three four\n" * 20


async def test_a_shell_server_that_passes_over_a_file(tmp_path: Path) -> None:
    """It says so of a script of somebody else's, long before it has read the others."""
    files = {f"use{number:03}.sh": _FILLER + "area\n" for number in range(_MANY)}
    files |= {"lib.sh": "area() {\n  echo 1\n}\n", "a.sh": "#!/usr/bin/perl\nprint 1;\n"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("bash")) as running:
        place = {"line": 0, "character": 0}
        uri = running.uri("lib.sh")
        answer = await running.call("vscode.lsp.references", uri=uri, position=place)
    assert answer["summary"] == f"Returned {_MANY} references."
