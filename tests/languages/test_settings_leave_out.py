"""Files that a project keeps from its type checker: references find or count uses there."""

from pathlib import Path

import pytest

from sightline.lsp.project.selection import is_dependency
from tests.languages.samples import only, unaccounted
from tests.support.engine import Engine, engine
from tests.support.files import write_files
from tests.support.program import run

USE = "from app.core import target\n\ntarget()\n\n\ndef mark(): ...\n"
FILES = {
    "src/app/core.py": "def target() -> int:\n    return 1\n",
    "src/app/use.py": USE,
    "tests/top.py": USE,
    "tests/deep/more.py": USE,
}
ALL = {"use.py", "top.py", "more.py"}
PROJECT = '[project]\nname = "x"\nversion = "1"\n'

SETTINGS = [
    ("ty", '[tool.ty.src]\ninclude = ["src"]\n'),
    ("ty", '[tool.ty.src]\ninclude = ["./src/", "tests/deep"]\n'),
    ("ty", '[tool.ty.src]\nexclude = ["tests"]\n'),
    ("ty", '[tool.ty.src]\nexclude = ["**/deep/**"]\n'),
    ("ty", '[tool.ty.src]\nexclude = ["deep"]\n'),
    ("ty", '[tool.ty.src]\nexclude = ["tests/*.py"]\n'),
    ("ty", "[tool.pyright]\ninclude = ['src']\n"),
    ("pyright", '[tool.pyright]\ninclude = ["src"]\n'),
    ("pyright", '[tool.pyright]\ninclude = ["."]\n'),
    ("pyright", '[tool.pyright]\nexclude = ["tests"]\n'),
    ("pyright", '[tool.pyright]\nexclude = ["**/deep"]\n'),
    ("pyright", '[tool.pyright]\nexclude = ["tests/deep/**"]\n'),
    ("pyright", '[tool.pyright]\nexclude = ["deep"]\n'),
    ("pyright", '[tool.pyright]\nignore = ["tests"]\n'),
    ("pyright", "[tool.ty.src]\ninclude = ['src']\n"),
]


def summary_of(server: str, found: set[str]) -> str:
    """The whole summary, where these files were found: pyright leaves out the others."""
    missed = sorted(path for path in FILES if "core" not in path and _name(path) not in found)
    said = f"Returned {2 * len(found)} references."
    if not missed:
        return said
    assert server == "pyright"
    return f"{said} " + unaccounted("target", len(missed), "not checked", ", ".join(missed))


def _name(path: str) -> str:
    return path.rpartition("/")[2]


async def asked(running: Engine) -> tuple[set[str], str]:
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri("src/app/core.py"),
        position={"line": 0, "character": 4},
    )
    return {item["uri"].rpartition("/")[2] for item in answer["items"]}, answer["summary"]


async def listed(running: Engine) -> tuple[set[str], str]:
    """The files that a list of symbols has, and what it says of others."""
    answer = await running.call("vscode.lsp.workspaceSymbols", query="mark")
    names = {_name(item["location"]["uri"]) for item in answer["items"]}
    return names, answer["summary"].partition(". ")[2]


def note(count: int) -> str:
    if not count:
        return ""
    files = "1 file" if count == 1 else f"{count} files"
    return f"The project's own settings leave out {files}; symbols there may be missing."


@pytest.mark.parametrize(("server", "settings"), SETTINGS)
async def test_as_many_are_counted_as_are_missed(
    tmp_path: Path, server: str, settings: str
) -> None:
    root = write_files(tmp_path / "ws", FILES | {"pyproject.toml": PROJECT + settings})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running)
        assert summary == summary_of(server, found)
        names, said = await listed(running)
        assert said == note(len(ALL - names))
        assert found == (names if server == "pyright" else ALL)


