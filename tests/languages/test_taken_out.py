"""What was taken out of a file is named by no answer, as if the server had just started.

Every edit is made while a server runs that has answered about the text before it. Then the same
questions are put to one that knows the new text only.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.contract.failures import Unavailable
from sightline.lsp.wire.client import Client
from tests.languages.samples import offers, only
from tests.support.engine import Engine, engine
from tests.support.files import write_files

INCLUDE = '#include "lib.h"\n'
OTHER = "int other(void) {\n  return 1;\n}\n"
AREA = "int area(void) {\n  return 2;\n}\n"
DOCUMENTED = f"{INCLUDE}/** How large it is. */\n{AREA}{OTHER}"
C = {"lib.h": "int area(void);\n", "use.c": f"{INCLUDE}int use(void) {{\n  return area();\n}}\n"}
#: What a source says first, and then. ``other.c`` is there from the beginning.
C_EDITS = {
    "the function": (DOCUMENTED, INCLUDE + OTHER),
    "everything": (DOCUMENTED, ""),
    "its comment": (DOCUMENTED, INCLUDE + AREA + OTHER),
    "its name": (DOCUMENTED, DOCUMENTED.replace("area", "volume")),
    "its reach": (f"int area(void);\n{AREA}", f"static int area(void);\nstatic {AREA}"),
    "by a condition": (DOCUMENTED, f"{INCLUDE}#if 0\n{AREA}#endif\n{OTHER}"),
    "by a comment": (DOCUMENTED, f"{INCLUDE}/*\n{AREA}*/\n{OTHER}"),
    "by a macro": (DOCUMENTED, f"{INCLUDE}#define area volume\n{AREA}{OTHER}"),
    "a declaration in a body": (
        f"{INCLUDE}int other(void) {{\n  int volume(void);\n  return volume();\n}}\n",
        f"{INCLUDE}int other(void) {{\n  return 1;\n}}\n",
    ),
    "a member": (
        "struct shape { int volume; };\nint other(struct shape *s) { return s->volume; }\n",
        "struct shape { int depth; };\nint other(struct shape *s) { return s->depth; }\n",
    ),
    "nothing": (DOCUMENTED, DOCUMENTED.replace("return 2", "int more = 1;\n  return more + 2")),
    "nothing, but something is added": (
        DOCUMENTED,
        f"{INCLUDE}/** New. */\nint volume(void) {{\n  return area();\n}}\n\n"
        + DOCUMENTED.removeprefix(INCLUDE).replace("return 1", "return volume()"),
    ),
    "nothing, but what others use is added": (
        f"{INCLUDE}{OTHER}",
        f"{INCLUDE}{OTHER}/** New. */\n{AREA}",
    ),
}
#: What a running server can take in.
TAKEN_IN = [edit for edit in C_EDITS if edit.startswith("nothing")]

OTHERS = {
    "ty": (
        {"use.py": "from lib import area\n\narea()\n"},
        ("lib.py", "def area() -> int:\n    return 1\n\n\ndef other() -> int: ...\n"),
        "def other() -> int: ...\n",
        ("use.py", 2, 0),
    ),
    "tsgo": (
        {"use.ts": 'import { area } from "./lib"\narea()\n', "tsconfig.json": "{}"},
        ("lib.ts", "export function area() {\n  return 1\n}\nexport function other() {}\n"),
        "export function other() {}\n",
        ("use.ts", 1, 0),
    ),
    "bash": (
        {"use.sh": "#!/bin/bash\nsource ./lib.sh\narea\n"},
        ("lib.sh", "#!/bin/bash\n# How large.\narea() {\n  echo 1\n}\nother() {\n  echo 2\n}\n"),
        "#!/bin/bash\nother() {\n  echo 2\n}\n",
        ("use.sh", 2, 0),
    ),
}
OTHERS["pyright"], OTHERS["vtsls"] = OTHERS["ty"], OTHERS["tsgo"]


HEADER = "/** How large it is. */\nint area(void);\n"
HEADER_EDITS = {
    "its comment": (HEADER, C["lib.h"]),
    "a part of its comment": (HEADER, HEADER.replace("large", "small")),
    "a declaration": (HEADER, "int other(void);\n"),
    "a macro": (f"#define volume 1\n{HEADER}", HEADER),
}


async def everything(server: str, running: Engine, place: tuple[str, int, int]) -> list[Any]:
    """What is said of a place, and of every name that is in one of the texts."""
    name, line, character = place
    at = {"uri": running.uri(name), "position": {"line": line, "character": character}}
    questions: list[tuple[Any, dict[str, Any]]] = [("definition", at), ("references", at)]
    questions += [("hover", at)] if offers(server, "hover") else []
    queries = ("area", "other", "volume", "depth")
    questions += [("workspaceSymbols", {"query": query}) for query in queries]
    told: list[Any] = []
    for tool, asked in questions:
        try:
            told.append(await running.call(f"vscode.lsp.{tool}", **asked))
        except Unavailable as failure:  # what is taken out is not known any more
            told.append(str(failure))
    return told


async def answers_after(
    server: str, root: Path, tmp_path: Path, edit: dict[str, str], place: tuple[str, int, int]
) -> tuple[list[Any], list[Any]]:
    """Those of a server that saw an edit, and of one that starts after it."""
    told: list[list[Any]] = []
    for number in range(2):
        cache = tmp_path / f"cache{number}"
        cache.mkdir()
        async with engine(root, cache=cache, registry=only(server)) as running:
            if not number:
                await everything(server, running, place)
                write_files(root, edit)
            told.append(await everything(server, running, place))
    return told[0], told[1]


@pytest.mark.parametrize("edit", C_EDITS)
async def test_of_a_source_in_c(tmp_path: Path, edit: str) -> None:
    before, after = C_EDITS[edit]
    root = write_files(tmp_path / "ws", C | {"lib.c": before})
    warm, cold = await answers_after("clangd", root, tmp_path, {"lib.c": after}, ("use.c", 2, 9))
    assert warm == cold


@pytest.mark.parametrize("edit", C_EDITS)
async def test_only_what_is_taken_out_needs_a_new_start(tmp_path: Path, edit: str) -> None:
    before, after = C_EDITS[edit]
    root = write_files(tmp_path / "ws", C | {"lib.c": before})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        await everything("clangd", running, ("use.c", 2, 9))
        (server,) = running.program.pool._fleet.servers.values()
        first = server.pid
        write_files(root, {"lib.c": after})
        await everything("clangd", running, ("use.c", 2, 9))
        assert (server.pid == first) == (edit in TAKEN_IN)


async def test_what_was_added_and_is_taken_out_again(tmp_path: Path) -> None:
    """What a server was shown of a file meanwhile is not in its index."""
    before, after = C_EDITS["nothing, but something is added"]
    root = write_files(tmp_path / "ws", C | {"lib.c": before})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        first = await everything("clangd", running, ("use.c", 2, 9))
        write_files(root, {"lib.c": after})
        assert await everything("clangd", running, ("use.c", 2, 9)) != first
        write_files(root, {"lib.c": before})
        assert await everything("clangd", running, ("use.c", 2, 9)) == first


ADDED = "int volume(void) {\n  return 3;\n}\n"
TABLE = 'int (*table[])(void) = {\n#define OP(name) name,\n#include "ops.def"\n};\n'
#: What is there, which file changes and to what, and where its new name stands already.
NAMED_BEFORE = {
    "by a test that includes the source": (
        {"lib.c": OTHER, "test_lib.c": '#include "lib.c"\nint check(void) { return volume(); }\n'},
        ("lib.c", f"{OTHER}static {ADDED}"),
        ("lib.c", 3, 12),
    ),
    "by what it includes below": (
        {"lib.c": OTHER + TABLE, "ops.def": "OP(volume)\n"},
        ("lib.c", OTHER + ADDED + TABLE),
        ("lib.c", 3, 5),
    ),
    "by what it includes in a function": (
        {"lib.c": f'{OTHER}void f(void) {{\n#include "ops.def"\n}}\n', "ops.def": "volume();\n"},
        ("lib.c", f'{OTHER}{ADDED}void f(void) {{\n#include "ops.def"\n}}\n'),
        ("lib.c", 3, 5),
    ),
}


@pytest.mark.parametrize("named", NAMED_BEFORE)
async def test_a_function_that_others_had_named_before(tmp_path: Path, named: str) -> None:
    files, (name, after), place = NAMED_BEFORE[named]
    root = write_files(tmp_path / "ws", files)
    told: list[Any] = []
    for number in range(2):
        cache = tmp_path / f"cache{number}"
        cache.mkdir()
        async with engine(root, cache=cache, registry=only("clangd")) as running:
            if not number:
                await everything("clangd", running, ("lib.c", 0, 5))
                write_files(root, {name: after})
            told.append(await everything("clangd", running, place))
    assert told[0] == told[1]
    assert len(told[1][1]["items"]) == 1


@pytest.mark.parametrize("name", ["calls.def", "calls.tpp", "calls"])
async def test_of_what_is_included_under_any_name(tmp_path: Path, name: str) -> None:
    """Every file that includes it is read again, and stays read so when the server starts anew."""
    user = f'#include "lib.h"\n#include "{name}"\nint {{}}(void) {{{{\n  return CALL();\n}}}}\n'
    files = {
        "lib.h": "int area(void);\nint other(void);\n",
        "lib.c": INCLUDE + AREA + OTHER,
        name: "#define CALL area\n",
        "a.c": user.format("a"),
        "b.c": user.format("b"),
    }
    root = write_files(tmp_path / "ws", files)
    edit, place = {name: "#define CALL other\n"}, ("lib.c", 4, 5)
    warm, cold = await answers_after("clangd", root, tmp_path, edit, place)
    assert warm == cold
    assert len(cold[1]["items"]) == 2
    async with engine(root, cache=tmp_path / "cache0", registry=only("clangd")) as again:
        assert await everything("clangd", again, place) == cold


INCLUDED = {
    "lib.c": "int area(void) {\n  return 2;\n}\nint other(void) {\n  return 1;\n}\n",
    "use.c": '#include "lib.c"\nint use(void) {\n  return other();\n}\n',
}


async def test_of_a_source_that_another_one_includes(tmp_path: Path) -> None:
    """What it says has its place in the other one, too, which is not read again by itself."""
    root = write_files(tmp_path / "ws", INCLUDED)
    edit = {"lib.c": INCLUDED["lib.c"].replace("return 2", "int more = 1;\n\n  return more")}
    warm, cold = await answers_after("clangd", root, tmp_path, edit, ("use.c", 2, 9))
    assert warm == cold


async def test_parts_of_one_source_whatever_was_asked_before(tmp_path: Path) -> None:
    """By itself a part may lack what stands before it in the whole."""
    files = {
        "all.c": '#include "a.c"\n#include "b.c"\n',
        "a.c": "static int area(void) { return 1; }\nint f(void) { return area(); }\n",
        "b.c": "int g(void) { return area(); }\n",
    }
    root = write_files(tmp_path / "ws", files)

    async def told(*places: tuple[str, int, int]) -> Any:
        async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
            for name, line, character in places:
                position = {"line": line, "character": character}
                place = {"uri": running.uri(name), "position": position}
                answer = await running.call("vscode.lsp.references", **place)
        return answer

    first = await told(("a.c", 0, 11))
    assert await told(("b.c", 0, 22), ("a.c", 0, 11)) == first
    assert len(first["items"]) == 2
    assert "does not compile by itself" in (await told(("b.c", 0, 22)))["summary"]


async def test_of_a_server_that_could_not_tell_what_it_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for leave to tell of its progress, which may come when everything is over. What it
    has just read of a part counts less than what it keeps of it.
    """
    files = {
        "all.c": '#include "lib.h"\n#include "part.c"\n',
        "part.c": "int g(struct shape *s) { return s->area; }\n",
        "lib.h": "struct shape { int area; };\n",
        "lib.c": INCLUDE + "int f(struct shape *s) { return s->area; }\n",
    }
    root = write_files(tmp_path / "ws", files)
    answer = Client._answer

    def late(client: Client, id: int | str, method: str, params: msgspec.Raw) -> None:
        if method != "window/workDoneProgress/create":
            answer(client, id, method, params)
        elif client.gone is None and not has_read_everything():
            loop = asyncio.get_running_loop()
            loop.call_later(0.01, late, client, id, method, params)
        else:
            answer(client, id, method, params)

    def has_read_everything() -> bool:
        (given,) = tmp_path.glob("servers/clangd/*/compile_commands.json")
        kept = given.parent.glob(".cache/clangd/index/*.idx")
        units = {Path(entry["file"]).name for entry in json.loads(given.read_text())}
        (pid,) = [each.pid for each in running.program.pool.status() if each.pid is not None]
        threads = [each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/stat")]
        workers = [stat.rpartition(") ")[2] for stat in threads if "ground-worker" in stat]
        return (
            units <= {shard.name.rsplit(".", 2)[0] for shard in kept}
            and workers != []
            and all(stat.startswith("S") for stat in workers)
        )

    monkeypatch.setattr(Client, "_answer", late)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        place = {"uri": running.uri("lib.c"), "position": {"line": 1, "character": 36}}
        found = await running.call("vscode.lsp.references", **place)
    assert {item["uri"] for item in found["items"]} == {
        running.uri("lib.c"),
        running.uri("part.c"),
    }


async def test_a_header_that_is_asked_about_first(tmp_path: Path) -> None:
    """What its server was given is known before that has started."""
    member = "struct shape { int area; };\nint of(struct shape *s) { return s->area; }\n"
    files = {"lib.h": "int area(void);\n", "lib.c": INCLUDE + member + AREA}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        place = {"uri": running.uri("lib.h"), "position": {"line": 0, "character": 4}}
        first = await running.call("vscode.lsp.references", **place)
        write_files(root, {"lib.c": files["lib.c"] + "\n"})
        assert await running.call("vscode.lsp.references", **place) == first


@pytest.mark.parametrize("edit", HEADER_EDITS)
async def test_of_a_header_in_c(tmp_path: Path, edit: str) -> None:
    before, after = HEADER_EDITS[edit]
    root = write_files(tmp_path / "ws", C | {"lib.c": INCLUDE + AREA, "lib.h": before})
    warm, cold = await answers_after("clangd", root, tmp_path, {"lib.h": after}, ("use.c", 2, 9))
    assert warm == cold


@pytest.mark.parametrize("server", sorted(OTHERS))
async def test_of_a_file(tmp_path: Path, server: str) -> None:
    files, (name, before), after, place = OTHERS[server]
    root = write_files(tmp_path / "ws", files | {name: before})
    warm, cold = await answers_after(server, root, tmp_path, {name: after}, place)
    assert warm == cold
