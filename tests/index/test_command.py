"""``sightline index``: for people on a terminal, for pipes, and what its exit codes say."""

import contextlib
import json
import os
import pty
import select
import signal
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Workspace
from tests.support.corpus import write_corpus
from tests.support.program import command, environment, run

GO = ("--language", "go")
FILES = {
    "src/shapes.py": """
        class Circle:
            def area(self, radius):
                return 3.14 * radius * radius
        """,
    "package-lock.json": "{}",
}


def test_a_hit_is_said_to_be_in_its_root(home: Path, workspace: Workspace, tmp_path: Path) -> None:
    root, other = workspace(FILES), tmp_path / "other root"
    (other / "src").mkdir(parents=True)
    (other / "src/shapes.py").write_text("class Circle:\n    pass\n")
    roots = [word for folder in (root, other) for word in ("--root", str(folder))]
    run(home, "index", "build", root, other)
    lines = run(home, "index", "search", "Circle", *roots).stdout.splitlines()
    heads = [line.partition("  in ")[2] for line in lines if line.startswith("src/shapes.py:1 ")]
    assert sorted(heads) == sorted([str(root), str(other)])
    one = run(home, "index", "search", "Circle", "--root", str(other)).stdout
    assert "  in " not in one
    odd = run(home, "index", "search", "Circle", *roots, "--path", f"{root}/src").stdout
    assert "path takes globs relative to a root: no absolute paths, no {a,b}." in odd


def test_build_status_search(home: Path, workspace: Workspace) -> None:
    root = workspace(FILES)
    built = run(home, "index", "build", root)
    assert (built.returncode, built.stderr) == (0, "")
    assert built.stdout.splitlines() == [
        "Indexed 1 file in 2 chunks; read 2. 1 skipped.",
        "  skipped 1 (generated): package-lock.json",
    ]
    status = run(home, "index", "status", cwd=root)
    assert status.stdout.splitlines()[0] == "Ready: 1 file, fresh."
    assert f"{root.as_uri()}  ready" in status.stdout
    found = run(home, "index", "search", "Circle.area", "--explain", cwd=root)
    lines = found.stdout.splitlines()
    assert lines[0].startswith("src/shapes.py:2  method area  ")
    assert "    - declares area" in lines and lines[-1].startswith("Returned ")
    payload = run(home, "index", "search", "area", "--json", "--page-size", "1", cwd=root)
    assert json.loads(payload.stdout)["items"][0]["name"] == "area"
    rebuilt = run(home, "index", "build", root, "--force", "--json")
    assert json.loads(rebuilt.stdout)["roots"][0]["changed"] == 2
    assert sorted(path.name for path in root.iterdir()) == ["package-lock.json", "src"]


def test_vectors_are_finished_by_whoever_ends_after_it(home: Path, tmp_path: Path) -> None:
    """Those of a build are made before its command ends; what ends earlier says who makes them."""
    root = tmp_path / "ws"
    write_corpus(root, 100)
    assert run(home, "call", "index_build", cwd=root).returncode == 0
    ready = json.loads(run(home, "index", "status", "--json", cwd=root).stdout)
    vectors = ready["roots"][0]["vectors"]
    assert vectors["done"] == vectors["total"] > 400
    assert ready["summary"] == "Ready: 100 files, fresh."
    write_corpus(root / "more", 200, seed=2)
    run(home, "index", "search", "name", cwd=root)
    left = run(home, "index", "status", cwd=root).stdout.splitlines()[0]
    assert left.startswith("Ready: 300 files, fresh. ")
    assert left.endswith(" are ready; a running server makes the rest, or sightline index build.")
    run(home, "index", "build", cwd=root)
    status = run(home, "index", "status", cwd=root).stdout
    assert status.splitlines()[0] == "Ready: 300 files, fresh."