NO_DEEP = '{"exclude": ["tests/deep"]}'
#: Settings of pyright that extend others.
EXTENDED: dict[str, dict[str, str]] = {
    "another file": {"pyrightconfig.json": '{"extends": "base.json"}', "base.json": NO_DEEP},
    "spelled from its folder": {
        "pyrightconfig.json": '{"extends": "conf/base.json"}',
        "conf/base.json": '{"exclude": ["../tests/*"]}',
    },
    "that leads nowhere from there": {
        "pyrightconfig.json": '{"extends": "conf/base.json"}',
        "conf/base.json": NO_DEEP,
    },
    "outside": {
        "pyrightconfig.json": '{"extends": "../base.json"}',
        "../base.json": '{"exclude": ["ws/tests/deep", "**/top.py"]}',
    },
    "what it includes": {
        "pyrightconfig.json": '{"extends": "base.json", "exclude": ["tests/top.py"]}',
        "base.json": '{"include": ["tests", "src/app/c*"], "exclude": ["tests/deep"]}',
    },
    "a list is nearer": {
        "pyrightconfig.json": '{"extends": "base.json", "exclude": []}',
        "base.json": NO_DEEP,
    },
    "no list is nearer": {
        "pyrightconfig.json": '{"extends": "base.json", "exclude": "src"}',
        "base.json": NO_DEEP,
    },
    "two": {
        "pyrightconfig.json": '{"extends": "c/a.json"}',
        "c/a.json": '{"extends": "d/base.json"}',
        "c/d/base.json": '{"exclude": ["../../tests/deep"]}',
    },
    "in a circle": {
        "pyrightconfig.json": '{"extends": "a.json"}',
        "a.json": '{"extends": "pyrightconfig.json", "exclude": ["tests/deep"]}',
    },
    "a manifest": {
        "pyrightconfig.json": '{"extends": "pyproject.toml"}',
        "pyproject.toml": '[tool.pyright]\nexclude = ["tests/deep"]\n',
    },
    "from a manifest": {
        "pyproject.toml": PROJECT + '[tool.pyright]\nextends = "base.json"\n',
        "base.json": NO_DEEP,
    },
    "nothing that is there": {"pyrightconfig.json": '{"extends": "a.json", "exclude": ["tests"]}'},
    "what is no JSON": {
        "pyrightconfig.json": '{"extends": "base.json"}',
        "base.json": NO_DEEP + " x",
    },
    "a list": {"pyrightconfig.json": '{"extends": ["base.json"]}', "base.json": NO_DEEP},
    "nothing, beside a manifest": {
        "pyrightconfig.json": "{}",
        "pyproject.toml": '[tool.pyright]\nexclude = ["tests"]\n',
    },
    "nothing, by the way around": {"pyrightconfig.json": '{"exclude": ["../ws/tests/deep"]}'},
    "nothing, with other slashes": {"pyrightconfig.json": '{"exclude": ["tests\\\\deep"]}'},
    "nothing, with a choice": {"pyrightconfig.json": '{"exclude": ["tests/{deep,x}", "[s]rc"]}'},
    "nothing, from the root": {"pyrightconfig.json": '{"exclude": ["/tests"]}'},
}


@pytest.mark.parametrize("extended", list(EXTENDED))
async def test_what_settings_extend(tmp_path: Path, extended: str) -> None:
    root = write_files(tmp_path / "ws", FILES | EXTENDED[extended])
    async with engine(root, cache=tmp_path / "cache", registry=only("pyright")) as running:
        found, summary = await asked(running)
        assert summary == summary_of("pyright", found)
        assert await listed(running) == (found, note(len(ALL - found)))


