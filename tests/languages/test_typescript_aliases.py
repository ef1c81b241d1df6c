"""Names of own files that only a bundler knows: said where TypeScript's servers miss uses."""

import json
from pathlib import Path

import pytest

from tests.languages.samples import only
from tests.support.engine import INSTALLED, Engine, engine
from tests.support.files import write_files
from tests.support.program import run

SHAPE = "export function area(x) {\n  return x * x\n}\n"
DEPENDS = '{"name": "app", "dependencies": {"@ui/lib": "1"}}'


#: What has the word and is no use. Where it stood nowhere else, nothing would be said.
NOISE = {"src/noise.js": "{ const area = 2 }\n"}


def use(name: str) -> str:
    return f'import {{ area }} from "{name}"\nconsole.log(area(2))\n'


def paths(**given: list[str]) -> str:
    return json.dumps({"compilerOptions": {"paths": given}})


def imports(name: str, target: str | None) -> dict[str, str]:
    return {
        "package.json": json.dumps({"type": "module", "imports": {name: target}}),
        "jsconfig.json": '{"compilerOptions": {"module": "nodenext"}}',
    }


#: How ``src/main.js`` names ``src/lib/shape.js``, what else there is, and what is said.
CASES: dict[str, tuple[str, dict[str, str], str]] = {
    "its place": ("./lib/shape.js", {}, ""),
    "a mark": ("@/lib/shape", {}, "@/*"),
    "a mark and an ending": ("~/lib/shape.js", {}, "~/*"),
    "a marked folder": ("@lib/shape", {}, "@lib/*"),
    "a folder": ("src/lib/shape", {}, "src/*"),
    "a pattern": ("@/lib/shape", {"jsconfig.json": paths(**{"@/*": ["./src/*"]})}, ""),
    "a pattern for something else": (
        "@/lib/shape",
        {"jsconfig.json": paths(**{"~/*": ["./src/*"]})},
        "@/*",
    ),
    "a folder that is the base": (
        "lib/shape",
        {"jsconfig.json": '{"compilerOptions": {"baseUrl": "src"}}'},
        "",
    ),
    "imports of a package": ("#lib/shape.js", imports("#lib/*", "./src/lib/*"), ""),
    "imports with an ending": ("#lib/shape", imports("#lib/*", "./src/lib/*.js"), ""),
    "one import of a package": ("#lib/shape", imports("#lib/shape", "./src/lib/shape.js"), ""),
    "a folder that a package imports": ("#lib/shape.js", imports("#lib/", "./src/lib/"), ""),
    "imports of a package for something else": (
        "#lib/shape.js",
        imports("#library/*", "./src/lib/*"),
        "#lib/*",
    ),
    "imports of another package": (
        "#lib/shape.js",
        imports("#lib/*", "./src/lib/*") | {"src/package.json": '{"type": "module"}'},
        "#lib/*",
    ),
    "imports that lead nowhere": ("#lib/shape.js", imports("#lib/*", None), "#lib/*"),
}
#: Names that may end like a file of one's own, and stand for something else.
OTHERS = {
    "a dependency": ("@ui/lib/shape", {"package.json": DEPENDS}),
    "a package that is there": (
        "lib/shape",
        {"node_modules/lib/shape.js": SHAPE, "node_modules/lib/package.json": "{}"},
    ),
    "a package of another name": ("other/shape", {}),
    "what a plugin makes": ("virtual:lib/shape", {}),
}


async def asked(running: Engine) -> tuple[bool, str]:
    answer = await running.call(
        "vscode.lsp.references",
        uri=running.uri("src/lib/shape.js"),
        position={"line": 0, "character": 17},
    )
    uris = {item["uri"] for item in answer["items"]}
    return running.uri("src/main.js") in uris, answer["summary"]


def note(name: str, files: str = "1 file") -> str:
    return f"Imports of {name} are not resolved in {files}; uses there may be missing."


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
@pytest.mark.parametrize("case", list(CASES))
async def test_it_is_said_where_uses_are_missed(tmp_path: Path, server: str, case: str) -> None:
    name, files, said = CASES[case]
    sources = {"src/lib/shape.js": SHAPE, "src/main.js": use(name), **NOISE}
    root = write_files(tmp_path / "ws", sources | files)
    async with engine(root, cache=tmp_path / "cache", registry=only(server)) as running:
        found, summary = await asked(running)
        assert found == (said == "")
        assert (note(said) in summary) if said else ("not resolved" not in summary)


@pytest.mark.parametrize("case", list(OTHERS))
async def test_nothing_is_said_of_what_is_somebody_elses(tmp_path: Path, case: str) -> None:
    name, files = OTHERS[case]
    sources = {"src/lib/shape.js": SHAPE, "src/main.js": use(name)}
    root = write_files(tmp_path / "ws", sources | files)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        assert "not resolved" not in (await asked(running))[1]


async def test_it_is_said_until_a_pattern_is_there(tmp_path: Path) -> None:
    sources = {"src/lib/shape.js": SHAPE, "src/main.js": use("@/lib/shape")}
    root = write_files(tmp_path / "ws", sources)
    async with engine(root, cache=tmp_path / "cache", registry=only("tsgo")) as running:
        assert note("@/*") in (await asked(running))[1]
        write_files(root, {"src/more.js": use("@/lib/shape")})
        assert note("@/*", "2 files") in (await asked(running))[1]
        write_files(root, {"jsconfig.json": paths(**{"@/*": ["./src/*"]}), **NOISE})
        found, summary = await asked(running)
        assert found and "not resolved" not in summary


def test_doctor_says_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    servers = home / ".local/share/sightline"
    servers.mkdir(parents=True, mode=0o700)
    (servers / "servers").symlink_to(INSTALLED)
    sources = {"src/lib/shape.js": SHAPE, "src/main.js": use("@/lib/shape")}
    root = write_files(tmp_path / "ws", sources)
    said = run(home, "doctor", root).stdout
    assert ", ready; imports of own modules are not resolved: @/*\n" in said
    assert "compilerOptions.paths" in said
