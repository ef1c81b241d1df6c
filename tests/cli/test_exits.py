"""Exit codes: one for each way to end, and errors that say what to do."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sightline.cli import main as module
from sightline.cli.exits import Exit, exit_for
from sightline.cli.loops import _Workers
from sightline.context import build
from sightline.contract import failures as f
from tests.cli.conftest import Command, Done
from tests.support.leaks import OUTSIDE
from tests.support.processes import children_of, left_after
from tests.support.program import command, environment
from tests.support.slow_server import SlowServer
from tests.support.watching import HANG_S


def test_the_codes() -> None:
    assert {code.name: int(code) for code in Exit} == {
        "OK": 0,
        "ERRORS": 1,
        "USAGE": 2,
        "REFUSED": 3,
        "NOT_FOUND": 4,
        "NOT_READY": 5,
        "MISSING": 6,
        "INTERNAL": 7,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (f.InvalidArguments(), 3),
        (f.UnknownTool(), 3),
        (f.WorkspaceDenied(), 3),
        (f.CursorStale(), 3),
        (f.TooMany(), 3),
        (f.TooLarge(), 3),
        (f.InvalidBudget(), 3),
        (f.ArchiveUnsafe(), 3),
        (f.NotFound(), 4),
        (f.UriInvalid(), 4),
        (f.NoIndex(), 4),
        (f.CacheMissing(), 4),
        (f.NotReady(waiting_for="x"), 5),
        (f.TimedOut(timeout_ms=1), 5),
        (f.Overloaded(), 5),
        (f.Unavailable(), 6),
        (f.Bug(), 7),
        (f.Cancelled(), 130),
    ],
    ids=lambda value: type(value).__name__,
)
def test_the_code_of_a_failure(failure: f.Failure, code: int) -> None:
    assert exit_for(failure) == code


def failed(done: Done, code: int) -> str:
    """The stable code in the one line of JSON that an error of ``call`` is."""
    assert (done.code, done.out) == (code, "")
    assert done.err.count("\n") == 1
    error = json.loads(done.err)
    assert error.keys() == {"code", "message", "data"}
    stable: str = error["data"]["code"]
    assert f"[{stable}]" in error["message"]
    return stable.removeprefix("MCP_LSP_GATEWAY/")


def test_errors_of_a_call(sightline: Command, sample: Path) -> None:
    symbols = "vscode.lsp.documentSymbols"
    (sample / "notes.txt").write_text("x", encoding="utf-8")

    def asked(path: str) -> tuple[str, str]:
        return symbols, json.dumps({"uri": path})

    assert failed(sightline("call", "no.such.tool"), 3) == "INVALID_PARAMS"
    assert failed(sightline("call", symbols, "{}"), 3) == "INVALID_PARAMS"
    assert failed(sightline("call", *asked("http://x")), 4) == "URI_INVALID"
    outside = f"file:///nowhere-{OUTSIDE}/x.py"
    assert failed(sightline("call", *asked(outside)), 3) == "WORKSPACE_DENIED"
    missing = (sample / "missing.py").as_uri()
    assert failed(sightline("call", *asked(missing)), 4) == "URI_INVALID"
    text = (sample / "notes.txt").as_uri()
    assert failed(sightline("call", *asked(text)), 6) == "PROVIDER_UNAVAILABLE"


@pytest.mark.parametrize(
    "arguments", ["{", "[]", "1", '{"a":1,"a":1}', '{"a":NaN}', "\udcff", "[" * 5_000]
)
def test_arguments_that_are_no_object(sightline: Command, arguments: str) -> None:
    done = sightline("call", "vscode.lsp.documentSymbols", arguments)
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err and done.err.startswith("sightline: the arguments")


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        ('{"query":}', "expecting value at line 1, column 10, before '}'"),
        ('{"uri": "x",\n>  "a": 1}', "at line 2, column 1, before '>  \"a\": 1}'"),
        ('{"uri": "x"', "at line 1, column 12, at the end"),
        ('{"a\tb": 1}', "strict JSON: invalid control character at line 1, column 4, before "),
        ('{"a": "b\\d"}', "strict JSON: invalid \\escape at line 1, column 9, before "),
        ('{"a":1,"a":1}', "a name stands twice"),
        ('{"a": "\\ud800"}', "a character is half a pair"),
        ('{"a": "\udcff"}', "it is not UTF-8"),
    ],
)
def test_where_arguments_stop_being_json(sightline: Command, arguments: str, where: str) -> None:
    assert where in sightline("call", "search", arguments).err


def test_a_good_call(sightline: Command, sample: Path) -> None:
    arguments = json.dumps({"uri": (sample / "main.py").as_uri()})
    plain = sightline("call", "vscode.lsp.documentSymbols", arguments)
    assert (plain.code, plain.err) == (0, "")
    assert json.loads(plain.out)["symbols"] == []
    whole = sightline("call", "vscode.lsp.documentSymbols", arguments, "--envelope")
    assert json.loads(whole.out)["structuredContent"] == json.loads(plain.out)


def test_a_call_that_is_not_ready_in_time(home: Path, sample: Path) -> None:
    slow = SlowServer.install(home)
    place = {"uri": (sample / "main.py").as_uri(), "position": {"line": 2, "character": 7}}
    done = subprocess.run(
        command("call", "vscode.lsp.hover", json.dumps(place), "--root", sample, "--wait", "0",
                "--set", "request_timeout_ms=2000"),
        env=environment(home, slow.extra),
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_S,
    )  # fmt: skip
    slow.close()
    assert done.returncode == 5
    error = json.loads(done.stderr)
    assert error["data"]["details"]["retryable"] is True


def test_an_interrupted_call(home: Path, sample: Path) -> None:
    slow = SlowServer.install(home)
    place = {"uri": (sample / "main.py").as_uri(), "position": {"line": 2, "character": 7}}
    process = subprocess.Popen(
        command("call", "vscode.lsp.hover", json.dumps(place), "--root", sample),
        env=environment(home, slow.extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    slow.wait_until_asked()
    below = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=HANG_S)
    assert (process.returncode, out, err) == (130, b"", b"")
    assert not left_after(3, below)


@pytest.mark.parametrize("module", ["argparse", "sightline.cli.main", "sightline.contract"])
def test_interrupted_while_it_loads(home: Path, module: str) -> None:
    program = f"""
