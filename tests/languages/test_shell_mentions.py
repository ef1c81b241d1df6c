"""Uses in shell scripts that the server reads and does not see: their places are counted."""

from pathlib import Path

import pytest

from tests.languages.samples import only, unaccounted
from tests.languages.test_other_builds import uses
from tests.support.engine import engine
from tests.support.files import write_files

LIBRARY = "#!/bin/bash\nPREFIX=/opt\nclean_up() {\n  echo done\n}\n"
#: Where each stands in the first line, and what is seen of it.
UNSEEN = {
    "a pattern": ('echo "${1#$PREFIX}"\n', "PREFIX"),
    "a replacement": ('echo "${1//$PREFIX/a}"\n', "PREFIX"),
    "an indented document": ("cat <<-EOF\n\t${PREFIX}\n\tEOF\n", "PREFIX"),
    "a variable to be set": ("printf -v PREFIX '%s' a\n", "PREFIX"),
    "a trap": ("trap clean_up EXIT\n", "clean_up"),
    "a trap with more": ("trap 'clean_up; exit' EXIT\n", "clean_up"),
    "the end of a trap": ('trap "ls; clean_up" EXIT\n', "clean_up"),
    "a function that is handed on": ("retry 3 clean_up\n", "clean_up"),
    "a command that runs another": ("time clean_up\n", "clean_up"),
    "a use behind a program over lines": (
        "awk '\n  { print $1 }\n' \"${1#$PREFIX}\" 'x'\n",
        "PREFIX",
    ),
    "a use behind a text with an apostrophe": (
        "echo \"I don't\nknow\" # it's\ncat <<EOF\ndon't\nEOF\necho \"${1#$PREFIX}\" 'x'\n",
        "PREFIX",
    ),
    "a use beside the beginning of a document": (
        "cat <<'EOF' > ${1#$PREFIX}\n  $PREFIX\nEOF\n",
        "PREFIX",
    ),
    "a trap over lines": ("trap '\n  clean_up\n' EXIT\n", "clean_up"),
    "a pattern that runs one": ('echo "${1%%$(clean_up)}"\n', "clean_up"),
}
SILENT = {
    "a use that is seen": ('echo "$PREFIX" "${PREFIX}" "${PREFIX#/}"\n', "PREFIX"),
    "a comment": ("ls # ${1#$PREFIX}\n", "PREFIX"),
    "a text that is taken as it is": ("echo 'a $PREFIX' \\$PREFIX\n", "PREFIX"),
    "a document that is": ("cat <<'EOF'\n  $PREFIX ${1#$PREFIX}\nEOF\n", "PREFIX"),
    "a program over lines": ("awk '\n  { PREFIX = 1; print $PREFIX }\n' a\n", "PREFIX"),
    "words over lines": ("echo \"calls\n clean_up now\" 'and\n clean_up now'\n", "clean_up"),
    "a call that is seen": ('clean_up && echo "$(clean_up)"\n', "clean_up"),
    "words in quotes": ("echo \"calls clean_up\" 'and clean_up'\n", "clean_up"),
    "definitions": (
        "if ls; then\n  function clean_up {\n  ls\n  }\nelse\n  clean_up () { ls; }\nfi\n",
        "clean_up",
    ),
    "a longer name": ("my_clean_up clean_up.log x/clean_up\n", "clean_up"),
}


@pytest.mark.parametrize("case", [*UNSEEN, *SILENT])
async def test_a_name_where_no_use_was_found(tmp_path: Path, case: str) -> None:
    text, name = {**UNSEEN, **SILENT}[case]
    files = {"lib.sh": LIBRARY, "run.sh": f"#!/bin/bash\n. ./lib.sh\n{text}"}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("bash")) as running:
        _, note = await uses(running, files, "lib.sh", name)
    told = unaccounted(name, 1, "in quoted commands", "run.sh")
    assert note == (told if case in UNSEEN else "")
