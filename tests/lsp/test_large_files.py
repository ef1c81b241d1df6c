"""Configuration that is made to be huge takes no more memory than a large project's would."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.lsp.c.compile_commands import CommandFiles
from sightline.lsp.files.reading import read_json

MIB = 1 << 20
READ = """
import resource, sys
from sightline.lsp.c.compile_commands import CommandFiles
from sightline.lsp.files.reading import read_json
resource.setrlimit(resource.RLIMIT_AS, (1_200 << 20, resource.RLIM_INFINITY))
files = CommandFiles()
for path in sys.argv[1:]:
    {expression}
print(len(files.unread))
"""


def repeated(file: Path, piece: str, size: int) -> str:
    """A list of one piece again and again."""
    count = (size - 1) // (len(piece) + 1)
    file.write_text("[" + ",".join([piece] * count) + "]")
    return str(file)


def read_within_bounds(expression: str, *paths: str) -> int:
    """How many files were too large, for a process that may have little memory."""
    done = subprocess.run(
        [sys.executable, "-c", READ.format(expression=expression), *paths],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize(
    "piece", ["[]", "{}", '{"file":""}', '{"file":"a","arguments":["ab","cd"]}', "[[[[]]]]", '"ab"']
)
def test_databases_of_anything(tmp_path: Path, piece: str) -> None:
    paths = [repeated(tmp_path / f"{n}.json", piece, 30 * MIB) for n in range(3)]
    assert read_within_bounds("files.read(path)", *paths) >= 1


def test_sparse_files(tmp_path: Path) -> None:
    file = tmp_path / "tsconfig.json"
    with file.open("wb") as sparse:
        sparse.truncate(60 * MIB)
    assert read_within_bounds("read_json(path, comments=True)", str(file)) == 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert read_json(str(file), comments=True) is None
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 << 10


def test_a_database_of_a_large_project(tmp_path: Path) -> None:
    words = ["c++", *(f"-DNAME_{number}=value" for number in range(60)), "-c", "a.cc"]
    entries = [{"directory": "/b", "file": f"{n}.cc", "arguments": words} for n in range(20_000)]
    file = tmp_path / "compile_commands.json"
    file.write_text(json.dumps(entries))
    assert file.stat().st_size > 20 * MIB
    files = CommandFiles()
    assert len(files.read(str(file))) == 20_000
    assert files.unread == []


def test_what_is_no_database(tmp_path: Path) -> None:
    files = CommandFiles()
    for text in ("", "{}", "[1]", '[{"directory": "/"}]', '[{"file": 1}]', "[" * 100_000):
        (tmp_path / "x.json").write_text(text)
        assert files.read(str(tmp_path / "x.json")) == []
    assert files.read(str(tmp_path / "missing.json")) == []
    assert files.unread == []
