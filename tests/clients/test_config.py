"""``sightline config``: what it shows, what it writes into a user's file, what it never writes."""

import json
import os
import shlex
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from sightline.cli.clients import jsonc
from sightline.cli.clients.client import Client, Places
from sightline.cli.clients.table import CLIENTS
from tests.support.program import command, environment, run

WITH_FILES = [client for client in CLIENTS.values() if client.key != "json"]
EACH = pytest.mark.parametrize("client", WITH_FILES, ids=lambda client: client.key)
WITH_TOKEN = [c for c in WITH_FILES if c.http is not None and c.credential == "file"]
Done = subprocess.CompletedProcess[str]


def config(home: Path, project: Path, *words: str | Path, code: int = 0) -> Done:
    done = run(home, "config", *words, cwd=project)
    assert done.returncode == code, done.stdout + done.stderr
    return done


def file_of(client: Client, home: Path) -> Path:
    found = client.file(Places(home, {}, "linux"))
    assert found is not None
    return found


def read(client: Client, text: str) -> dict[str, Any]:
    whole: dict[str, Any] = tomllib.loads(text) if client.form == "toml" else jsonc.value(text)
    return whole


def entry(client: Client, home: Path, name: str = "sightline") -> dict[str, Any]:
    found: Any = read(client, file_of(client, home).read_text(encoding="utf-8"))
    for step in (*client.path, name):
        found = found[step]
    made: dict[str, Any] = found
    return made


