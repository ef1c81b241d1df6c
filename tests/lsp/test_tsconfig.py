"""What is read of TypeScript's configurations, against the installed compilers."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.lsp.install.locks import platform_name
from sightline.lsp.typescript import tsconfig
from tests.support.engine import INSTALLED
from tests.support.files import write_files

SOURCES = (
    "top.ts src/a.ts src/x/b.ts src/x/y/c.ts src/j.js src/.hidden.ts out/o.ts out/x/p.ts "
    "lib/l.ts lib/.h/q.ts conf/k.ts conf/src/z.ts app/src/a.ts app/src/n.d.ts app/out/w.ts"
).split()
VTSLS = INSTALLED / "vtsls/0.3.0/node_modules/typescript/lib/tsc.js"
(TSGO,) = INSTALLED.glob(f"tsgo/*/node_modules/@typescript/*-{platform_name()}/lib/tsgo")
COMPILERS = {"vtsls": ["node", str(VTSLS)], "tsgo": [str(TSGO)]}


def options(**given: Any) -> dict[str, Any]:
    return {"compilerOptions": given}


#: What a configuration says, and what the one that it extends does, if there is one.
CONFIGURATIONS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"include": ["src/**/*", "lib/**"], "exclude": ["src/x/**"]}, {}),
    ({"include": ["src", "**/../lib/*"], "exclude": ["src/**/../x"]}, {}),
    ({"include": ["./src/../lib", "*/*.ts", "?pp/*"]}, {}),
    ({"include": ["src\\x", "./"], "exclude": ["./out/", "**/src/*.ts"]}, {}),
    ({"files": ["./src/x/b.ts"], "include": ["lib/l.ts", "src/**/."]}, {}),
    ({"files": []} | options(allowJs=True), {}),
    (options(outDir="out", declarationDir="app/out", allowJs=True), {}),
    (options(outDir="out") | {"exclude": ["lib"]}, {}),
    (options(outDir="**/.."), {}),
    (options(checkJs=True), options(allowJs=False)),
    ({"extends": "./conf/b.json"}, {"include": ["${configDir}/src", "${configDir}lib", "src"]}),
    ({"extends": "./conf/b"}, {"exclude": ["${configDir}/src/x", "../lib"]}),
    ({"extends": "./conf/b"}, {"files": ["${configDir}/src/x/b.ts", "k.ts"], "include": ["src"]}),
    ({"extends": "./conf/b.json", "include": ["app"]}, options(outDir="${configDir}/app/out")),
    ({"extends": [".\\conf\\b"], "files": ["top.ts"]}, {"include": ["src/*"], "exclude": ["src"]}),
]


@pytest.mark.parametrize("compiler", list(COMPILERS))
@pytest.mark.parametrize(("own", "base"), CONFIGURATIONS)
def test_as_compilers_do(
    tmp_path: Path, compiler: str, own: dict[str, Any], base: dict[str, Any]
) -> None:
    files = dict.fromkeys(SOURCES, "export const a = 1\n")
    files |= {"tsconfig.json": json.dumps(own), "conf/b.json": json.dumps(base)}
    root = write_files(tmp_path, files)
    command = [*COMPILERS[compiler], "--listFilesOnly", "--noLib", "-p", str(root)]
    lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    configuration = tsconfig.read(f"{root}/tsconfig.json")
    assert configuration.is_sure
    found = {name for name in SOURCES if configuration.includes(f"{root}/{name}")}
    assert found == {name for name in SOURCES if f"{root}/{name}" in lines}


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text("a*/.$\\\x00\ud800", max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "a/*", "baseUrl", "."]), inner, max_size=3)
    ),
    max_leaves=6,
)
OPTIONS = st.sampled_from(
    ["outDir", "declarationDir", "rootDir", "baseUrl", "paths", "allowJs", "customConditions"]
)
SAID = JSON | st.fixed_dictionaries(
    {},
    optional={
        "extends": JSON | st.just("./base") | st.just(["./base.json", "./tsconfig.json", "p"]),
        "references": JSON | st.lists(st.fixed_dictionaries({"path": JSON | st.just("./base")})),
        "compilerOptions": JSON | st.dictionaries(OPTIONS, JSON, max_size=4),
        "files": JSON,
        "include": JSON,
        "exclude": JSON,
    },
)


@given(SAID, SAID, JSON)
def test_whatever_they_say(
    tmp_path_factory: pytest.TempPathFactory, own: Any, base: Any, exports: Any
) -> None:
    """Nothing that a configuration can hold is an error here."""
    root = tmp_path_factory.mktemp("ws")
    write_files(root, {"tsconfig.json": json.dumps(own), "base.json": json.dumps(base)})
    manifest = json.dumps({"exports": exports, "tsconfig": exports})
    write_files(root, {"src/a.ts": "", "node_modules/p/package.json": manifest})
    path, file = f"{root}/tsconfig.json", f"{root}/src/a.ts"
    held = tsconfig.held_open([file], [path], reword=True)
    assert file in held.opened or "src/a.ts" in [name[len(str(root)) + 1 :] for name in held.named]
    tsconfig.all_of(f"{root}/src", str(root))
    tsconfig.Owners([path], [f"{root}/base.json"]).all()
    tsconfig.known_names(path), tsconfig.leading(path), tsconfig.folder_option(path, "rootDir")


@given(st.text('{}[]",:ab/*\\ \n', max_size=20))
def test_whatever_a_text_is(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """A configuration is read, or it is told that it is not; then no file is surely in it."""
    root = write_files(tmp_path_factory.mktemp("ws"), {"tsconfig.json": text, "a.ts": ""})
    held = tsconfig.held_open([f"{root}/a.ts"], [f"{root}/tsconfig.json"])
    assert held.opened == (f"{root}/a.ts",)
    assert held.named == ((f"{root}/a.ts",) if held.unread else ())
