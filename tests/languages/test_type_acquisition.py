"""TypeScript's server would have npm fetch the types of packages: it finds none.

In a project that is trusted nothing else keeps it from running programs.
"""

import shutil
from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

FILES = {
    "package.json": '{"dependencies": {"lodash": "1", "express": "4"}}',
    "a.js": 'const lodash = require("lodash");\nlodash.map([1]);\n',
}


@pytest.mark.parametrize("trusted", [True, False])
async def test_the_server_finds_no_npm(tmp_path: Path, trusted: bool) -> None:
    programs = write_files(tmp_path / "programs", {"npm": "#!/bin/sh\n"})
    (programs / "npm").chmod(0o755)
    root = write_files(tmp_path / "ws", FILES)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)}
    async with engine(
        root,
        cache=tmp_path / "cache",
        registry=only("tsgo"),
        environment=environment,
        trusted=lambda root: trusted,
    ) as running:
        answer = await running.call(
            "vscode.lsp.references",
            uri=running.uri("a.js"),
            position={"line": 0, "character": 6},
        )
        (server,) = running.program.pool._fleet.servers.values()
        environ = Path(f"/proc/{server.pid}/environ").read_bytes().split(b"\0")
    path = next(each for each in environ if each.startswith(b"PATH=")).decode()[5:]
    assert answer["items"]
    assert shutil.which("npm", path=path) is None
    assert server.spec.settings["typescript"]["disableAutomaticTypeAcquisition"] is True
