"""Running commands in this process, which is what most tests of the command line need."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from sightline.cli.main import main


class Done(NamedTuple):
    code: int
    out: str
    err: str


Command = Callable[..., Done]


@pytest.fixture
def sightline(
    home: Path, sample: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Runs one command with a home of its own and the sample as the current folder."""
    monkeypatch.chdir(sample)

    def run(*arguments: str | Path) -> Done:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stopped:  # argparse
            code = int(stopped.code or 0)
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return run
