"""Choices in files that name what is ignored, against the server that knows such."""

import subprocess
import sys
from pathlib import Path

import pytest

from sightline.workspace.ignore import Rules
from tests.support.files import write_files

FILES = (
    "a.py b.py ab.py c/a.py c/b.py c/d/a.py c/d/e.py {a}.py a,b.py }.py a}.py {a.py {a,b}.py "
    "x/c/a.py c/{d/q.py d/d.py d.py"
).split()
PATTERNS = r"""
    {a,b}.py c/{a,d/a}.py {a}.py {a,b.py a}.py a,b.py \{a\}.py \{a,b\}.py {a,{b,c/b}}.py
    /{a,c/{a,b}}.py {,a}b.py {,a}.py {}a.py {,}a.py a{,}.py {{},a}.py c/{**/a,b}.py {**/d,b}.py
    {c/**,b.py} {c,d}/ {c,x}/**/a.py [{]a.py [{,}]a.py {[ab],d}.py {a,b} {a.py,b.py} !{a,b}.py
    {c/d,x}/*.py {?,*b}.py }.py {a.py c/{d/q.py {a\,b}.py {a,b}.p{y,z} {/a,b}.py {c/,}a.py
    {a,b}}.py {{a,b}.py c/{d,e}/** {**,b}.py {**/,}a.py **/{a,b}.py c/**{a,b}.py
""".split()


@pytest.mark.parametrize("pattern", PATTERNS)
def test_as_ty_reads_them(tmp_path: Path, pattern: str) -> None:
    text = f"*.py\n{pattern}\n" if pattern.startswith("!") else f"{pattern}\n"
    files = dict.fromkeys(FILES, "a: int = 'a'\n")
    write_files(tmp_path, files | {".git/HEAD": "ref: refs/heads/main\n", ".gitignore": text})
    ty = [str(Path(sys.executable).with_name("ty")), "check", "--output-format", "concise"]
    environment = {"PATH": "/usr/bin", "HOME": "/nonexistent"}
    done = subprocess.run(
        ty, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    looked_at = {line.split(":")[0] for line in done.stdout.splitlines() if ": error" in line}
    rules = Rules.parse(text, "", choices=True)

    def is_ignored(file: str) -> bool:
        folders = [file[:place] for place, letter in enumerate(file) if letter == "/"]
        return any(rules.verdict(each, folder=True) for each in folders) or bool(
            rules.verdict(file, folder=False)
        )

    assert {file for file in FILES if not is_ignored(file)} == looked_at
