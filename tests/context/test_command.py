"""``sightline context``: what it takes, what it refuses, and what it leaves alone."""

import json
import os
from pathlib import Path

import pytest

from tests.context.support import files_of, in_process, is_root, write_documents
from tests.support.program import run

Capture = pytest.CaptureFixture[str]
HINT = "\n\nFor more information, try '--help'.\n"
RESOLVE_USAGE = "context resolve [OPTIONS] --cache <CACHE> --query <QUERY> --budget <BUDGET>"


def sources_with(folder: Path, files: dict[str, str]) -> Path:
    return write_documents(folder / "sources", files)


@pytest.mark.requirement("CX-ingestion")
@pytest.mark.requirement("CX-id")
def test_which_files_are_taken(tmp_path: Path, capfd: Capture) -> None:
    taken = {
        "a.md": "1",
        ".hidden.md": "2",
        ".git/x.md": "3",
        "z.md.md": "4",
        "..md": "5",
        "Sub/Deep/Ä.md": "6",
        "a\\b.md": "7",
    }
    left = {"x.MD": "8", "y.markdown": "9", "z.txt": "10", ".md": "11", "no": "12"}
    sources = sources_with(tmp_path, taken | left)
    (tmp_path / "outside.md").write_text("13")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "in.md").write_text("14")
    (sources / "linked.md").symlink_to(tmp_path / "outside.md")
    (sources / "folder").symlink_to(tmp_path / "elsewhere")
    (sources / "dangling.md").symlink_to("nowhere")
    (sources / "folder.md").mkdir()
    done = in_process(capfd, "build", "--sources", f"{sources}/.", "--cache", tmp_path / "c")
    assert (done.exit, done.stdout) == (0, "")
    manifest = json.loads((tmp_path / "c" / "manifest.json").read_text(encoding="utf-8"))
    found = {}
    for entry in manifest["documents"]:
        document = json.loads((tmp_path / "c" / entry["file"]).read_text(encoding="utf-8"))
        assert list(document) == ["id", "version", "source", "content", "metadata"]
        assert document["id"] == entry["id"] and document["metadata"] == {}
        found[document["source"]] = document["id"]
    assert found == {
        "a.md": "a.md",
        ".hidden.md": ".hidden.md",
        ".git/x.md": ".git/x.md",
        "z.md.md": "z.md.md",
        "..md": "..md",
        "Sub/Deep/Ä.md": "sub/deep/ä.md",
        "a\\b.md": "a/b.md",
        "linked.md": "linked.md",
    }


@pytest.mark.requirement("CX-cache-version")
def test_a_cache_of_nothing(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "empty").mkdir()
    cache = tmp_path / "c"
    done = in_process(capfd, "build", "--sources", tmp_path / "empty", "--cache", cache)
    version = "sha256:a77ff76f65e3cd4cd0071b4af8f5294a77f67b6fe0c938a383db5e1271e913ee"
    assert done == (0, "", f"Built cache: 0 documents, version {version}\n")
    assert (cache / "index.json").read_bytes() == b"{}"
    assert (cache / "manifest.json").read_bytes().endswith(b'"documents": []\n}')


@pytest.mark.requirement("CX-collision")
def test_documents_that_cannot_be_in_one_cache(tmp_path: Path, capfd: Capture) -> None:
    same = sources_with(tmp_path / "same", {"a.md": "", "b.md": ""})
    done = in_process(capfd, "build", "--sources", same, "--cache", tmp_path / "c")
    text = "error: Internal error: Filename collision detected for hash fragment: e3b0c44298fc\n"
    assert done == (7, "", text)
    twice = sources_with(tmp_path / "twice", {"a.md": "1", "A.md": "2"})
    done = in_process(capfd, "build", "--sources", twice, "--cache", tmp_path / "c")
    assert done == (5, "", "error: Cache is invalid: Duplicate document ID: a.md\n")
    assert not (tmp_path / "c").exists()


def test_a_name_that_is_not_text(tmp_path: Path, capfd: Capture) -> None:
    sources = tmp_path / "s"
    sources.mkdir()
    with open(os.path.join(os.fsencode(sources), b"b\xff.md"), "wb"):
        pass
    done = in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "c")
    shown = f"{sources}/b\ufffd.md"
    text = f"error: Internal error: ID error for {shown}: Path involves invalid UTF-8\n"
    assert done == (7, "", text)