def files_below(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def token_of(home: Path) -> str:
    token: str = json.loads((home / ".local/share/sightline/tokens.json").read_text())[0]
    return token


# Showing


def test_without_a_client_all_are_listed_with_what_is_in_their_files(
    home: Path, sample: Path
) -> None:
    config(home, sample, "codex", "--write")
    (home / ".claude.json").write_text("{", encoding="utf-8")
    listed = config(home, sample).stdout
    for client in CLIENTS:
        assert f"\n{client} " in listed
    assert "~/.codex/config.toml" in listed and "yes, over stdio" in listed
    assert "the file cannot be read" in listed
    assert listed.endswith("sightline config CLIENT --write --check\n")


@EACH
def test_what_is_shown_can_be_pasted_and_nothing_is_written(
    client: Client, home: Path, sample: Path
) -> None:
    done = config(home, sample, client.key)
    assert client.path[0] in read(client, done.stdout)
    assert f"sightline config {client.key} --write" in done.stderr
    assert files_below(home) == {}


def test_a_client_without_a_file_is_shown_plain_json(home: Path, sample: Path) -> None:
    shown = json.loads(config(home, sample, "json", "--set", "content=mirror").stdout)
    words = shown["mcpServers"]["sightline"]["args"]
    assert words == ["stdio", "--set=content=mirror"]
    refused = config(home, sample, "json", "--write", code=2)
    assert "--file" in refused.stderr


def test_the_token_is_not_shown(home: Path, sample: Path) -> None:
    run(home, "token", "show")
    for client in WITH_TOKEN:
        done = config(home, sample, client.key, "--http")
        assert token_of(home) not in done.stdout + done.stderr
        assert "sightline token show" in done.stderr


# Writing


@EACH
def test_it_is_written_once_for_the_user_alone(client: Client, home: Path, sample: Path) -> None:
    config(home, sample, client.key, "--write")
    file = file_of(client, home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = files_below(home), file.stat().st_ino
    again = config(home, sample, client.key, "--write")
    assert "already says so" in again.stdout
    assert (files_below(home), file.stat().st_ino) == before


@EACH
def test_the_rest_of_the_file_stays_and_the_old_one_is_kept(
    client: Client, home: Path, sample: Path
) -> None:
    file = file_of(client, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    if client.form == "toml":
        text = '# mine\nmodel = "x"   # spaced\n\n[mcp_servers.other]\ncommand = "other"\n'
    else:
        other = f'"{client.path[0]}": {{"other": {{"command": "other"}}}}'
        text = f'{{\n    "zeta": 1.0,\n    {other},\n    "alpha": []\n}}\n'
    file.write_text(text, encoding="utf-8")
    file.chmod(0o640)
    config(home, sample, client.key, "--write")
    after = file.read_text(encoding="utf-8")
    rest = iter(after)
    assert all(character in rest for character in text), "every byte, in its order"
    assert entry(client, home)
    assert entry(client, home, "other") == {"command": "other"}
    backup = file.with_name(file.name + ".before-sightline")
    assert backup.read_text(encoding="utf-8") == text
    assert stat.S_IMODE(backup.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@EACH
def test_the_kept_file_is_the_one_from_before_sightline(
    client: Client, home: Path, sample: Path
) -> None:
    file = file_of(client, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "" if client.form == "toml" else "{}"
    file.write_text(text + "\n", encoding="utf-8")
    kept = file.with_name(file.name + ".before-sightline")
    config(home, sample, client.key, "--write", "--set", "debug_logging=true")
    again = config(home, sample, client.key, "--write")
    assert "as it was" not in again.stdout
    assert kept.read_text(encoding="utf-8") == text + "\n"
    file.write_text(text + "\n\n", encoding="utf-8")
    assert "as it was" in config(home, sample, client.key, "--write").stdout
    assert kept.read_text(encoding="utf-8") == text + "\n\n"


@pytest.mark.parametrize("client", WITH_TOKEN, ids=lambda client: client.key)
def test_no_kept_file_holds_a_token(client: Client, home: Path, sample: Path) -> None:
    """However often and under whichever name and port it is written, over either transport."""
    tokens: list[str] = []
    for words in (
        ("--http",),
        ("--http", "--port", "4000"),
        ("--http", "--name", "other", "--port", "4001"),
        (),
        ("--name", "third"),
    ):
        run(home, "token", "rotate")
        tokens.append(token_of(home))
        done = config(home, sample, client.key, *words, "--write")
        assert "as it was" not in done.stdout
    assert tokens[2] in file_of(client, home).read_text(encoding="utf-8")
    kept = {name: data for name, data in files_below(home).items() if "before-sightline" in name}
    assert kept == {}


def test_a_kept_file_with_an_entry_of_ours_is_removed(home: Path, sample: Path) -> None:
    """Earlier versions left such ones behind."""
    client = CLIENTS["cursor"]
    config(home, sample, client.key, "--http", "--write")
    file = file_of(client, home)
    kept = file.with_name(file.name + ".before-sightline")
    shutil.copy(file, kept)
    config(home, sample, client.key, "--http", "--write")
    assert not kept.exists()


def test_another_server_of_this_machine_is_not_taken_for_ours(home: Path, sample: Path) -> None:
    file = file_of(CLIENTS["cursor"], home)
    file.parent.mkdir(parents=True)
    text = json.dumps(
        {
            "mcpServers": {
                "a": {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer x"}},
                "b": {"url": "http://[", "headers": {"Authorization": "Bearer " + "y" * 43}},
            }
        }
    )
    file.write_text(text, encoding="utf-8")
    config(home, sample, "cursor", "--http", "--write")
    assert file.with_name(file.name + ".before-sightline").read_text(encoding="utf-8") == text


def test_so_is_the_kept_file_of_settings(home: Path, sample: Path) -> None:
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("port = 4040\n")
    config(home, sample, "cursor", "--http", "--write")
    config(home, sample, "zed", "--http", "--write")
    assert "Zed" in settings.read_text()
    kept = settings.with_name(settings.name + ".before-sightline")
    assert kept.read_text() == "port = 4040\n"


def test_what_the_user_added_to_the_entry_stays_when_the_transport_changes(
    home: Path, sample: Path
) -> None:
    client = CLIENTS["copilot-cli"]
    config(home, sample, client.key, "--write")
    file = file_of(client, home)
    own = jsonc.value(file.read_text())
    own["mcpServers"]["sightline"] |= {"timeout": 5000, "tools": ["hover"]}
    file.write_text(json.dumps(own))
    config(home, sample, client.key, "--http", "--write")
    made = entry(client, home)
    assert made["timeout"] == 5000
    assert "command" not in made
    assert made["url"] == "http://127.0.0.1:3939/mcp"


REFUSED = {
    "comments that the client may not read": (
        "claude-code",
        '{\n  // mine\n  "mcpServers": {}\n}\n',
    ),
    "a file that is not JSON": ("cursor", '{"mcpServers": '),
    "a name twice": ("cursor", '{"mcpServers": {}, "mcpServers": {}}'),
    "servers that are no object": ("vscode", '{"servers": []}'),
    "an inline table": ("codex", 'mcp_servers = { sightline = { command = "x" } }\n'),
    "a file that is not TOML": ("codex", "model = \n"),
}


@pytest.mark.parametrize(("key", "text"), REFUSED.values(), ids=REFUSED)
def test_a_file_that_cannot_be_kept_is_left_alone_and_the_entry_is_shown(
    key: str, text: str, home: Path, sample: Path
) -> None:
    client = CLIENTS[key]
    file = file_of(client, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    done = config(home, sample, key, "--write", code=3)
    assert "was not changed" in done.stderr
    assert "put this in by hand" in done.stderr
    assert client.path[0] in read(client, done.stdout)
    assert files_below(home) == {str(file.relative_to(home)): text.encode()}


def test_behind_a_link_the_target_is_replaced(home: Path, sample: Path, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text("{}")
    (home / ".claude.json").symlink_to(target)
    config(home, sample, "claude-code", "--write")
    assert (home / ".claude.json").is_symlink()
    assert "sightline" in target.read_text()


def test_another_entry_that_leads_here_is_pointed_out(home: Path, sample: Path) -> None:
    config(home, sample, "cursor", "--write", "--name", "code-answers")
    done = config(home, sample, "cursor", "--write")
    assert "code-answers in the same file leads to Sightline too" in done.stderr


# What each client gets


def test_dots_and_bare_structure_are_kept_from_clients_that_cannot_take_them(
    home: Path, sample: Path
) -> None:
    for client in WITH_FILES:
        shown = config(home, sample, client.key).stdout
        assert ("tool_names=underscore" in shown) is ("tool_names" in client.settings)
        assert ("content=mirror" in shown) is ("content" in client.settings)


def test_clients_that_start_servers_anywhere_are_told_the_project(home: Path, sample: Path) -> None:
    for client in WITH_FILES:
        shown = config(home, sample, client.key).stdout
        assert (str(sample) in shown) is (client.starts_in == "anywhere")


@pytest.mark.parametrize("order", [("ROOT", "--write"), ("--write", "ROOT")], ids=" ".join)
def test_named_folders_are_written_whole(home: Path, sample: Path, order: tuple[str, ...]) -> None:
    words = [sample.name if word == "ROOT" else word for word in order]
    config(home, sample.parent, "claude-code", *words)
    assert entry(CLIENTS["claude-code"], home)["args"] == ["stdio", str(sample)]


def test_the_home_is_no_project_and_the_advice_says_so(home: Path) -> None:
    done = config(home, home, "claude-desktop", "--write", code=3)
    assert "in the folder of a project" in done.stderr
    named = config(home, home, "claude-desktop", home, "--write", code=3)
    assert "pass a folder in it" in named.stderr


# Tokens


@pytest.mark.parametrize("client", WITH_TOKEN, ids=lambda client: client.key)
def test_a_token_is_written_for_the_user_alone(client: Client, home: Path, sample: Path) -> None:
    file = file_of(client, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("{}")
    file.chmod(0o644)
    done = config(home, sample, client.key, "--http", "--write")
    assert entry(client, home)["headers"]["Authorization"] == f"Bearer {token_of(home)}"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token_of(home) not in done.stdout + done.stderr


@pytest.mark.parametrize("key", ["claude-code", "codex", "vscode"])
def test_a_client_that_can_ask_gets_no_token(key: str, home: Path, sample: Path) -> None:
    config(home, sample, key, "--http", "--write")
    run(home, "token", "show")
    held = files_below(home)
    held.pop(".local/share/sightline/tokens.json")
    assert token_of(home).encode() not in b"".join(held.values())


def test_a_client_that_asks_its_user_is_told_how_once(home: Path, sample: Path) -> None:
    client = CLIENTS["vscode"]
    config(home, sample, "vscode", "--http", "--write")
    config(home, sample, "vscode", "--http", "--write", "--name", "again")
    inputs = read(client, file_of(client, home).read_text())["inputs"]
    assert [each["id"] for each in inputs] == ["sightline-token"]


@pytest.mark.parametrize("client", WITH_TOKEN, ids=lambda client: client.key)
def test_a_token_is_never_written_into_a_repository(
    client: Client, home: Path, sample: Path
) -> None:
    (home / ".git").mkdir()
    done = config(home, sample, client.key, "--http", "--write", code=3)
    assert "lies in the repository" in done.stderr
    assert "leave --http out" in done.stderr
    assert not file_of(client, home).exists()


def test_nor_through_a_link(home: Path, sample: Path, tmp_path: Path) -> None:
    repository = tmp_path / "dotfiles"
    (repository / ".git").mkdir(parents=True)
    (repository / "mcp.json").write_text("{}")
    (home / ".cursor").mkdir()
    (home / ".cursor/mcp.json").symlink_to(repository / "mcp.json")
    config(home, sample, "cursor", "--http", "--write", code=3)
    assert (repository / "mcp.json").read_text() == "{}"


def test_the_running_server_learns_what_the_client_needs(home: Path, sample: Path) -> None:
    settings = home / ".config/sightline/sightline.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("# mine\nport = 4040\n")
    done = config(home, sample, "cursor", "--http", "--write")
    assert "settings for this client were added to ~/.config/sightline" in done.stdout
    text = settings.read_text()
    assert text.startswith("# mine\nport = 4040\n")
    assert tomllib.loads(text)["clients"]["cursor-vscode"] == {
        "tool_names": "underscore",
        "content": "mirror",
    }
    assert entry(CLIENTS["cursor"], home)["url"] == "http://127.0.0.1:4040/mcp"
    assert json.loads(run(home, "settings", "--json").stdout)["clients"]["from"] == "file"


# Refusals that name the next step


WRONG = {
    "a name with dots": (["claude-code", "--name", "a.b"], 2, "up to 25 letters"),
    "HTTP where there is none": (["claude-desktop", "--http"], 2, "leave --http out"),
    "HTTP in a revision it does not speak": (["gemini", "--http"], 2, "leave --http out"),
    "folders of a server that runs already": (["codex", ".", "--http"], 2, "sightline serve"),
    "a folder that is not there": (["codex", "nowhere"], 3, "pass the folder of your project"),
    "an unknown client": (["emacs"], 2, "invalid choice"),
}


@pytest.mark.parametrize(("words", "code", "advice"), WRONG.values(), ids=WRONG)
def test_a_wish_that_cannot_be_met_names_the_next_step(
    words: list[str], code: int, advice: str, home: Path, sample: Path
) -> None:
    assert advice in config(home, sample, *words, code=code).stderr


def test_a_temporary_installation_is_not_written_into_a_file(home: Path, sample: Path) -> None:
    temporary = home / ".cache/uv/archive-v0/x/bin/sightline"
    temporary.parent.mkdir(parents=True)
    shutil.copy(command()[0], temporary)
    argv = [str(temporary), "config", "claude-code"]
    options: dict[str, Any] = {"env": environment(home), "cwd": sample, "capture_output": True}
    written = subprocess.run([*argv, "--write"], check=False, text=True, timeout=60, **options)
    assert written.returncode == 3
    assert "uv tool install" in written.stderr
    assert not (home / ".claude.json").exists()
    shown = subprocess.run(argv, check=False, text=True, timeout=60, **options)
    assert shown.returncode == 0
    assert "uv tool install" in shown.stderr


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    from sightline.cli.clients.files import UserFile
    from sightline.cli.exits import CommandError

    file = UserFile(tmp_path / "config.json")
    file.path.write_text("{}")
    before = file.read()
    file.path.write_text('{"theirs": 1}')
    with pytest.raises(CommandError, match="changed meanwhile"):
        file.write(before, '{"ours": 1}', secret=False, ours=False)
    assert file.path.read_text() == '{"theirs": 1}'
    assert os.listdir(tmp_path) == ["config.json"]


@EACH
def test_a_disk_that_takes_nothing_is_left_as_it_was(
    client: Client, home: Path, sample: Path
) -> None:
    file = file_of(client, home)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("")
    before = files_below(home)
    line = f"ulimit -f 0; exec {shlex.join(command('config', client.key, '--write'))}"
    done = subprocess.run(
        ["sh", "-c", line],
        env=environment(home),
        cwd=sample,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 3
    assert "cannot be written (File too large)" in done.stderr
    assert files_below(home) == before