def test_an_index_of_another_version_is_said_to_be_one(home: Path, workspace: Workspace) -> None:
    root = workspace(FILES)
    run(home, "index", "build", root)
    (manifest,) = (home / ".cache").glob("sightline/index/*/manifest.sqlite")
    with sqlite3.connect(manifest) as database:
        database.execute("UPDATE meta SET value = value - 1 WHERE key = 'format'")
    database.close()
    status = run(home, "index", "status", cwd=root).stdout.splitlines()
    again = "the next search or sightline index build makes it again."
    assert status[0] == f"The index was made by another version of Sightline; {again}"
    assert status[1].endswith("  to be made again")
    (problem,) = json.loads(run(home, "call", "check_status", cwd=root).stdout)["problems"]
    assert "was made by another version of Sightline" in problem["message"]
    found = run(home, "index", "search", "Circle", cwd=root)
    assert found.stdout.startswith("src/shapes.py:1  class Circle")
    assert run(home, "index", "status", cwd=root).stdout.startswith("Ready: 1 file, fresh.")
    manifest.write_bytes(b"SQLite format 3\0" + b"\xff" * 4_096)
    for name in ("manifest.sqlite-wal", "manifest.sqlite-shm"):
        manifest.with_name(name).unlink(missing_ok=True)
    damaged = run(home, "index", "status", cwd=root).stdout
    assert damaged.startswith("The index was damaged; the next search")


def test_languages_are_said_to_come_with_the_index(home: Path, workspace: Workspace) -> None:
    root = workspace(FILES)
    before = json.loads(run(home, "call", "workspace_status", cwd=root).stdout)
    assert before["roots"][0]["languages"] == []
    assert before["summary"].endswith("Languages are counted by the index: call index_build.")
    run(home, "index", "build", root)
    after = json.loads(run(home, "call", "workspace_status", cwd=root).stdout)
    assert after["summary"] == "1 root with 2 tracked files."


def test_filters_and_pages_are_the_tools_own(home: Path, workspace: Workspace) -> None:
    root = workspace(
        FILES | {"b.py": "def area(): pass\n", "c.go": "package c\n\nfunc area() {}\n"}
    )
    assert run(home, "index", "build", root).returncode == 0
    flags = ["--path", "*.py", "--path", "!src/**", "--language", "python", "--kind", "function",
             "--symbol", "area", "--max-tokens", "500", "--mode", "auto"]  # fmt: skip
    shown = run(home, "index", "search", "area", *flags, "--json", cwd=root)
    assert [item["path"] for item in json.loads(shown.stdout)["items"]] == ["b.py"]
    first = json.loads(
        run(home, "index", "search", "area", "--page-size", "1", "--json", cwd=root).stdout
    )
    cursor = first["nextCursor"]
    second = run(
        home, "index", "search", "area", "--page-size", "1", "--json", "--cursor", cursor, cwd=root
    )
    assert second.returncode == 0, "a cursor of another process: its results are made again"
    assert json.loads(second.stdout)["items"][0]["id"] != first["items"][0]["id"]


def test_a_ranking_is_a_flag(home: Path, workspace: Workspace) -> None:
    root = workspace(FILES)
    assert run(home, "index", "build", root).returncode == 0

    def asked(*words: str) -> Any:
        question = ("index", "search", "how wide are the circles", "--json")
        return json.loads(run(home, *question, *words, cwd=root).stdout)

    assert [asked("--ranking", one)["ranking"] for one in ("words", "full")] == ["words", "full"]
    assert asked() == asked("--ranking", "auto")
    off = ("--ranking", "full", "--set", "dense=false")
    said = run(home, "index", "search", "how wide are the circles", *off, cwd=root)
    assert said.returncode == 6 and said.stderr.rstrip().endswith("ask with --ranking words")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["index"], 2),
        (["index", "search"], 2),
        (["index", "search", "x", "--mode", "fuzzy"], 2),
        (["index", "search", "x"], 4),
        (["index", "search", " "], 3),
        (["index", "search", "(", "--mode", "regex"], 3),
        (["index", "search", "x", "--mode", "literal", "--ranking", "full"], 3),
        (["index", "build", "/nowhere/at/all"], 3),
        (["index", "search", "x", "--tools", "lsp"], 3),
    ],
)
def test_exit_codes(home: Path, workspace: Workspace, words: list[str], code: int) -> None:
    done = run(home, *words, cwd=workspace(FILES))
    assert done.returncode == code and done.stdout == "" and done.stderr