@pytest.mark.skipif(is_root(), reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "x"})
    (sources / "a.md").chmod(0)
    done = in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "c")
    text = f"error: I/O error: reading {sources}/a.md: Permission denied (os error 13)\n"
    assert done == (6, "", text)


def test_a_place_that_cannot_be_written(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "x"})
    (tmp_path / "file").write_text("")
    done = in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "file" / "c")
    assert done == (6, "", "error: I/O error: IO error: Not a directory (os error 20)\n")


@pytest.mark.requirement("CX-force")
def test_force_replaces_a_cache_and_nothing_else(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "x"})
    precious = tmp_path / "precious"
    write_documents(precious, {"thesis.txt": "years"})
    flags = ("--sources", sources, "--cache", precious, "--force")
    done = in_process(capfd, "build", *flags)
    assert done.exit == 6
    assert "not a cache" in done.stderr
    assert (precious / "thesis.txt").read_text() == "years"
    assert in_process(capfd, "build", *flags, "--strict-v0").exit == 0
    assert not (precious / "thesis.txt").exists()


@pytest.mark.requirement("CX-force")
def test_force_keeps_the_old_cache_when_the_build_fails(tmp_path: Path, capfd: Capture) -> None:
    cache = tmp_path / "c"
    good = sources_with(tmp_path / "good", {"a.md": "x"})
    assert in_process(capfd, "build", "--sources", good, "--cache", cache).exit == 0
    before = files_of(cache)
    bad = sources_with(tmp_path / "bad", {"a.md": "x", "b.md": "x"})
    assert in_process(capfd, "build", "--sources", bad, "--cache", cache, "--force").exit == 7
    assert files_of(cache) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad", "c", "good"]
    strict = ("--force", "--strict-v0")
    assert in_process(capfd, "build", "--sources", bad, "--cache", cache, *strict).exit == 7
    assert not cache.exists()


@pytest.mark.requirement("CX-force")
def test_force_never_removes_the_sources(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "x"})
    (tmp_path / "manifest.json").write_text("{}")
    done = in_process(capfd, "build", "--sources", sources, "--cache", tmp_path, "--force")
    assert done.exit == 6
    assert "the sources lie inside" in done.stderr
    assert (sources / "a.md").read_text() == "x"


@pytest.mark.requirement("CX-force")
def test_force_replaces_a_link_and_not_what_it_leads_to(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "x"})
    old, link = tmp_path / "old", tmp_path / "link"
    in_process(capfd, "build", "--sources", sources, "--cache", old)
    link.symlink_to(old)
    for mode in ((), ("--strict-v0",)):
        flags = ("--sources", sources, "--cache", link, "--force", *mode)
        assert in_process(capfd, "build", *flags).exit == 0
        assert not link.is_symlink()
        assert files_of(link) == files_of(old)


