"""``tools``, ``token``, ``trust`` and ``doctor``."""

import errno
import json
import os
import re
import stat
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from sightline.workspace.observers import observe
from sightline.workspace.trust import BadTrustFile, TrustStore
from tests.cli.conftest import Command
from tests.support.http import HttpServer, in_session

# tools


def test_tools_is_what_clients_are_told(sightline: Command, home: Path, sample: Path) -> None:
    done = sightline("tools")
    assert (done.code, done.err) == (0, "")
    server = HttpServer.start([str(sample)], home)
    try:
        listing = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        answer = server.request(listing, headers=in_session(server.initialize()))
    finally:
        server.stop()
    assert answer.json["result"] == json.loads(done.out)
    assert done.out.count("\n") == 1


def test_tools_of_one_family_and_with_other_names(sightline: Command) -> None:
    names = [tool["name"] for tool in json.loads(sightline("tools", "--tools", "lsp").out)["tools"]]
    assert len(names) == 7 and all(name.startswith("vscode.lsp.") for name in names)
    plain = json.loads(sightline("tools", "--set", "tool_names=underscore").out)["tools"]
    assert "vscode_lsp_definition" in [tool["name"] for tool in plain]
    assert sightline("tools", "--tools", "nothing").code == 3


# token


def test_token(sightline: Command, home: Path) -> None:
    file = home / ".local/share/sightline/tokens.json"
    first = sightline("token", "show")
    assert (first.code, first.err) == (0, "") and len(first.out) == 44
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert sightline("token", "show").out == first.out
    second = sightline("token", "rotate")
    assert second.code == 0 and second.out != first.out
    assert sightline("token", "show").out == second.out
    file.chmod(0o644)
    done = sightline("token", "show")
    assert (done.code, done.out) == (3, "") and "sightline token rotate" in done.err
    assert sightline("token", "rotate").code == 0


def test_a_data_folder_open_to_others_is_closed(sightline: Command, home: Path) -> None:
    folder = home / ".local/share/sightline"
    folder.mkdir(parents=True)
    folder.chmod(0o755)
    assert sightline("token", "show").code == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_folders_on_the_way_are_for_their_owner_alone(sightline: Command, home: Path) -> None:
    mask = os.umask(0)
    try:
        assert sightline("token", "show").code == 0
    finally:
        os.umask(mask)
    for folder in (".local", ".local/share", ".local/share/sightline"):
        assert stat.S_IMODE((home / folder).stat().st_mode) == 0o700


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder to another user")
def test_a_data_folder_of_another_user(sightline: Command, home: Path) -> None:
    folder = home / ".local/share/sightline"
    folder.mkdir(parents=True)
    os.chown(folder, 65_534, -1)
    done = sightline("token", "show")
    assert done.code == 3 and "another user" in done.err


# trust


@pytest.mark.requirement("GA-trust")
def test_trust_is_kept_by_real_path(sightline: Command, home: Path, sample: Path) -> None:
    file = home / ".local/share/sightline/trusted-roots.json"
    link = sample.parent / "link"
    link.symlink_to(sample)
    done = sightline("trust", link)
    assert done == (0, f"{sample} is now trusted\n", "")
    assert json.loads(file.read_text(encoding="utf-8")) == [str(sample)]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sightline("trust", sample).out == f"{sample} was already trusted\n"
    assert sightline("trust", ".").out == f"{sample} was already trusted\n"
    store = TrustStore(file)
    assert store.trusts(str(sample))
    assert not store.trusts(str(sample / "sub")) and not store.trusts(str(sample.parent))
    assert sightline("untrust", link).out == f"{sample} is no longer trusted\n"
    assert not store.trusts(str(sample))
    again = sightline("untrust", sample)
    assert (again.code, again.out) == (4, "") and "was not trusted" in again.err


@pytest.mark.parametrize("path", ["/", "/proc", "nothing", "{home}"])
def test_what_cannot_be_trusted(sightline: Command, home: Path, path: str) -> None:
    done = sightline("trust", path.format(home=home))
    assert (done.code, done.out) == (3, "")
    assert not (home / ".local/share/sightline/trusted-roots.json").exists()


def test_trust_in_a_folder_that_is_gone_can_be_taken_back(sightline: Command, sample: Path) -> None:
    gone = sample.parent / "gone"
    gone.mkdir()
    assert sightline("trust", gone).code == 0
    gone.rmdir()
    assert sightline("untrust", gone).code == 0


