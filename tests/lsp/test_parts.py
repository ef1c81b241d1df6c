"""Sources that others include are given to a server before those others."""

import json
from pathlib import Path

import pytest

from sightline.lsp.c.compile_database import Database, write
from sightline.lsp.c.includes import Includes
from tests.lsp.test_includes import project
from tests.support.files import write_files

FILES = {
    "all.c": '#include "a.c"\n#include "b.c"\n',
    "a.c": "static int area(void) { return 1; }\n",
    "b.c": '#include "lib.h"\nint g(void) { return area(); }\n',
    "lib.h": "int lib(void);\n",
    "other.c": "int other(void) { return 1; }\n",
}


class Given:
    """What a server is given each time it starts, and what it keeps of that."""

    def __init__(self, folder: Path, files: dict[str, str]) -> None:
        self.root = write_files(folder / "ws", files)
        self.cache = folder / "cache"
        self.cache.mkdir()
        self.shards = self.cache / ".cache/clangd/index"

    def start(self, *, keeps: bool = True, has_read_parts: bool = False) -> Database:
        folder, includes = str(self.cache), Includes()
        database = write(project(self.root), folder, includes, has_read_parts=has_read_parts)
        self.shards.mkdir(parents=True, exist_ok=True)
        for unit in database.units if keeps else ():
            (self.shards / f"{Path(unit).name}.0123456789ABCDEF.idx").touch()
        return database

    def names(self, database: Database) -> set[str]:
        return {Path(unit).name for unit in database.units}

    def kept(self) -> set[str]:
        return {shard.name.rsplit(".", 2)[0] for shard in self.shards.iterdir()}

    def settled(self) -> "Given":
        while self.start().unfinished:
            pass
        return self


def test_parts_come_before_the_whole(tmp_path: Path) -> None:
    given = Given(tmp_path, FILES)
    first, second, third = given.start(), given.start(), given.start()
    assert given.names(first) == {"a.c", "b.c", "other.c"}
    assert given.names(second) == given.names(third) == {"a.c", "b.c", "all.c", "other.c"}
    assert [each.unfinished for each in (first, second, third)] == [True, False, False]


def test_one_that_includes_through_a_header_is_a_whole_too(tmp_path: Path) -> None:
    files = FILES | {"test.c": '#include "shared.h"\n', "shared.h": '#include "a.c"\n'}
    given = Given(tmp_path, files)
    assert given.names(given.start()) == {"a.c", "b.c", "other.c"}


def test_sources_that_nobody_includes_need_one_start(tmp_path: Path) -> None:
    given = Given(tmp_path, {name: FILES[name] for name in ("a.c", "b.c", "lib.h")})
    assert not given.start().unfinished


def test_sources_that_include_each_other_need_one_start(tmp_path: Path) -> None:
    """None of them can be first."""
    files = {"a.c": '#include "b.c"\n', "b.c": '#include "a.c"\n'}
    given = Given(tmp_path, files)
    database = given.start()
    assert not database.unfinished
    assert given.names(database) == {"a.c", "b.c"}


@pytest.mark.parametrize(
    ("edit", "gone"),
    [
        ({"b.c": FILES["b.c"].replace(" ", "  ")}, {"b.c", "all.c", "a.c"}),
        ({"lib.h": "long lib(void);\n"}, {"b.c", "all.c", "a.c"}),
        ({"all.c": '#include "b.c"\n'}, {"b.c", "all.c", "a.c"}),
        ({"other.c": "int another;\n"}, {"other.c"}),
    ],
)
def test_what_changes_is_read_again_in_that_order(
    tmp_path: Path, edit: dict[str, str], gone: set[str]
) -> None:
    """Blanks count here, too: the server reads such a file again."""
    given = Given(tmp_path, FILES).settled()
    write_files(given.root, edit)
    database = given.start(keeps=False)
    assert given.kept() == {"a.c", "b.c", "all.c", "other.c"} - gone
    assert database.unfinished == (gone != {"other.c"})


def test_a_whole_that_goes_takes_what_was_read_in_it_along(tmp_path: Path) -> None:
    given = Given(tmp_path, FILES | {"test.c": '#include "b.c"\n'}).settled()
    (given.root / "all.c").unlink()
    assert given.start(keeps=False).unfinished
    assert given.kept() == {"other.c"}, "what is left of a.c was read in all.c"


def test_a_start_that_was_broken_off_is_begun_again(tmp_path: Path) -> None:
    """However often: whoever is given everything at once may keep what is not whole, for good."""
    given = Given(tmp_path, FILES)
    for _ in range(3):
        broken_off = given.start(keeps=False)
        assert broken_off.unfinished
        assert given.names(broken_off) == {"a.c", "b.c", "other.c"}
    assert given.start().unfinished
    assert not given.start().unfinished


def test_a_server_that_keeps_nothing_is_given_everything_when_it_has_read_the_parts(
    tmp_path: Path,
) -> None:
    given = Given(tmp_path, FILES)
    assert given.start(keeps=False).unfinished
    assert not given.start(keeps=False, has_read_parts=True).unfinished
    assert not given.start(keeps=False).unfinished


def test_parts_that_changed_while_they_were_read_are_read_again(tmp_path: Path) -> None:
    given = Given(tmp_path, FILES)
    assert given.start().unfinished
    write_files(given.root, {"b.c": FILES["b.c"].replace("area()", "area() + 1")})
    assert given.start(has_read_parts=True).unfinished
    assert not given.start(has_read_parts=True).unfinished


def test_a_whole_whose_flags_change_while_parts_are_read_is_read_again(tmp_path: Path) -> None:
    """It is not in the database just then."""
    files = FILES | {"w.c": '#include "v.c"\n', "v.c": "int v(void) { return 1; }\n"}
    given = Given(tmp_path, files)

    def compiled(flag: str) -> None:
        commands = {name: ["cc", "-c", name] for name in files if name.endswith(".c")}
        commands["w.c"].insert(1, flag)
        entries = [
            {"directory": str(given.root), "file": name, "arguments": command}
            for name, command in commands.items()
        ]
        write_files(given.root, {"compile_commands.json": json.dumps(entries)})

    compiled("-DOLD")
    given.settled()
    write_files(given.root, {"b.c": FILES["b.c"].replace("area()", "area() + 1")})
    assert given.start().unfinished
    assert "w.c" in given.kept()
    compiled("-DNEW")
    given.start(keeps=False, has_read_parts=True)
    assert given.kept() == set()


@pytest.mark.parametrize("name", ["all.c", "a.c", "other.c"])
def test_an_edit_in_a_function_of_a_part_or_a_whole_is_not_taken_in(
    tmp_path: Path, name: str
) -> None:
    """The next server of this folder would be given parts alone, and this one would see that."""
    files = FILES | {"all.c": FILES["all.c"] + "int h(void) { return 1; }\n"}
    given = Given(tmp_path, files).settled()
    edited = files[name].replace("return 1", "return 2")
    database = given.start()
    path = str(given.root / name)
    assert database.can_be_taken_in(path, edited) == (name == "other.c")
    if database.can_be_taken_in(path, edited):
        write_files(given.root, {name: edited})
        assert not given.start().unfinished
