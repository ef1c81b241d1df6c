"""The registry is data: a user adds or overrides a server without code, and mistakes are named."""

import json
import sys
import tomllib
from pathlib import Path

import pytest

from sightline.lsp import registry as module
from sightline.lsp.install.store import Store
from sightline.lsp.launching import Launcher
from sightline.lsp.registry import OPERATIONS, BadRegistry, builtin, load
from tests.support import fake_server
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


def test_an_override_keeps_what_it_does_not_name_and_comes_first() -> None:
    changed = load({"servers": {"pyright": {"unstable": []}}}, builtin())
    assert changed.servers_for("python") == ["pyright", "ty"]
    assert changed.servers["pyright"].unstable == ()
    assert changed.servers["pyright"].ready_signal == builtin().servers["pyright"].ready_signal
    assert changed.servers["ty"] == builtin().servers["ty"]


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


def test_a_pattern_that_is_none() -> None:
    with pytest.raises(BadRegistry, match="is no regular expression"):
        load({"servers": {"gopls": {"no_symbol": "("}}}, builtin())