import sys
class Interrupted:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupted())
from importlib.metadata import distribution
[script] = [each for each in distribution("sightline").entry_points if each.name == "sightline"]
sys.argv = ["sightline", "doctor"]
script.load()()
"""
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, env=environment(home), cwd=home, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_an_interrupted_context_build_leaves_nothing(
    sightline: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ending = threading.Event()
    write, shutdown = build._write_file, _Workers.shutdown

    def interrupted(path: str, data: bytes) -> None:
        write(path, data)
        if not ending.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            assert ending.wait(60)

    def shut_down(workers: _Workers, wait: bool = True, *, cancel_futures: bool = False) -> None:
        ending.set()
        shutdown(workers, wait, cancel_futures=cancel_futures)

    monkeypatch.setattr(build, "_write_file", interrupted)
    monkeypatch.setattr(_Workers, "shutdown", shut_down)
    made = tmp_path / "caches"
    made.mkdir()
    words = ("--sources", ".", "--cache", made / "code", "--profile", "code")
    assert sightline("context", "build", *words) == Done(130, "", "")
    assert list(made.iterdir()) == []


def test_a_bug(sightline: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(argv: list[str]) -> int:
        raise LookupError("PLANTED-secret /home/somebody")

    monkeypatch.setattr(module, "_dispatch", broken)
    done = sightline("tools")
    assert done.code == 7
    assert "LookupError at test_exits.py:" in done.err and "PLANTED" not in done.err


def test_a_reader_that_has_seen_enough(home: Path) -> None:
    """``sightline tools | head -0`` is no error."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        command("tools"),
        env=environment(home),
        stdout=write_end,
        stderr=subprocess.PIPE,
        check=False,
        timeout=HANG_S,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_streams_that_were_closed_before_the_start(home: Path, sample: Path, closed: str) -> None:
    """The next file that is opened would get the number of the stream, and be written to."""
    for words in (["stdio", str(sample)], ["token", "show"], ["doctor", str(sample)]):
        line = f"exec {shlex.join(command(*words))} {closed}"
        done = subprocess.run(
            ["sh", "-c", line],
            env=environment(home),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, ""), words


@pytest.mark.parametrize(
    "words", [["--help"], ["tools"], ["call", "index_status"], ["settings"], ["context", "list"]]
)
@pytest.mark.parametrize("buffered", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_output_that_nothing_more_fits_in(
    home: Path, sample: Path, words: list[str], buffered: dict[str, str]
) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command(*words),
            env=environment(home, buffered),
            stdout=full,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            cwd=sample,
            text=True,
            check=False,
            timeout=60,
        )
    said = "sightline: the output cannot be written (No space left on device)"
    assert (done.returncode, done.stderr) == (3, f"{said}; free some space for it\n")


@pytest.mark.parametrize(
    "words", [["trust", ""], ["serve", ""], ["doctor", ""], ["index", "status", "--root", ""]]
)
def test_an_empty_root_is_not_the_current_folder(sightline: Command, words: list[str]) -> None:
    """``sightline trust "$PROJECT"`` without a value must not trust whatever is here."""
    done = sightline(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err == "sightline: ROOT is empty; name a folder, such as . for this one\n"


@pytest.mark.parametrize("words", [["doctor"], ["index", "status"], ["stdio"], ["trust", "."]])
def test_a_current_folder_that_is_gone(
    sightline: Command, tmp_path: Path, words: list[str]
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    done = sightline(*words)
    said = "sightline: the current folder is gone; change to one that is there\n"
    assert (done.code, done.out, done.err) == (4, "", said)
