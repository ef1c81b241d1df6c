"""Where settings come from, which source wins, and what a bad one is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command


@pytest.fixture
def settings_file(home: Path) -> Path:
    folder = home / ".config/sightline"
    folder.mkdir(parents=True)
    return folder / "sightline.toml"


def shown(sightline: Command, *arguments: str) -> dict[str, Any]:
    done = sightline("settings", "--json", *arguments)
    assert done.code == 0, done.err
    rows: dict[str, Any] = json.loads(done.out)
    return rows


@pytest.mark.requirement("GA-settings")
def test_the_order_of_sources(
    sightline: Command, settings_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shown(sightline)["request_timeout_ms"] == {"value": 2_000, "from": "default"}
    settings_file.write_text("request_timeout_ms = 400\n", encoding="utf-8")
    assert shown(sightline)["request_timeout_ms"] == {"value": 400, "from": "file"}
    monkeypatch.setenv("SIGHTLINE_REQUEST_TIMEOUT_MS", "500")
    assert shown(sightline)["request_timeout_ms"] == {"value": 500, "from": "environment"}
    rows = shown(sightline, "--set", "request_timeout_ms=600")
    assert rows["request_timeout_ms"] == {"value": 600, "from": "flag"}
    assert shown(sightline, "--tools", "lsp")["families"] == {"value": ["lsp"], "from": "flag"}


def test_settings_for_people(sightline: Command, settings_file: Path) -> None:
    done = sightline("settings")
    assert done.code == 0
    assert "port" in done.out and "3939  (default)" in done.out
    assert str(settings_file) in done.out


def test_a_file_in_the_workspace_is_not_read(sightline: Command, sample: Path) -> None:
    (sample / "sightline.toml").write_text("port = 4000\n", encoding="utf-8")
    (sample / ".config").mkdir()
    assert shown(sightline)["port"]["from"] == "default"


def test_too_large_is_lowered_with_a_warning(sightline: Command) -> None:
    done = sightline("settings", "--json", "--set", "max_items_per_page=1000")
    assert json.loads(done.out)["max_items_per_page"]["value"] == 200
    assert done.err == "sightline: max_items_per_page was lowered from 1000 to its maximum, 200\n"


@pytest.mark.requirement("GA-settings")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("port = ", "not valid TOML"),
        ("= 5", "not valid TOML"),
        ("port = 80", "port"),
        ('port = "x"', "port"),
        ("unknown = 1", "unknown"),
        ("families = []", "families"),
        ('bind_address = "0.0.0.0"', "127.0.0.1"),
        ('additional_allowed_roots = ["relative"]', "additional_allowed_roots"),
        ("[clients.x]\nport = 1", "clients"),
        ("servers = 1", "servers"),
        ("[servers]\nty = 1", "servers"),
        ("languages = []", "languages"),
        ("[servers.ty]\nunknown = 1", "servers.ty"),
        ('[servers.x]\nlanguages = ["cobol"]\ncommand = ["x"]\nfound = "path"', "cobol"),
    ],
)
@pytest.mark.parametrize("name", ["settings", "serve", "stdio", "tools", "call"])
def test_a_bad_file_is_refused_by_every_command(
    sightline: Command, settings_file: Path, text: str, named: str, name: str
) -> None:
    settings_file.write_text(text, encoding="utf-8")
    done = sightline(name, *(["x"] if name == "call" else []))
    assert (done.code, done.out) == (3, "")
    assert named in done.err and done.err.count("\n") == 1, done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 80", "there is no setting 'prot'; did you mean port?"),
        ("port = 80", "port must be from 1024 to 65535"),
        ("[server.ty]", "there is no setting 'server'; did you mean servers?"),
        ("servers = 1", "servers takes tables, such as [servers.NAME]"),
        ("[clients.x]\ncontents = 1", "not 'contents'; did you mean content?"),
        ("[servers.ty]\ncommands = 1", ".ty: there is no key 'commands'; did you mean command?"),
        ("[servers.ty]\nzzz = 1", "servers.ty: there is no key 'zzz'\n"),
        ("[servers.ty]\ncommand = 7", "servers.ty.command must be a list, not a whole number"),
        ("[servers.ty]\ncommand = [7]", "servers.ty.command[0] must be a text in quotes, not "),
        ("[servers.ty]\nprefer = 1", "servers.ty.prefer must be true or false, not a whole"),
        ("[servers.ty]\nsweeps_at_once = 0", "sweeps_at_once must be a whole number >= 1"),
        ("[servers.ty]\nfound = 'here'", "'bundled', 'installed', 'path'; not 'here'"),
        ("[servers.ty]\ncaps.hovers = 1", "servers.ty.caps takes 'definition', 'references'"),
        ("[servers.ty]\nenvironment.A = 1", "servers.ty.environment.* must be a text in quotes"),
        ("[servers.x]\ncommand = ['x']", "servers.x: languages is missing"),
        ("[[servers.ty.troubles]]\nsay = 'x'", "troubles[0]: there is no key 'say'; did you mean"),
        ("[languages.x]\ntitle = 1", "languages.x.title must be a text in quotes, not a whole"),
    ],
)
def test_a_mistake_is_told_with_its_place_and_what_was_meant(
    sightline: Command, settings_file: Path, text: str, said: str
) -> None:
    settings_file.write_text(text, encoding="utf-8")
    done = sightline("settings")
    assert done.err.startswith(f"sightline: {settings_file}: ") and said in done.err, done.err


def test_a_file_that_cannot_be_read(sightline: Command, settings_file: Path) -> None:
    settings_file.mkdir()
    done = sightline("settings")
    assert done.code == 3 and "cannot be read" in done.err
    settings_file.rmdir()
    settings_file.write_bytes(b"\xff\xfe")
    done = sightline("settings")
    assert done.code == 3 and "not valid TOML" in done.err


@pytest.mark.parametrize(
    ("flag", "code", "named"),
    [("port", 2, "KEY=VALUE"), ("port=", 3, "port"), ("x=1", 3, "x"), ("=1", 3, "setting"),
     ("servers=1", 3, "servers"), ("enable_sessions=maybe", 3, "enable_sessions")],
)  # fmt: skip
def test_a_bad_flag(sightline: Command, flag: str, code: int, named: str) -> None:
    done = sightline("settings", "--set", flag)
    assert done.code == code and named in done.err


@pytest.mark.parametrize("digits", ["9" * 5_000, "0" * 5_000 + "9" * 30])
def test_a_number_of_many_digits(sightline: Command, settings_file: Path, digits: str) -> None:
    done = sightline("settings", "--set", f"max_sessions={digits}")
    assert done.code == 0 and "max_sessions was lowered to its maximum, 64" in done.err
    done = sightline("settings", "--set", f"port={digits}")
    assert done.code == 3 and "port must be from 1024 to 65535" in done.err
    settings_file.write_text(f"port = {digits.lstrip('0')}\n", encoding="utf-8")
    done = sightline("settings")
    assert done.code == 3 and "9999" not in done.err


def test_leading_zeros_are_nothing(sightline: Command) -> None:
    done = sightline("settings", "--set", "port=" + "0" * 5_000 + "4000")
    assert done.code == 0 and "4000" in done.out


def test_a_bad_variable(sightline: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_PORT", "many")
    done = sightline("serve")
    assert done.code == 3 and "SIGHTLINE_PORT: port must be" in done.err


@pytest.mark.parametrize("path", ["/", "/proc", "/sys/kernel", "/dev", "{home}", "{home}/nothing"])
@pytest.mark.parametrize("name", ["serve", "stdio"])
def test_a_bad_root(sightline: Command, home: Path, path: str, name: str) -> None:
    done = sightline(name, path.format(home=home))
    assert (done.code, done.out) == (3, "")
    assert "pass a folder" in done.err or "pass the folder" in done.err


def test_folders_follow_xdg(
    sightline: Command, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative/is/ignored")
    assert sightline("token", "show").code == 0
    assert (tmp_path / "data/sightline/tokens.json").is_file()
    assert f"{home}/.config/sightline" in sightline("settings").out


def test_a_folder_of_another_kind(sightline: Command, home: Path) -> None:
    (home / ".local").write_text("a file", encoding="utf-8")
    done = sightline("token", "show")
    assert done.code == 3 and "cannot be made" in done.err and "Traceback" not in done.err


def test_a_root_of_the_settings_that_is_not_there_is_said_to_be_theirs(
    sightline: Command, settings_file: Path
) -> None:
    key, file = "additional_allowed_roots", settings_file
    file.write_text(f'{key} = ["/no/such/library"]\n', encoding="utf-8")
    why = "/no/such/library does not exist; correct the path or take it out"
    done = sightline("index", "status")
    assert (done.code, done.err) == (3, f"sightline: {file}: {key}: {why}\n")
    doctor = sightline("doctor")
    assert (
        f"MISSING roots: {file}: {key}: {why}\n        fix: correct or remove {key}\n" in doctor.out
    )


def test_a_variable_that_is_misspelled_is_told(
    sightline: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_FAMILY", "lsp")
    monkeypatch.setenv("SIGHTLINE_PORT", "4040")
    monkeypatch.setenv("SIGHTLINE_HOME", "/of/another/program")
    said = "SIGHTLINE_FAMILY is ignored: there is no such setting; did you mean SIGHTLINE_FAMILIES?"
    done = sightline("settings")
    assert (done.code, done.err) == (0, f"sightline: {said}\n")
    assert f"ok      settings: {said}\n" in sightline("doctor").out


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("PORTS", "PORT"),
        ("REQUEST_TIMEOUT", "REQUEST_TIMEOUT_MS"),
        ("REQUEST_TIMEOUT_SM", "REQUEST_TIMEOUT_MS"),
        ("TOKENISER", "TOKENIZER"),
        ("TOKEN", ""),
        ("CONTEXT_ROOT", ""),
        ("ROOT", ""),
        ("X", ""),
    ],
)
def test_only_a_slip_is_taken_for_a_setting(
    sightline: Command, monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    """Programs that use Sightline have variables of their own."""
    monkeypatch.setenv(f"SIGHTLINE_{name}", "x")
    said = f"SIGHTLINE_{name} is ignored: there is no such setting; did you mean SIGHTLINE_{meant}?"
    assert sightline("settings").err == (f"sightline: {said}\n" if meant else "")
