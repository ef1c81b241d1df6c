"""No way of running JavaScript below a root, or of asking a name server, is left open."""

import json
import os
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


def environment_of(
    root: Path, reads: str = "anything", *, trusted: bool = False
) -> Mapping[str, str]:
    """What a server for this root is started with."""
    folder = root.parent / "cache"
    registry = fake_registry(root.parent / "fake", {}, reads=reads)
    opened = open_root(str(root), home=None)
    project = Projects(opened, registry, dict).at(registry.servers["fake"], opened.real)
    launcher = Launcher({"PATH": "/usr/bin:/bin"}, folder, Store(folder), registry)
    start = launcher.start("fake", project, RootSet.of([opened]), trusted=trusted)
    assert start is not None
    return start.environment


def run(
    program: Path, root: Path, *arguments: str, reads: str = "anything", trusted: bool = False
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(NODE), str(program), *arguments],
        env=environment_of(root, reads, trusted=trusted),
        stdin=subprocess.PIPE,
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


#: What is said of each file, by every way of reading one.
READ = """
const fs = require("node:fs"), url = require("node:url");
const told = (error, data) => (error ? `${error.code} ${error.message}` : `READ ${data}`);
const [file] = process.argv.slice(2);
const ask = async () => {
  const said = [];
  for (const name of [file, Buffer.from(file), url.pathToFileURL(file)]) {
    said.push(await new Promise((c) => fs.readFile(name, "utf8", (e, d) => c(told(e, d)))));
    said.push(await new Promise((c) => fs.readFile(name, (e, d) => c(told(e, d)))));
    said.push(await fs.promises.readFile(name, "utf8").then((d) => told(null, d), told));
  }
  console.log(JSON.stringify([...new Set(said)]));
};
ask();
"""


@pytest.fixture
def outside(tmp_path: Path, root: Path) -> dict[str, str]:
    """Files by what they are, none of which may be told apart."""
    folder = write_files(tmp_path / "outside", {"there": "SECRET"})
    os.mkfifo(folder / "pipe")
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to(folder / "there")
    (root / "dangling").symlink_to(folder / "gone")
    (root / "way").symlink_to(folder)
    return {
        "there": str(folder / "there"),
        "closed": "/etc/shadow",
        "gone": str(folder / "gone"),
        "a folder": str(folder),
        "below a file": str(folder / "there/x"),
        "climbing": f"{root}/../outside/there",
        "beside": f"{root}2/there",
        "a pipe": str(folder / "pipe"),
        "what it is told": "/dev/stdin",
        "nothing": "/dev/null",
        "by a link": str(root / "link"),
        "by a link to nothing": str(root / "dangling"),
        "by a link to a folder": str(root / "way/there"),
        "by a link to a folder without it": str(root / "way/gone"),
        "a pipe of the root": str(root / "pipe"),
        "none of the root": str(root / "gone"),
    }


def test_what_is_outside_is_not_told_from_what_is_not_there(
    tmp_path: Path, root: Path, outside: dict[str, str]
) -> None:
    program = tmp_path / "program.cjs"
    program.write_text(READ)
    for how, file in outside.items():
        done = run(program, root, file, reads="workspace")
        said = {each.replace(file, os.path.normpath(file)) for each in json.loads(done.stdout)}
        name = os.path.normpath(file)
        assert said == {f"ENOENT ENOENT: no such file or directory, open '{name}'"}, how


def test_what_is_inside_is_read(tmp_path: Path, root: Path, outside: dict[str, str]) -> None:
    program = tmp_path / "program.cjs"
    program.write_text(READ)
    (root / "inside").symlink_to(root / "a.cjs")
    text = (root / "a.cjs").read_text()
    for name in ("a.cjs", "inside"):
        done = run(program, root, str(root / name), reads="workspace")
        assert json.loads(done.stdout) == [f"READ {text}"]
    (said,) = json.loads(run(program, root, str(root), reads="workspace").stdout)
    assert said.startswith("EISDIR")
    for reads, trusted in (("anything", False), ("code", False), ("workspace", True)):
        done = run(program, root, outside["there"], reads=reads, trusted=trusted)
        assert json.loads(done.stdout) == ["READ SECRET"]