def test_a_terminal_sees_a_bar_and_it_goes_away(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write_corpus(root, 60)
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        command("index", "build", root), env=environment(home, {"TERM": "xterm"}), cwd=home,
        stdout=subprocess.PIPE, stderr=follower, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(follower)
    seen = b""
    while True:
        ready, _, _ = select.select([leader], [], [], 60)
        assert ready
        try:
            chunk = os.read(leader, 4_096)
        except OSError:
            break
        if not chunk:
            break
        seen += chunk
    out, _ = process.communicate(timeout=60)
    os.close(leader)
    assert process.returncode == 0 and out.startswith(b"Indexed 60 files")
    assert b"60" in seen and seen.endswith((b"\r", b"\x1b[K", b"\x1b[2K", b" \r"))


def begun(home: Path, root: Path) -> subprocess.Popen[bytes]:
    """A build that is under way."""
    process = subprocess.Popen(
        command("index", "build", root), env=environment(home), cwd=home,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    while not list((home / ".cache").glob("sightline/index/*/manifest.sqlite")):
        assert process.poll() is None
    return process


def kept_files(home: Path) -> int:
    """How many files a manifest has, as another program sees it."""
    (manifest,) = (home / ".cache").glob("sightline/index/*/manifest.sqlite")
    with contextlib.closing(sqlite3.connect(f"{manifest.as_uri()}?mode=ro", uri=True)) as database:
        try:
            count: int = database.execute("SELECT count(*) FROM file WHERE place >= 0").fetchone()[
                0
            ]
        except sqlite3.OperationalError:  # its tables are not there yet
            return 0
        return count


def interrupted(process: subprocess.Popen[bytes]) -> str:
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert (process.returncode, out, error.count(b"\n")) == (130, b"", 1)
    return error.decode()


@pytest.mark.slow
def test_control_c_says_what_is_kept(home: Path, tmp_path: Path) -> None:
    """Everything that speaks of the index afterwards says the same, and the next build goes on."""
    root = tmp_path / "ws"
    write_corpus(root, 2_600, functions=3)
    process = begun(home, root)
    while not kept_files(home):
        assert process.poll() is None, "the corpus is too small for this test"
    said = interrupted(process)
    kept = kept_files(home)
    assert 0 < kept < 2_600
    goes_on = "sightline index build goes on from there"
    assert said == f"sightline: interrupted; {kept} files are indexed and kept, and {goes_on}\n"
    status = run(home, "index", "status", cwd=root)
    assert status.stdout.splitlines()[0] == f"Not finished: {kept} files indexed; {goes_on}."
    search = run(home, "index", "search", "name", cwd=root)
    unfinished = f"the index is not finished: {kept} files are in it; {goes_on}"
    assert (search.returncode, search.stderr) == (4, f"sightline: {unfinished}\n")
    asked = run(home, "call", "search", '{"query": "name"}', cwd=root)
    error = json.loads(asked.stderr)
    assert error["message"] == unfinished.replace("sightline index build", "index_build")
    assert error["details"]["filesIndexed"] == kept and error["code"] == "NO_INDEX"
    assert "no index" not in error["hint"]
    built = run(home, "index", "build", root, "--json", "--set", "dense=false")
    (report,) = json.loads(built.stdout)["roots"]
    assert report["files"] == 2_600 and report["added"] <= 2_600 - kept
    assert run(home, "index", "search", "name", cwd=root).returncode == 0


def test_control_c_before_anything_was_done(home: Path, tmp_path: Path) -> None:
    root = tmp_path / "ws"
    write_corpus(root, 1_500, functions=3)
    said = interrupted(begun(home, root))
    assert said.startswith("sightline: interrupted")


def test_blanks_in_a_pattern_count(home: Path, workspace: Workspace) -> None:
    root = workspace({"a.py": "x = 1  \ny = 2\n", "b.py": "z = 3\nreturning = 4\n"})
    run(home, "index", "build", root)

    def heads(pattern: str) -> list[str]:
        done = run(home, "index", "search", pattern, "--mode", "regex", "--json", cwd=root)
        assert done.returncode == 0, done.stderr
        return [item["path"] for item in json.loads(done.stdout)["items"]]

    assert heads(" +$") == ["a.py"], "blanks at the end of a line"
    assert heads("return ") == []
    assert heads(r"  \n") == ["a.py"]


@pytest.mark.parametrize("pattern", ["^$", r"\b", "q*"])
def test_empty_matches_are_left_out_and_it_is_said(
    home: Path, workspace: Workspace, pattern: str
) -> None:
    root = workspace({"a.py": "x = 1\n\ny = 2\n"})
    run(home, "index", "build", root)
    found = run(home, "index", "search", pattern, "--mode", "regex", cwd=root)
    assert found.stdout == "No matches. Empty matches are not counted.\n"
    spelled = run(home, "index", "search", "x", "--mode", "regex", cwd=root)
    assert "Empty matches" not in spelled.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["(", "--mode", "regex"], "QUERY is not a regular expression (RE2 syntax): missing )"),
        (["(?=x)y", "--mode", "regex"], "RE2 has no look-ahead and no look-behind"),
        ([r"(x)\1", "--mode", "regex"], "RE2 has no backreferences"),
        ([" "], "QUERY must not be blank"),
        (["x", "--page-size", "0"], "--page-size must be 1 or more"),
        (["x", "--max-tokens", "5"], "--max-tokens must be 200 or more"),
        (["x", "--kind", "thing"], '--kind must be one of ["class", '),
        (["x", "--language", "klingon"], "there is no language 'klingon'; there are "),
        (["x", "--cursor", "abc"], "drop the cursor and ask for the first page again"),
        ([b"\xff"], "QUERY is not UTF-8"),
        (["x", "--symbol", b"\xff"], "--symbol is not UTF-8"),
    ],
    ids=lambda words: repr(words[0]) if isinstance(words, list) else "",
)
def test_people_are_told_in_a_sentence(
    home: Path, workspace: Workspace, words: list[str | bytes], said: str
) -> None:
    root = workspace(FILES)
    run(home, "index", "build", root)
    done = run(home, "index", "search", *map(os.fsdecode, words), cwd=root)
    assert done.returncode in (2, 3) and done.stdout == ""
    assert done.stderr.startswith("sightline: ") and done.stderr.count("\n") == 1
    assert said in done.stderr and "inputSchema" not in done.stderr


