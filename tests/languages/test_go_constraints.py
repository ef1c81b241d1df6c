"""Files of Go that are not built here: every use that is missed there is counted."""

import os
from pathlib import Path

from tests.languages.samples import needs, only, unaccounted
from tests.languages.test_scripted import CAPABLE, standing_in
from tests.support.engine import Engine, engine
from tests.support.files import write_files

USE = "package a\n\nfunc use{}() int {{ return area() }}\n"
FILES = {
    "go.mod": "module example.com/a\n\ngo 1.21\n",
    "a.go": "package a\n\nfunc area() int { return 1 }\n",
}
HERE = {
    "plain.go": USE.format(1),
    "a_test.go": USE.format(2),
    "b.go": "//go:build !x\n\n" + USE.format(3),
}
AWAY = {
    "a_windows.go": USE.format(4),
    "c.go": "//go:build integration\n\n" + USE.format(5),
    "d.go": "//go:build darwin || (linux && arm)\n\n" + USE.format(6),
}
LEFT_OUT = "in code that this build leaves out"


async def asked(running: Engine) -> tuple[set[str], str]:
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri("a.go"),
        position={"line": 2, "character": 5},
    )
    return {item["uri"].rpartition("/")[2] for item in answer["items"]}, answer["summary"]


async def test_as_many_are_counted_as_are_missed(tmp_path: Path) -> None:
    needs("gopls")
    root = write_files(tmp_path / "ws", FILES | HERE)
    own = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    registry = only("gopls")
    async with engine(
        root, cache=tmp_path / "cache", registry=registry, environment=own
    ) as running:
        found, summary = await asked(running)
        assert (found, summary) == (set(HERE), "Returned 3 references.")
        write_files(root, AWAY)
        found, summary = await asked(running)
        said = unaccounted("area", 3, LEFT_OUT, "a_windows.go, c.go, d.go")
        assert (found, summary) == (set(HERE), f"Returned 3 references. {said}")


async def test_they_are_counted_for_the_system_that_is_built_for(tmp_path: Path) -> None:
    script = {"initialize": [{"result": CAPABLE}], "textDocument/references": [{"result": []}]}
    windows = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GOOS": "windows"}
    files = FILES | HERE | AWAY
    async with standing_in("gopls", files, tmp_path, script, environment=windows) as running:
        _, summary = await asked(running)
        assert summary.endswith(unaccounted("area", 2, LEFT_OUT, "c.go, d.go"))
