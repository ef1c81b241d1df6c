"""The guard that is loaded into every language server on Node.

Each thing it refuses is tried without it as well: a check that cannot fail proves nothing.
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from sightline.lsp.start import launcher
from tests.languages.samples import only
from tests.support.engine import engine

GUARD = Path(launcher.__file__).with_name("guard.cjs")
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None, reason="Node is missing")

#: What a script may use: where somebody listens, a root with code in it, and how to end.
_BEGIN = """
const [port, root, outside] = process.argv.slice(2);
const say = (text) => { console.log(text); process.exit(); };
const ok = () => say("ok"), failed = (error) => say(`refused ${error.code || error.message}`);
process.on("uncaughtException", failed);
const child = require("node:child_process"), dns = require("node:dns"), net = require("node:net");
const { Worker } = require("node:worker_threads");
const ended = (code) => (code === 0 ? ok() : say("refused"));
"""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Somebody who would notice a connection."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.settimeout(0)
        yield made


def was_reached(listener: socket.socket) -> bool:
    try:
        listener.accept()[0].close()
    except BlockingIOError:
        return False
    return True


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "ws"
    made.mkdir()
    (made / "code.js").write_text("module.exports = 1;\n")
    (made / "code.mjs").write_text("export default 1;\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "code.js").write_text("module.exports = 1;\n")
    (outside / "code.mjs").write_text("export default 1;\n")
    (outside / "link.js").symlink_to(made / "code.js")
    (outside / "link.mjs").symlink_to(made / "code.mjs")
    return made


def node(script: str, listener: socket.socket, root: Path, guard: Path | None) -> str:
    """What a script says at its end, under the guard or without it."""
    assert NODE is not None
    file, port = root.parent / "script.cjs", listener.getsockname()[1]
    file.write_text(_BEGIN + script)
    environment = {"PATH": os.environ["PATH"], "SIGHTLINE_GUARD_ROOTS": json.dumps([str(root)])}
    if guard is not None:
        environment["NODE_OPTIONS"] = f"--require={json.dumps(str(guard))}"
        environment["SIGHTLINE_GUARD_PROGRAMS"] = json.dumps(["/bin/true"])
    done = subprocess.run(
        [NODE, file, str(port), root, root.parent / "outside"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment,
    )
    assert done.stdout.endswith("\n"), done.stderr
    return done.stdout.splitlines()[-1]


CONNECTS = {
    "net": 'net.connect(port, "127.0.0.1", ok).on("error", failed);',
    "net by options": 'net.connect({ port, host: "127.0.0.1" }, ok).on("error", failed);',
    "http": """require("node:http").get(`http://127.0.0.1:${port}/`).on("error", failed)
        .on("socket", (socket) => socket.on("connect", ok));""",
    "fetch": "fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(2000) })"
    '.then(ok, (error) => (error.name === "TimeoutError" ? ok() : failed(error)));',
}
OTHERS = {
    "dns": 'dns.lookup("localhost", (error) => (error ? failed(error) : ok()));',
    "dns promises": 'dns.promises.lookup("localhost").then(ok, failed);',
    "datagram": """require("node:dgram").createSocket("udp4")
        .send("x", port, "127.0.0.1", (error) => (error ? failed(error) : ok()));""",
    "spawn": 'child.spawn("/bin/echo").on("exit", ended);',
    "exec": 'child.exec("echo", (error) => (error ? failed(error) : ok()));',
    "execFile": 'child.execFile("/bin/echo", (error) => (error ? failed(error) : ok()));',
    "spawnSync": 'child.spawnSync("/bin/echo"); ok();',
    "execSync": 'child.execSync("echo"); ok();',
    "execFileSync": 'child.execFileSync("/bin/echo"); ok();',
    "require": "require(`${root}/code.js`); ok();",
    "require by a link": "require(`${outside}/link.js`); ok();",
    "import": "import(`${root}/code.mjs`).then(ok, failed);",
    "import of CommonJS": "import(`${root}/code.js`).then(ok, failed);",
    "import by a link": "import(`${outside}/link.mjs`).then(ok, failed);",
    "worker": 'new Worker(`${root}/code.js`).on("error", failed).on("exit", ended);',
    "worker of modules": 'new Worker(`${root}/code.mjs`).on("error", failed).on("exit", ended);',
    "fork": 'child.fork(`${root}/code.js`, { silent: true }).on("exit", ended);',
    "fork of modules": 'child.fork(`${root}/code.mjs`, { silent: true }).on("exit", ended);',
    "node by its name": 'child.spawn(process.execPath, [`${root}/code.js`]).on("exit", ended);',
}
ALLOWED = {
    "itself": 'child.spawn(process.execPath, ["-e", "0"]).on("exit", ended);',
    "a named program": 'child.spawn("/bin/true").on("exit", ended);',
    "a pipe": """const pipe = `${outside}/pipe`;
        net.createServer().listen(pipe, () => net.connect(pipe, ok).on("error", failed));""",
    "require": "require(`${outside}/code.js`); ok();",
    "import": "import(`${outside}/code.mjs`).then(ok, failed);",
    "worker": 'new Worker(`${outside}/code.js`).on("error", failed).on("exit", ended);',
}


@pytest.mark.parametrize("way", CONNECTS)
def test_no_connection_is_made(way: str, listener: socket.socket, root: Path) -> None:
    assert node(CONNECTS[way], listener, root, None) == "ok"
    assert was_reached(listener)
    assert node(CONNECTS[way], listener, root, GUARD).startswith("refused")
    assert not was_reached(listener)


@pytest.mark.parametrize("way", OTHERS)
def test_what_is_refused(way: str, listener: socket.socket, root: Path) -> None:
    assert node(OTHERS[way], listener, root, None) == "ok"
    assert node(OTHERS[way], listener, root, GUARD).startswith("refused")


@pytest.mark.parametrize("way", ALLOWED)
def test_what_servers_need_is_allowed(way: str, listener: socket.socket, root: Path) -> None:
    assert node(ALLOWED[way], listener, root, GUARD) == "ok"


@pytest.mark.parametrize("guarded", [True, False])
async def test_a_schema_by_address_is_not_fetched(
    guarded: bool, listener: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server of YAML would ask whomever a document names."""
    root, cache = tmp_path / "ws", tmp_path / "cache"
    root.mkdir()
    cache.mkdir()
    address = f"http://127.0.0.1:{listener.getsockname()[1]}/schema.json"
    text = f"# yaml-language-server: $schema={address}\nx: 1\n"
    (root / "main.yaml").write_text(text)
    if not guarded:
        (tmp_path / "empty.cjs").write_text("")
        monkeypatch.setattr(launcher, "_GUARD", str(tmp_path / "empty.cjs"))
    async with engine(root, cache=cache, registry=only("yaml")) as running:
        asked = running.call("vscode.lsp.diagnostics.document", uri=running.uri("main.yaml"))
        if guarded:
            await asked
        else:
            # Nobody answers it there, so it waits; that it has come is what is to be seen.
            listener.settimeout(30)
            task = asyncio.ensure_future(asked)
            (await asyncio.to_thread(listener.accept))[0].close()
            await task
            return
    assert not was_reached(listener)