def test_programs_are_told_in_json(home: Path, workspace: Workspace) -> None:
    root = workspace(FILES)
    run(home, "index", "build", root)
    done = run(home, "index", "search", "(", "--mode", "regex", "--json", cwd=root)
    assert done.returncode == 3 and json.loads(done.stderr)["code"] == "INVALID_REQUEST"


def test_status_names_commands_and_what_was_skipped(home: Path, workspace: Workspace) -> None:
    root = workspace(FILES)
    absent = run(home, "index", "status", cwd=root)
    assert absent.stdout.splitlines()[0] == "No index; run sightline index build."
    run(home, "index", "build", root)
    assert (
        "  skipped 1 (generated): package-lock.json"
        in run(home, "index", "status", cwd=root).stdout
    )
    found = run(home, "index", "search", "Circle", "--mode", "literal", cwd=root)
    assert "1 file not indexed; sightline index status says why." in found.stdout


def test_where_nothing_is_found_the_next_step_is_said(home: Path, workspace: Workspace) -> None:
    root = workspace(
        {"a.py": "def outer():\n    def inner():\n        return q\n    return inner\n"}
    )
    run(home, "index", "build", root)

    def said(*words: str) -> str:
        return run(home, "index", "search", *words, cwd=root).stdout

    assert "Names declared inside functions are not indexed" in said("inner", "--symbol", "inner")
    assert "a.py:1  function outer" in said("inner")
    assert said("q") == (
        "No hits. Use mode literal for punctuation, single letters and parts of words.\n"
    )
    assert "mode literal" not in said("q", "--mode", "literal")
    none = "No indexed file passes path; globs start at the root, such as src/**."
    for mode in ("auto", "literal"):
        nowhere = said("outer", "--path", "nothing/**", "--mode", mode)
        assert none in nowhere and "mode literal" not in nowhere
    assert "No indexed file passes path and language;" in said("q", "--path", "a.py", *GO)
    no_go = "No indexed file is in go; sightline index status --json lists the languages."
    assert no_go in said("outer", *GO)
    words = ("call", "show_file", '{"symbol": "inner"}')
    shown = run(home, *words, cwd=root).stderr
    assert "no symbol 'inner' is known here (those inside functions are not)" in shown
