"""The registry is data: a user adds or overrides a server without code, and mistakes are named."""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.contract.values import Position
from sightline.lsp import registry as module
from sightline.lsp.install.store import Store
from sightline.lsp.registry import OPERATIONS, BadRegistry, builtin, load
from sightline.lsp.start.launcher import Launcher
from tests.support import fake_server
from tests.support.engine import engine
from tests.support.program import run

LUA = """
[languages.lua]
title = "Lua"
extensions = [".lua"]

[servers.mine]
languages = ["lua"]
command = {command}
found = "path"
needs_trust = false
"""


def test_a_language_of_the_user(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    root.mkdir()
    (root / "a.lua").write_text("function area() end\n")
    script = tmp_path / "script.json"
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 19}}
    symbol = {"name": "area", "kind": 12, "range": place, "selectionRange": place}
    script.write_text(json.dumps({"textDocument/documentSymbol": [{"result": [symbol]}]}))
    command = json.dumps([sys.executable, fake_server.__file__, str(script)])
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(LUA.replace("{command}", command))
    asked = json.dumps({"uri": (root / "a.lua").as_uri()})
    done = run(home, "call", "vscode.lsp.documentSymbols", asked, "--root", root)
    assert done.returncode == 0, done.stderr
    assert [symbol["name"] for symbol in json.loads(done.stdout)["symbols"]] == ["area"]
    assert f"Lua in {root}: mine 1, ready" in run(home, "doctor", root).stdout


def test_the_user_decides_what_a_file_is_written_in() -> None:
    mine = {"title": "Lua of ours", "extensions": [".lua"]}
    changed = load({"languages": {"ours": mine}}, builtin())
    assert builtin().language_of("a.lua") == "lua"
    assert changed.language_of("a.lua") == "ours"


def test_a_language_names_others_that_there_are() -> None:
    known = builtin().languages
    assert not {other for each in known.values() for other in each.uses} - known.keys()


def test_an_override_keeps_what_it_does_not_name() -> None:
    changed = load({"servers": {"pyright": {"unstable": []}}}, builtin())
    assert changed.servers["pyright"].unstable == ()
    assert changed.servers["pyright"].ready_signal == builtin().servers["pyright"].ready_signal
    assert changed.servers["ty"] == builtin().servers["ty"]


@pytest.mark.parametrize(
    ("name", "text", "kept"),
    [
        (
            "bash",
            "[servers.bash.settings.bashIde]\nenableSourceErrorDiagnostics = true",
            {"settings": {"bashIde": {"backgroundAnalysisMaxFiles": 1_000_000}}},
        ),
        (
            "gopls",
            '[servers.gopls.environment]\nGOFLAGS = "-tags=x"',
            {"environment": {"GOPROXY": "off", "GOTOOLCHAIN": "local", "GOFLAGS": "-tags=x"}},
        ),
        (
            "vtsls",
            "[servers.vtsls.settings.typescript.tsserver]\nmaxTsServerMemory = 9",
            {"settings": {"typescript": {"tsserver": {"useSyntaxServer": "never"}}}},
        ),
        (
            "rust-analyzer",
            '[servers.rust-analyzer.initialization_options.cargo]\nfeatures = "all"',
            {"initialization_options": {"cargo": {"targetDir": "{cache}/target"}}},
        ),
        ("tsgo", "[servers.tsgo.caps]\nhover = 7", {"caps": {"workspaceSymbols": 256}}),
    ],
)
def test_a_setting_beside_others_keeps_them(name: str, text: str, kept: dict[str, Any]) -> None:
    """Some of them make answers complete, or keep a server off the network."""
    changed = load(tomllib.loads(text), builtin()).servers[name]
    assert changed != builtin().servers[name]

    def holds(given: Any, wanted: dict[str, Any]) -> bool:
        return all(
            holds(given[key], value) if isinstance(value, dict) else given[key] == value
            for key, value in wanted.items()
        )

    assert holds(msgspec.to_builtins(changed), kept)


async def test_references_are_whole_with_a_setting_of_the_user(tmp_path: Path) -> None:
    """Without its other settings bash reads 500 files, and says nothing of the rest."""
    root = tmp_path / "ws"
    root.mkdir()
    (root / "lib.sh").write_text("area() { :; }\n")
    for number in range(600):
        (root / f"use{number}.sh").write_text("source ./lib.sh\narea\n")
    own = {"bashIde": {"enableSourceErrorDiagnostics": True}}
    registry = load({"servers": {"bash": {"settings": own}}}, builtin())
    async with engine(root, cache=tmp_path / "cache", registry=registry) as running:
        await running.ready("lib.sh")
        file = (await running.program.workspace.begin()).document(running.uri("lib.sh"))
        found = await running.program.pool.references(
            file, Position(0, 1), include_declaration=False
        )
    assert len(found.items) == 600


