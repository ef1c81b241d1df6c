"""No way of running JavaScript below a root, or of asking a name server, is left open."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from sightline.lsp.install.store import Store
from sightline.lsp.project.projects import Projects
from sightline.lsp.start.launcher import Launcher
from sightline.workspace.roots import RootSet, open_root
from tests.support.engine import fake_registry
from tests.support.files import write_files

NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="there is no Node here")


def environment_of(root: Path) -> Mapping[str, str]:
    """What a server for this root is started with."""
    folder = root.parent / "cache"
    registry, opened = fake_registry(root.parent / "fake", {}), open_root(str(root), home=None)
    project = Projects(opened, registry, dict).at(registry.servers["fake"], opened.real)
    launcher = Launcher({"PATH": "/usr/bin:/bin"}, folder, Store(folder), registry)
    start = launcher.start("fake", project, RootSet.of([opened]))
    assert start is not None
    return start.environment


def run(program: Path, root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NODE), str(program), *arguments],
        env=environment_of(root),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture(params=["root", 'ro:ot,"[ü]'], ids=["plain", "odd"])
def root(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    code = {"a.cjs": 'console.log("RAN");', "a.mjs": 'console.log("RAN");'}
    write_files(tmp_path / "own", code)
    return write_files(tmp_path / request.param, code)


WAYS = {
    "require": "require(process.argv[2])",
    "import": "import(process.argv[2]).catch((e) => console.log(e.code))",
    "worker": "new (require('node:worker_threads').Worker)(process.argv[2])",
    "worker by address": "new (require('node:worker_threads').Worker)"
    "(require('node:url').pathToFileURL(process.argv[2]))",
    "import in a worker": "new (require('node:worker_threads').Worker)"
    "(`import(${JSON.stringify(process.argv[2])}).catch((e) => console.log(e.code))`,"
    " { eval: true })",
    "child": "require('node:child_process').fork(process.argv[2])",
}


@pytest.mark.parametrize("name", ["a.cjs", "a.mjs"])
@pytest.mark.parametrize("way", WAYS)
def test_code_of_a_root_is_not_run(tmp_path: Path, root: Path, way: str, name: str) -> None:
    if (way, name) == ("require", "a.mjs"):
        pytest.skip("Node has no such way, or only new ones have")
    program = tmp_path / "program.cjs"
    program.write_text(WAYS[way])
    (tmp_path / name).symlink_to(root / name)
    assert "RAN" in run(program, root, str(tmp_path / "own" / name)).stdout
    for file in (root / name, tmp_path / name):
        assert "RAN" not in run(program, root, str(file)).stdout


@pytest.mark.parametrize("name", ["a.cjs", "a.mjs"])
def test_a_program_of_a_root_is_not_run(tmp_path: Path, root: Path, name: str) -> None:
    assert "RAN" in run(tmp_path / "own" / name, root).stdout
    assert "RAN" not in run(root / name, root).stdout


ASKED = """
const dns = require("node:dns");
const socket = require("node:dgram");
const show = (error) => console.log(error ? error.code : "ANSWERED");
for (const holder of [new dns.Resolver(), dns]) {
  holder.resolve4("a.invalid", show);
  holder.reverse("127.0.0.1", show);
}
for (const holder of [new dns.promises.Resolver(), dns.promises]) {
  holder.resolve4("a.invalid").catch(show);
  holder.resolve("a.invalid").catch(show);
}
"""


def test_no_name_server_is_asked(tmp_path: Path, root: Path) -> None:
    program = tmp_path / "program.cjs"
    program.write_text(ASKED)
    done = run(program, root)
    assert (done.stdout.split(), done.stderr) == (["ENOTFOUND"] * 8, "")