@pytest.mark.requirement("GA-trust")
@pytest.mark.parametrize("content", [b"", b"x", b"{}", b"[1]", b'["relative"]', b'["/a"', b"null"])
def test_a_malformed_file_trusts_nothing(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "trusted.json"
    file.write_bytes(content)
    file.chmod(0o600)
    store = TrustStore(file)
    assert not store.trusts("/a")
    for change in (store.add, store.remove):
        with pytest.raises(BadTrustFile):
            change("/a")
    assert file.read_bytes() == content, "and is not overwritten"


@pytest.mark.requirement("GA-trust")
def test_a_file_open_to_others_trusts_nothing(tmp_path: Path) -> None:
    file = tmp_path / "trusted.json"
    store = TrustStore(file)
    assert store.add("/a") and store.trusts("/a")
    file.chmod(0o660)
    assert not store.trusts("/a")
    file.chmod(0o600)
    file.rename(tmp_path / "real.json")
    file.symlink_to(tmp_path / "real.json")
    assert not store.trusts("/a")


def test_a_bad_trust_file_is_named(sightline: Command, home: Path, sample: Path) -> None:
    sightline("trust", sample)
    file = home / ".local/share/sightline/trusted-roots.json"
    file.write_text("x", encoding="utf-8")
    done = sightline("trust", sample)
    assert done.code == 3 and "malformed" in done.err


# doctor


def findings(sightline: Command, *arguments: str | Path) -> tuple[int, dict[str, dict[str, str]]]:
    done = sightline("doctor", "--json", *arguments)
    assert done.err == ""
    report = json.loads(done.out)
    assert report["ok"] == (done.code == 0)
    return done.code, {finding["subject"]: finding for finding in report["findings"]}


def test_a_healthy_machine(sightline: Command, sample: Path) -> None:
    code, found = findings(sightline)
    assert code == 0
    assert all(finding["status"] in ("ok", "note") for finding in found.values())
    assert re.fullmatch(r"ty 0\.\S+, ready", found[f"Python in {sample}"]["detail"])
    assert found["token"]["detail"].startswith("none yet")
    assert found[f"changes in {sample}"]["status"] == "ok"
    assert "not trusted" in found[f"trust in {sample}"]["detail"]
    assert {"settings", "data folder", "cache folder"} <= found.keys()


def test_doctor_for_people(sightline: Command, sample: Path) -> None:
    done = sightline("doctor")
    assert (done.code, done.err) == (0, "")
    assert f"ok      Python in {sample}: ty 0." in done.out


def test_what_is_missing_comes_with_its_fix(
    sightline: Command, home: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = home / ".config/sightline"
    config.mkdir(parents=True)
    (config / "sightline.toml").write_text(
        '[servers.ty]\ncommand = ["no-such-server"]\nfound = "path"\n'
        '[servers.pyright]\ncommand = ["nor-this-one"]\nfound = "path"\n',
        encoding="utf-8",
    )
    data = home / ".local/share/sightline"
    data.mkdir(parents=True)
    (data / "tokens.json").write_text("x", encoding="utf-8")
    (data / "trusted-roots.json").write_text("x", encoding="utf-8")
    code, found = findings(sightline)
    assert code == 6
    missing = {name: finding["fix"] for name, finding in found.items() if finding["fix"]}
    assert missing == {
        "token": "sightline token rotate",
        f"Python in {sample}": "put no-such-server on the PATH",
        "trust": f"rm {data}/trusted-roots.json",
    }
    assert "MISSING token: the token file" in sightline("doctor").out


def test_a_server_that_is_there_and_does_not_work(
    sightline: Command, home: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a toolchain manager's stand-in for a part that is not installed."""
    monkeypatch.setattr("sightline.lsp.server.lifecycle._FIRST_REST_S", 0.0)
    program, config = home / "bin/stand-in", home / ".config/sightline"
    for folder in (program.parent, config):
        folder.mkdir(parents=True)
    said = "hello\\nerror: no part \\033[1mserver\\033[0m here\\n  at main\\n"
    program.write_text(f"#!/bin/sh\nprintf '{said}' >&2\nexit 1\n", encoding="utf-8")
    program.chmod(0o755)
    (config / "sightline.toml").write_text(
        f'[servers.ty]\ncommand = ["{program}"]\nfound = "path"\nget = "add the part"\n',
        encoding="utf-8",
    )
    code, found = findings(sightline)
    finding = found[f"Python in {sample}"]
    assert (code, finding["status"], finding["fix"]) == (6, "missing", "add the part")
    assert finding["detail"] == "ty ended 5 times in a row: error: no part [1mserver[0m here"


def test_bad_settings_and_roots_are_findings_too(
    sightline: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, found = findings(sightline, "/")
    assert code == 6 and found["roots"]["status"] == "missing"
    monkeypatch.setenv("SIGHTLINE_PORT", "x")
    code, found = findings(sightline)
    assert code == 6 and "port" in found["settings"]["detail"]
    assert list(found) == ["settings"]


def test_a_folder_that_cannot_be_written(sightline: Command, home: Path) -> None:
    (home / ".cache").write_text("a file", encoding="utf-8")
    code, found = findings(sightline)
    assert code == 6 and found["cache folder"]["status"] == "missing"


def test_a_fix_is_one_that_can_be_done(
    sightline: Command, home: Path, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    move = "set XDG_CACHE_HOME to a folder you can write"
    (home / ".cache").write_text("a file", encoding="utf-8")
    fix = findings(sightline)[1]["cache folder"]["fix"]
    assert fix == f"move {home}/.cache away, which is no folder, or {move}"
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    assert findings(sightline)[1]["cache folder"]["fix"] == move
    odd = f"{home}/\udcff"
    os.mkdir(odd)
    monkeypatch.setenv("XDG_CACHE_HOME", odd)
    found = findings(sightline)[1]["cache folder"]
    assert "is not UTF-8" in found["detail"] and found["fix"] == move
    assert "is not UTF-8; set XDG_DATA_HOME" in sightline("index", "build").err
    (home / ".cache").unlink()
    monkeypatch.delenv("XDG_CACHE_HOME")
    found = findings(sightline, odd)[1]["roots"]
    assert found["fix"] == "rename the folder"


@pytest.mark.skipif(os.getuid() == 0, reason="to root every folder is writable")
def test_a_folder_whose_permissions_are_in_the_way(
    sightline: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "shut off").mkdir(mode=0o500)
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "shut off/deeper"))
    fix = findings(sightline)[1]["cache folder"]["fix"]
    assert fix.startswith(f"chmod u+rwx '{home}/shut off', or set XDG_CACHE_HOME")


def test_a_home_that_is_no_absolute_path(
    sightline: Command, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(os.listdir(sample))
    monkeypatch.setenv("HOME", "somewhere")
    for words in (("doctor",), ("token", "show"), ("index", "build"), ("config",)):
        done = sightline(*words)
        assert done.code == 3 and "HOME is 'somewhere', not an absolute path" in done.err
    assert sorted(os.listdir(sample)) == before, "nothing is made in the project"


def test_a_disk_without_space(
    sightline: Command, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("sightline.lsp.start.launcher.Launcher._prepared", full)
    usage = SimpleNamespace(free=0)
    monkeypatch.setattr("sightline.cli.commands.doctor.shutil.disk_usage", lambda _: usage)
    code, found = findings(sightline)
    fixes = {finding["fix"] for finding in found.values() if finding["status"] == "missing"}
    assert code == 6 and f"Python in {sample}" in found
    assert fixes == {
        "free some space there, or set XDG_DATA_HOME to another disk",
        "free some space there, or set XDG_CACHE_HOME to another disk",
    }


def test_swept_changes_are_a_note(
    sightline: Command, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept = partial(observe, notify=False)
    monkeypatch.setattr("sightline.cli.commands.doctor.observe", swept)
    code, found = findings(sightline)
    assert code == 0 and found[f"changes in {sample}"]["status"] == "note"


def test_what_is_said_of_the_repository_around_a_root(
    sightline: Command, sample: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = sample / "part"
    for folder in (sample / ".git", part):
        folder.mkdir()
    (part / "a.py").touch()
    _, found = findings(sightline, part)
    assert found[f"changes in the rest of {sample}"]["detail"] == "watched, too"
    monkeypatch.setattr("sightline.workspace.surroundings._MAX_ANNOUNCED", 0)
    code, found = findings(sightline, part)
    told = found[f"changes in the rest of {sample}"]
    assert code == 0 and told["status"] == "note"
    assert told["detail"].startswith("not watched, it has more than 0 files;")
    assert told["fix"] == "open all of it as a root"


def test_doctor_writes_nothing_into_the_project(sightline: Command, sample: Path) -> None:
    before = sorted(os.listdir(sample))
    sightline("doctor")
    assert sorted(os.listdir(sample)) == before