def test_an_extension_more_for_a_known_language() -> None:
    changed = load({"languages": {"python": {"extensions": [".py", ".pyi", ".cast"]}}}, builtin())
    assert changed.language_of("a.cast") == "python"
    assert changed.languages["python"].title == "Python"
    assert changed.servers_for("python") == builtin().servers_for("python")


@pytest.mark.parametrize(
    ("name", "table", "order"),
    [
        ("pyright", {"unstable": []}, ["ty", "pyright"]),
        ("pyright", {"prefer": True}, ["pyright", "ty"]),
        ("ty", {"prefer": False}, ["pyright", "ty"]),
        ("mine", {}, ["mine", "ty", "pyright"]),
        ("mine", {"prefer": False}, ["ty", "pyright", "mine"]),
    ],
)
def test_who_comes_first(name: str, table: dict[str, Any], order: list[str]) -> None:
    """A new server is one that its user wants; a changed value of a known one is no such wish."""
    new = {"languages": ["python"], "command": ["mine"], "found": "path"}
    entry = new | table if name == "mine" else table
    assert load({"servers": {name: entry}}, builtin()).servers_for("python") == order


def test_who_needs_trust_is_said_in_so_many_words() -> None:
    """What a server executes is a text for people; nobody's code runs because of its wording."""
    page = Path(__file__).parent.parent.parent / "docs/add-a-language.md"
    text = page.read_text(encoding="utf-8")
    described = tomllib.loads(re.findall(r"```toml\n(.*?)```", text, re.DOTALL)[0])
    (name,) = described["servers"]
    assert load(described, builtin()).servers[name].needs_trust
    described["servers"][name]["executes"] = "nothing"
    assert load(described, builtin()).servers[name].needs_trust
    described["servers"][name]["needs_trust"] = False
    assert not load(described, builtin()).servers[name].needs_trust
    assert "`needs_trust = false`" in text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[servers.x]\nlanguages = ["klingon"]\ncommand = ["x"]\nfound = "path"', "klingon"),
        ('[servers.x]\nlanguages = ["c"]\ncommand = []\nfound = "path"', "must name a program"),
        ('[servers.x]\nlanguages = ["c"]\ncommand = ["x"]\nfound = "here"', "found"),
        ('[servers.x]\nlanguages = ["c"]\ncommand = ["x"]\nfound = "installed"', "no package"),
        ('[servers.ty]\nreadiness = "log"', "ready_signal"),
        ('[servers.ty]\nafter_change = "reload"', "reload_command"),
        ('[servers.ty]\nready_when = "now"', "ready_when"),
        ("[servers.ty]\ncommand = 7", "command"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(BadRegistry, match=said):
        load(tomllib.loads(text), builtin())


def test_a_start_reads_what_people_edit() -> None:
    text = Path(module.__file__).with_name("registry.toml").read_text(encoding="utf-8")
    assert builtin() == load(tomllib.loads(text))
    assert list(builtin().servers) == list(tomllib.loads(text)["servers"])


def test_every_entry_says_what_people_must_know() -> None:
    registry = builtin()
    for name, spec in registry.servers.items():
        assert spec.executes != "unknown" and spec.network != "unknown", name
        assert registry.licence_of(name), name
        assert spec.leaves_out, name
        assert registry.version_of(name) or spec.found == "path", name
        assert spec.get or spec.found != "path", name
        assert set(spec.not_offered) | set(spec.unstable) <= set(OPERATIONS), name
        if spec.diagnostics == "none":
            assert {"documentDiagnostics", "workspaceDiagnostics"} <= set(spec.not_offered), name


def test_what_a_server_gets_of_the_environment(tmp_path: Path) -> None:
    """Variables that its entry names, unless they lead into a root."""
    root = tmp_path / "ws"
    root.mkdir()
    own = {"PATH": "/bin", "GOPATH": "/elsewhere", "GOROOT": f"{root}/go", "GOFLAGS": "-mod=mod"}
    launcher = Launcher(own, tmp_path, Store(tmp_path), builtin())
    spec = builtin().servers["gopls"]
    seen = launcher._environment(spec, [str(root)], str(tmp_path))
    assert seen["GOPATH"] == "/elsewhere"
    assert "GOROOT" not in seen
    assert seen["GOFLAGS"] == spec.environment["GOFLAGS"]
    assert seen["HOME"] == str(tmp_path), "a server that finds no home folder may end"
    at_home = Launcher({"HOME": "/somewhere"}, tmp_path, Store(tmp_path), builtin())
    assert at_home._environment(spec, [], str(tmp_path))["HOME"] == "/somewhere"


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(BadRegistry, match="is not a regular expression"):
        load({"servers": {"gopls": {"no_symbol": "("}}}, builtin())
