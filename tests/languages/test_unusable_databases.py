"""A ``compile_commands.json`` that is there and does not fit: used as far as it does, else said."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import INSTALLED, Engine, engine
from tests.support.files import write_files
from tests.support.program import run

#: Whether there is a use depends on a flag that nobody guesses.
FILES = {
    "inc/lib.h": "int area(void);\n",
    "src/lib.c": '#include "lib.h"\nint area(void) { return 1; }\n',
    "src/use.c": '#include "lib.h"\n#ifdef WIDE\nint use(void) { return area(); }\n#endif\n',
}
NAMES = ("src/lib.c", "src/use.c")
ELSEWHERE = "compile_commands.json names no file of this folder."
BROKEN = "A compile_commands.json cannot be read."


def entries(folder: object, **members: Any) -> list[dict[str, Any]]:
    """What a build in a folder would write."""
    words = ["cc", "-DWIDE", f"-I{folder}/inc", "-c"]
    return [
        {"directory": f"{folder}", "file": f"{folder}/{name}"}
        | {"arguments": [*words, f"{folder}/{name}"]}
        | members
        for name in NAMES
    ]


async def uses_of_area(running: Engine) -> tuple[set[str], str]:
    place = {"uri": running.uri("src/lib.c"), "position": {"line": 1, "character": 4}}
    found = await running.call("vscode.lsp.references", **place, includeDeclaration=True)
    base = running.root.resolve().as_uri() + "/"
    return {item["uri"].removeprefix(base) for item in found["items"]}, found["summary"]


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("member", ["arguments", "command"])
async def test_one_that_names_files_over_a_link(tmp_path: Path, trusted: bool, member: str) -> None:
    """A header that flags name so is the same header, with all its uses."""
    root = write_files(tmp_path / "disk/ws", FILES)
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    said = entries(tmp_path / "link/ws")
    if member == "command":
        said = [each | {"command": " ".join(each.pop("arguments"))} for each in said]
    write_files(root, {"compile_commands.json": json.dumps(said)})
    clangd = only("clangd")
    opened = tmp_path / "link/ws"
    async with engine(
        opened, cache=tmp_path, registry=clangd, trusted=lambda root: trusted
    ) as running:
        found, summary = await uses_of_area(running)
    assert found == {"inc/lib.h", *NAMES}
    assert "compile_commands" not in summary


async def test_a_root_that_is_a_link_and_one_with_real_paths(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES)
    write_files(root, {"compile_commands.json": json.dumps(entries(root))})
    (tmp_path / "link").symlink_to(root)
    async with engine(tmp_path / "link", cache=tmp_path, registry=only("clangd")) as running:
        found, summary = await uses_of_area(running)
    assert found == {"inc/lib.h", *NAMES}
    assert "compile_commands" not in summary


@pytest.mark.parametrize(
    "wrong",
    [
        {"file": None},
        {"directory": 1},
        {"arguments": "cc a.c"},
        {"file": "a.c"},
        {"file": "\0", "command": "cc"},
        {"file": "a.c", "command": "cc -DNAME='a -c a.c"},
        [],
        "cc",
    ],
    ids=str,
)
async def test_a_wrong_entry_spoils_no_other(tmp_path: Path, wrong: Any) -> None:
    root = write_files(tmp_path / "ws", FILES)
    write_files(root, {"compile_commands.json": json.dumps([wrong, *entries(root)])})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        found, summary = await uses_of_area(running)
    assert found == {"inc/lib.h", *NAMES}
    is_sensible = wrong == {"file": "\0", "command": "cc"}
    assert ("In compile_commands.json 1 entry makes no sense." in summary) != is_sensible


def _conflict(said: str) -> str:
    return f"<<<<<<< HEAD\n{said}\n=======\n{said}\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (json.dumps(entries("/src")), ELSEWHERE),
        ("[]", ELSEWHERE),
        (_conflict(json.dumps(entries("/src"))), BROKEN),
        ("", BROKEN),
        ("{}", BROKEN),
    ],
    ids=["a container", "nothing", "a conflict", "no text", "no list"],
)
async def test_one_that_is_not_used_is_said_until_it_is_made_anew(
    tmp_path: Path, text: str, note: str
) -> None:
    root = write_files(tmp_path / "ws", FILES | {"compile_commands.json": text})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        found, summary = await uses_of_area(running)
        assert found == {"inc/lib.h", "src/lib.c"}
        assert note in summary
        write_files(root, {"compile_commands.json": json.dumps(entries(root))})
        found, summary = await uses_of_area(running)
        assert found == {"inc/lib.h", *NAMES}
        assert "compile_commands" not in summary


@pytest.mark.parametrize("folder", ["/src", "other"])
async def test_one_above_the_root(tmp_path: Path, folder: str) -> None:
    """It may be about other folders of the repository; where it is about none, it is said."""
    top = write_files(tmp_path / "top", {f"app/{name}": text for name, text in FILES.items()})
    write_files(top, {f"other/{name}": "" for name in NAMES} | {".git/HEAD": ""})
    said = entries(top / folder)
    write_files(top, {"compile_commands.json": json.dumps(said)})
    async with engine(top / "app", cache=tmp_path, registry=only("clangd")) as running:
        assert (ELSEWHERE in (await uses_of_area(running))[1]) == (folder == "/src")


def test_doctor_says_how_to_make_it_anew(home: Path, tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES | {"compile_commands.json": _conflict("[]")})
    servers = home / ".local/share/sightline/servers"
    servers.parent.mkdir(parents=True)
    servers.symlink_to(INSTALLED)
    report = json.loads(run(home, "doctor", "--json", root, timeout=120).stdout)
    (found,) = [each for each in report["findings"] if each["subject"] == f"C in {root}"]
    assert BROKEN in found["detail"]
    assert found["fix"].startswith("make it anew: cmake ")
