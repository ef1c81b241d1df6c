"""Completion, asked of the shells themselves."""

import shutil
import subprocess
from pathlib import Path

import pytest

from sightline.cli.clients.table import CLIENTS
from sightline.cli.main import COMMANDS
from sightline.cli.shape import shapes
from tests.cli.conftest import Command
from tests.support.watching import HANG_S

QUESTIONS = {
    "commands": ([""], {*COMMANDS}),
    "a command that is begun": (["st"], {"stdio", "status"}),
    "clients": (["config", ""], {*CLIENTS}),
    "tools": (["call", "show"], {"show_file"}),
    "flags": (["serve", "--p"], {"--port"}),
    "flags behind others": (["serve", "--port", "4000", "--tok"], {"--token-file"}),
    "actions": (["token", "r"], {"rotate"}),
}
EACH = pytest.mark.parametrize(("words", "answer"), QUESTIONS.values(), ids=QUESTIONS)


def ask(shell: str, script: str, folder: Path) -> set[str]:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed on this machine; bash is always tested")
    flags = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    done = subprocess.run(
        [program, *flags, "-c", script],
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


@EACH
def test_bash(sightline: Command, tmp_path: Path, words: list[str], answer: set[str]) -> None:
    script = sightline("completion", "bash").out
    line = " ".join(f"'{word}'" for word in ["sightline", *words])
    script += f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _sightline; "
    script += 'printf "%s\\n" "${COMPREPLY[@]}"'
    assert without_help(ask("bash", script, tmp_path), words) == answer


@EACH
def test_zsh(sightline: Command, tmp_path: Path, words: list[str], answer: set[str]) -> None:
    begin = "autoload -Uz compinit; compinit -u -D; "
    script = begin + sightline("completion", "zsh").out
    before = " ".join(f"'{word}'" for word in words[:-1])
    script += (
        f"[[ $_comps[sightline] = _sightline ]] && print -l -- ${{=$(_sightline_words {before})}}"
    )
    found = {word for word in ask("zsh", script, tmp_path) if word.startswith(words[-1])}
    assert without_help(found, words) == answer


@EACH
def test_fish(sightline: Command, tmp_path: Path, words: list[str], answer: set[str]) -> None:
    script = sightline("completion", "fish").out
    script += f"complete -C 'sightline {' '.join(words)}'"
    assert without_help(ask("fish", script, tmp_path), words) == answer


def without_help(found: set[str], words: list[str]) -> set[str]:
    """Without the flags, where the question was about words."""
    return found if words[-1] else {word for word in found if not word.startswith("-")}


def test_every_flag_of_every_command_is_known(sightline: Command) -> None:
    scripts = {shell: sightline("completion", shell).out for shell in ("bash", "fish", "zsh")}
    for shape in shapes():
        for option in shape.options:
            for flag in (flag for flag in option.flags if flag.startswith("--")):
                assert flag in scripts["bash"] and flag in scripts["zsh"]
                assert f"-l {flag[2:]} " in scripts["fish"]


def test_an_unknown_shell_is_refused(sightline: Command) -> None:
    done = sightline("completion", "tcsh")
    assert done.code == 2 and "bash" in done.err
