"""show_file: by lines, by symbol, by hit; bounded, gated, honest about change."""

import os
from pathlib import Path
from typing import Any

import pytest

from sightline.contract.failures import (
    Failure,
    InvalidArguments,
    NotFound,
    UriInvalid,
    WorkspaceDenied,
)
from tests.conftest import Workspace
from tests.support.engine import engine
from tests.support.index import index_engine

FILES = {
    "a.py": '''
        """Two functions of one name, and one of another."""


        def take(n: int) -> int:
            return n


        class Pool:
            size = 3

            def take(self) -> int:
                return self.size

            def drop(self) -> None:
                """Lets go."""
        ''',
    "long.txt": "\n".join(f"line {number}" for number in range(1, 1_001)) + "\n",
    "wide.txt": "x" * 9_000 + "\nend\n",
}


async def test_by_path_and_lines(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace(FILES)
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        shown = await running.once("show_file", path="a.py", startLine=4, endLine=5)
        assert shown["text"] == "4  def take(n: int) -> int:\n5      return n"
        assert (shown["totalLines"], shown["language"], shown["truncated"]) == (15, "python", False)
        same = [str(root / "a.py"), (root / "a.py").as_uri(), "./a.py"]
        for path in same:
            assert await running.once("show_file", path=path, startLine=4, endLine=5) == shown
        whole = await running.once("show_file", path="long.txt")
        assert (whole["startLine"], whole["endLine"], whole["truncated"]) == (1, 400, True)
        rest = await running.once("show_file", path="long.txt", startLine=401, endLine=5_000)
        assert (rest["endLine"], rest["truncated"]) == (1_000, False)
        assert rest["text"].startswith(" 401  line 401\n")
        few = await running.once("show_file", path="long.txt", maxTokens=50)
        assert few["truncated"] and len(few["text"]) <= 200
        wide = await running.once("show_file", path="wide.txt")
        assert len(wide["text"]) < 2_100 and wide["endLine"] == 2
        assert wide["truncated"] and wide["summary"] == "Lines 1-2 of 2; long lines are cut."
        narrow = await running.once("show_file", path="wide.txt", maxTokens=50)
        assert len(narrow["text"].encode()) < 200 and narrow["text"].endswith("x…")
        assert (narrow["endLine"], narrow["truncated"]) == (1, True)
        (root / "empty.py").write_text("")
        empty = await running.once("show_file", path="empty.py")
        assert (empty["text"], empty["totalLines"], empty["endLine"]) == ("", 0, 0)


async def test_by_symbol(workspace: Workspace, tmp_path: Path) -> None:
    async with index_engine(workspace(FILES), tmp_path / "cache") as running:
        shown = await running.once("show_file", symbol="Pool.take")
        assert (shown["startLine"], shown["endLine"]) == (11, 12)
        assert shown["symbol"] == {
            "name": "take",
            "kind": "method",
            "container": "Pool",
            "position": {"line": 10, "character": 8},
        }
        assert (await running.once("show_file", symbol="drop"))["startLine"] == 14
        with pytest.raises(InvalidArguments, match=r"2 symbols are called 'take'.*a.py:4.*a.py:11"):
            await running.once("show_file", symbol="take")
        with pytest.raises(NotFound, match="search for the name"):
            await running.once("show_file", symbol="giraffe")


async def test_by_hit_and_whether_it_changed(workspace: Workspace, tmp_path: Path) -> None:
    root = workspace(FILES)
    async with index_engine(root, tmp_path / "cache") as running:
        hit = (await running.once("search", query="Pool.drop"))["items"][0]
        shown = await running.once("show_file", id=hit["id"])
        assert (shown["changed"], shown["startLine"]) == (False, hit["startLine"])
        file = root / "a.py"
        file.write_text("# new first line\n" + file.read_text())
        shown = await running.once("show_file", id=hit["id"])
        assert shown["changed"] is True and "changed" in shown["summary"]
        more = await running.once("show_file", id=hit["id"], endLine=16)
        assert more["endLine"] == 16
        file.unlink()
        with pytest.raises(NotFound, match="gone"):
            await running.once("show_file", id=hit["id"])


async def test_files_that_are_not_indexed_are_shown_fresh(
    workspace: Workspace, tmp_path: Path
) -> None:
    root = workspace(FILES | {".gitignore": "secret.log\n", "secret.log": "one\n"})
    async with index_engine(root, tmp_path / "cache") as running:
        assert (await running.once("show_file", path="secret.log"))["text"] == "1  one"
        (root / "secret.log").write_text("two\n")
        assert (await running.once("show_file", path="secret.log"))["text"] == "1  two"


@pytest.mark.parametrize(
    ("path", "failure"),
    [
        ("none.py", UriInvalid),
        ("../outside.txt", WorkspaceDenied),
        ("link.py", WorkspaceDenied),
        (".git/config", WorkspaceDenied),
        ("folder", Failure),
        ("pipe", Failure),
        ("binary.dat", NotFound),
        ("a.py/b", Failure),
        ("http://example.com/a", Failure),
        ("nul\0byte", Failure),
        ("x" * 300, Failure),
    ],
)
async def test_what_is_not_shown(
    workspace: Workspace, tmp_path: Path, path: str, failure: Any
) -> None:
    root = workspace(FILES | {".git/config": "secret", "folder/x": "x"})
    (tmp_path / "outside.txt").write_text("secret")
    os.symlink(tmp_path / "outside.txt", root / "link.py")
    os.mkfifo(root / "pipe")
    (root / "binary.dat").write_bytes(bytes(range(256)) * 10)
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        with pytest.raises(failure) as caught:
            await running.once("show_file", path=path)
        assert "secret" not in str(caught.value) and str(tmp_path) not in str(caught.value)


async def test_a_path_that_is_not_utf8(workspace: Workspace, tmp_path: Path) -> None:
    """No answer can name such a file, whichever way it is reached."""
    root = workspace({"a.py": "x = 1\n"})
    there = os.fsencode(root) + b"/\xff.py"
    Path(os.fsdecode(there)).write_text("x = 2\n")
    os.symlink(there, root / "plain.py")
    os.symlink(root / "a.py", os.fsencode(root) + b"/link\xff.py")
    async with engine(root, cache=tmp_path / "cache", families=("index",)) as running:
        for path in (f"{root.as_uri()}/%FF.py", "plain.py"):
            with pytest.raises(NotFound, match="is not UTF-8; rename it"):
                await running.once("show_file", path=path)
        shown = await running.once("show_file", path=f"{root.as_uri()}/link%FF.py")
        assert shown["path"] == "a.py"


DECLARED = {
    "a.h": """
        /* Takes. */
        int take(int n);
        int only(int n);
        static int twice(int n);
        """,
    "a.c": """
        #include "a.h"
        static int helper(int);

        int take(int n)
        {
            return helper(n);
        }

        static int helper(int n) { return n; }
        static int twice(int n) { return 2 * n; }
        """,
    "b.c": """
        static int twice(int n) { return n + n; }
        """,
    "m.ts": """
        export interface Merged { a: number; }
        export class Merged { b = 1; }

        export function over(a: string): void;
        export function over(a: number): void;
        export function over(a: any): void {
          console.log(a);
        }

        export namespace Merged { export const c = 1; }
        """,
}


@pytest.mark.parametrize(
    ("asked", "place", "also"),
    [
        ({"symbol": "take"}, ("a.c", 4, 7), "; also declared at a.h:2 (function)"),
        ({"symbol": "take", "path": "a.h"}, ("a.h", 2, 2), ""),
        ({"symbol": "only"}, ("a.h", 3, 3), ""),
        ({"symbol": "helper"}, ("a.c", 9, 9), "; also declared at a.c:2 (function)"),
        ({"symbol": "Merged"}, ("m.ts", 1, 2), "; also declared at m.ts:10 (namespace)"),
        (
            {"symbol": "Merged", "path": "m.ts"},
            ("m.ts", 1, 2),
            "; also declared at m.ts:10 (namespace)",
        ),
        ({"symbol": "over"}, ("m.ts", 4, 8), ""),
    ],
)
async def test_one_symbol_that_is_declared_more_than_once(
    workspace: Workspace,
    tmp_path: Path,
    asked: dict[str, str],
    place: tuple[str, int, int],
    also: str,
) -> None:
    async with index_engine(workspace(DECLARED), tmp_path / "cache") as running:
        shown = await running.once("show_file", **asked)
        assert (shown["path"], shown["startLine"], shown["endLine"]) == place
        assert shown["summary"] == f"Lines {place[1]}-{place[2]} of {shown['totalLines']}{also}."


async def test_what_can_be_passed_is_what_is_asked_for(
    workspace: Workspace, tmp_path: Path
) -> None:
    """A path tells files apart, and a qualified name what lies in different classes of one."""
    async with index_engine(workspace(DECLARED | FILES), tmp_path / "cache") as running:
        with pytest.raises(InvalidArguments, match=r"2 symbols .*pass path: a.c:10 .*; b.c:1 "):
            await running.once("show_file", symbol="twice")
        assert (await running.once("show_file", symbol="twice", path="b.c"))["startLine"] == 1
        with pytest.raises(InvalidArguments, match=r"; pass a qualified name: a.py:4 .*; a.py:11 "):
            await running.once("show_file", symbol="take", path="a.py")
        with pytest.raises(InvalidArguments, match=r"; pass path or a qualified name: "):
            await running.once("show_file", symbol="take")