@pytest.mark.parametrize("base", ["base.json", "../base.json"])
async def test_what_they_extend_is_seen_to_change(tmp_path: Path, base: str) -> None:
    files = FILES | {"pyrightconfig.json": f'{{"extends": "{base}"}}'}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path / "cache", registry=only("pyright")) as running:
        for _ in range(2):
            found, summary = await asked(running)
            assert (found, summary) == (ALL, summary_of("pyright", ALL))
            write_files(root, {base: '{"exclude": ["**/deep"]}'})
            found, summary = await asked(running)
            assert found == ALL - {"more.py"} and summary == summary_of("pyright", found)
            write_files(root, {base: "{}"})


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME"])
async def test_what_a_user_has_at_home_is_nothing_of_the_project(
    tmp_path: Path, variable: str, trusted: bool
) -> None:
    settings = {"ty/ty.toml": '[src]\nexclude = ["tests"]\n', "git/ignore": "tests\n"}
    home = write_files(tmp_path / "home/.config", settings)
    root = write_files(tmp_path / "ws", FILES | {".git/HEAD": "ref: refs/heads/main\n"})
    environment = {
        "PATH": "/usr/bin:/bin",
        variable: str(home if "XDG" in variable else home.parent),
    }
    async with engine(
        root,
        cache=tmp_path / "cache",
        registry=only("ty"),
        environment=environment,
        trusted=lambda root: trusted,
    ) as running:
        assert await asked(running) == (ALL, "Returned 6 references.")


USUAL = (
    ".bzr .direnv .eggs .git .git-rewrite .hg .mypy_cache .nox .pants.d .pytype .ruff_cache .svn "
    ".tox .venv __pypackages__ _build buck-out dist node_modules venv "
    ".hidden build env out target lib"
).split()
BY_DEFAULT = (
    "The server leaves out {} files by default, for the names of their folders; "
    "symbols there may be missing."
)


@pytest.mark.parametrize(
    ("server", "settings"),
    [
        ("ty", ""),
        ("ty", '[tool.ty.src]\nexclude = ["other", "!**/venv/"]\n'),
        ("pyright", ""),
        ("pyright", '[tool.pyright]\nexclude = ["other"]\n'),
    ],
)
async def test_what_is_left_out_by_default(tmp_path: Path, server: str, settings: str) -> None:
    uses = {f"tests/{name}/use_{number}.py": USE for number, name in enumerate(USUAL)}
    root = write_files(tmp_path / "ws", FILES | uses | {"pyproject.toml": PROJECT + settings})
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running)
        names, said = await listed(running)
        # Folders of dependencies and caches are not the project's work.
        own = {path for path in uses if not any(is_dependency(p) for p in path.split("/"))}
        count = len({path for path in own if _name(path) not in names})
        assert said == (BY_DEFAULT.format(count) if count else "")
        left = [path for path in sorted(own) if _name(path) not in found]
        expected = f"Returned {2 * len(found)} references."
        if server == "pyright":
            shown = f"{', '.join(left[:3])}, {len(left) - 3} more"
            expected += " " + unaccounted("target", len(left), "not checked", shown)
        assert (summary, bool(left)) == (expected, server == "pyright")


async def test_it_is_said_as_long_as_it_is_so(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES | {"pyproject.toml": PROJECT})
    async with engine(root, cache=tmp_path / "cache", registry=only("pyright")) as running:
        assert (await asked(running))[0] == ALL
        write_files(root, {"pyrightconfig.json": '{"exclude": ["tests/deep"]} // why'})
        found, summary = await asked(running)
        assert found == ALL - {"more.py"} and summary == summary_of("pyright", found)
        assert await listed(running) == (found, note(1))
        write_files(root, {"tests/deep/other.py": "x = 1\n"})
        assert await asked(running) == (found, summary)
        assert await listed(running) == (found, note(2))
        (root / "pyrightconfig.json").unlink()
        assert await asked(running) == (ALL, "Returned 6 references.")
        assert await listed(running) == (ALL, "")


def test_doctor_counts_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    settings = '[tool.ty.src]\ninclude = ["src"]\n'
    root = write_files(tmp_path / "ws", FILES | {"pyproject.toml": PROJECT + settings})
    assert "; files that are left out: 2\n" in run(home, "doctor", root).stdout