def test_a_stale_unfinished_build_is_cleared_away(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "x"})
    in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "one")
    version = json.loads((tmp_path / "one" / "manifest.json").read_text())["cache_version"]
    stale = tmp_path / f"my.tmp.{version[7:19]}"
    write_documents(stale, {"left/over.md": ""})
    done = in_process(capfd, "build", "--sources", sources, "--cache", tmp_path / "my.cache")
    assert done.exit == 0
    assert not stale.exists()
    assert files_of(tmp_path / "my.cache") == files_of(tmp_path / "one")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["resolve", "--cache", "x", "--query", "q"], "the following required arguments were not"),
        (["resolve", "--budget", "-5"], "unexpected argument '-5' found"),
        (["resolve", "--budget=-5"], "invalid value '-5' for '--budget <BUDGET>': invalid digit"),
        (["resolve", "--budget", "0" * 5_000 + "7"], "the following required arguments were not"),
        (["resolve", f"--budget={'0' * 4_000}{2**64}"], "invalid value '0000"),
        (["resolve", "--budget", "x"], "invalid value 'x' for '--budget <BUDGET>': invalid digit"),
        (
            ["resolve", "--budget="],
            "invalid value '' for '--budget <BUDGET>': cannot parse integer",
        ),
        (["resolve", "--budget", "18446744073709551616"], "invalid value '18446744073709551616'"),
        (["resolve", "--budget", "9" * 5000], "invalid value '9999"),
        (["resolve", "--format", "xml"], "invalid value 'xml' for '--format <FORMAT>'"),
        (["resolve", "--query", "-x"], "unexpected argument '-x' found"),
        (["resolve", "--query", "--budget", "1"], "a value is required for '--query <QUERY>'"),
        (["resolve", "--query"], "a value is required for '--query <QUERY>' but none was"),
        (["resolve", "--cache="], "a value is required for '--cache <CACHE>' but none was"),
        (["resolve", "--quer", "x"], "unexpected argument '--quer' found"),
        (["resolve", "--cache", "a", "--cache", "b"], "the argument '--cache <CACHE>' cannot be"),
        (["inspect", "--cache", "x", "y"], "unexpected argument 'y' found"),
        (["build", "--force=1"], "unexpected value '1' for '--force' found; no more were"),
        (["build", "--", "x"], "unexpected argument 'x' found"),
        (["verify"], "unrecognized subcommand 'verify'"),
    ],
)
@pytest.mark.requirement("CX-usage")
def test_usage_errors(argv: list[str], message: str, capfd: Capture) -> None:
    done = in_process(capfd, *argv)
    assert (done.exit, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {message}")
    assert done.stderr.endswith(HINT)


@pytest.mark.requirement("CX-usage")
def test_usage_errors_in_full(capfd: Capture) -> None:
    done = in_process(capfd, "--strict-v0", "resolve", "--bogus")
    assert (
        done.stderr == f"error: unexpected argument '--bogus' found\n\nUsage: {RESOLVE_USAGE}{HINT}"
    )
    done = in_process(capfd, "resolve", "--bogus")
    assert f"Usage: sightline {RESOLVE_USAGE}" in done.stderr


def test_values_that_are_fine(tmp_path: Path, capfd: Capture) -> None:
    sources = sources_with(tmp_path, {"a.md": "-x +"})
    cache = tmp_path / "c"
    in_process(capfd, "build", f"--sources={sources}", f"--cache={cache}")
    for query, budget in (("=-x", "+5"), ("=", "007"), ("=a=b", "18446744073709551615")):
        done = in_process(capfd, "resolve", "--cache", cache, f"--query{query}", "--budget", budget)
        assert done.exit == 0
        assert json.loads(done.stdout)["selection"]["query"] == query[1:]
    assert in_process(capfd, "resolve", "--cache", cache, "--query", "-", "--budget", "1").exit == 0


def test_help_names_every_command(capfd: Capture) -> None:
    shown = in_process(capfd, "--help")
    assert shown.exit == 0
    assert in_process(capfd, "build", "--help") == shown
    nothing = in_process(capfd)
    assert (nothing.exit, nothing.stdout, nothing.stderr) == (2, "", shown.stdout)
    for word in ("build", "resolve", "inspect", "list", "--strict-v0", "example:"):
        assert word in shown.stdout


@pytest.mark.requirement("CX-root")
@pytest.mark.requirement("CX-list")
def test_list_shows_the_users_own_folder(home: Path, tmp_path: Path, capfd: Capture) -> None:
    done = in_process(capfd, "list")
    assert done == (0, '{"caches":[]}\n', "")
    folder = home / ".local/share/sightline/context"
    assert folder.stat().st_mode & 0o777 == 0o700
    sources = sources_with(tmp_path, {"a.md": "x"})
    in_process(capfd, "build", "--sources", sources, "--cache", folder / "mine")
    assert in_process(capfd, "list").stdout == '{"caches":[{"path":"mine","has_manifest":true}]}\n'


@pytest.mark.requirement("CX-root")
def test_list_of_another_folder(
    home: Path, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXT_CACHE_ROOT", str(tmp_path / "none"))
    done = in_process(capfd, "list")
    assert done == (4, "", f"error: Cache does not exist: {tmp_path}/none\n")
    monkeypatch.setenv("CONTEXT_CACHE_ROOT", "relative")
    done = in_process(capfd, "list")
    assert done.exit == 3
    assert "must be an absolute path" in done.stderr


def test_the_installed_command(home: Path, tmp_path: Path) -> None:
    """The same through a process of its own, once."""
    sources = sources_with(tmp_path, {"a.md": "alpha beta"})
    built = run(home, "context", "build", "--sources", sources, "--cache", tmp_path / "c")
    assert (built.returncode, built.stdout) == (0, "")
    asked = ("--query", "alpha", "--budget", "10")
    done = run(home, "context", "resolve", "--cache", tmp_path / "c", *asked)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["documents"][0]["score"] == 0.5
    assert run(home, "context", "inspect", "--cache", tmp_path / "none").returncode == 4
