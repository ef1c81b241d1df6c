"""What go.mod and go.work say, and which modules are not there."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.contract.uris import above
from sightline.lsp.go import gomod
from tests.support.files import write_files

GO_MOD = """module example.com/app // the app

go 1.24

require (
\texample.com/dep v1.2.3
\texample.com/Upper/Case v0.1.0
\t"example.com/quoted" v1.0.0
\texample.com/far v1.0.0 // indirect
)

require example.com/single v2.0.0+incompatible

replace example.com/near => ../near

replace (
\texample.com/dep v1.2.3 => example.com/fork v1.9.0
\tbroken =>
)
"""


def missing(folder: Path, cache: Path) -> list[str]:
    top = str(folder.parent)
    return gomod.not_downloaded(str(folder), above(str(folder), top), str(cache))


def test_statements_and_blocks() -> None:
    found = gomod.module(GO_MOD)
    assert found.path == "example.com/app"
    assert found.requires == {
        "example.com/dep": "v1.2.3",
        "example.com/Upper/Case": "v0.1.0",
        "example.com/quoted": "v1.0.0",
        "example.com/single": "v2.0.0+incompatible",
    }
    assert found.replaces == {
        "example.com/near": ("../near", ""),
        "example.com/dep": ("example.com/fork", "v1.9.0"),
    }


@example('=""')
@example('"" a')
@example('"" => a')
@example('a => ""')
@given(st.text(st.sampled_from('a./ \n\t()=>"`rquielpcmodus'), max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = gomod.module(f"module {text}\nrequire {text}\nreplace {text}\n{text}")
    assert all(path and version for path, version in found.requires.items())
    assert all(path and target for path, (target, _) in found.replaces.items())


@pytest.mark.parametrize("path", ["a\x1b[1m", "a b", "a;rm", ""])
def test_a_path_that_is_none_is_nobody_s(path: str) -> None:
    assert gomod.module(f'module "{path}"\n').path == ""


def test_what_was_not_downloaded(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", {"app/go.mod": GO_MOD, "near/go.mod": "module near\n"})
    cache = tmp_path / "mod"
    absent = ["example.com/Upper/Case", "example.com/dep", "example.com/quoted"]
    assert missing(root / "app", cache) == [*absent, "example.com/single"]
    for name in ("!upper/!case@v0.1.0", "fork@v1.9.0", "quoted@v1.0.0"):
        (cache / "example.com" / name).mkdir(parents=True)
    assert missing(root / "app", cache) == ["example.com/single"]
    write_files(root, {"app/vendor/modules.txt": ""})
    assert missing(root / "app", cache) == []


def test_a_go_work_finds_what_it_names(tmp_path: Path) -> None:
    needy = "module app\nrequire near v1.0.0\nrequire far v1.0.0\n"
    files = {"app/go.mod": needy, "near/go.mod": "module near\n"}
    root = write_files(tmp_path / "ws", files)
    assert missing(root / "app", tmp_path) == ["far", "near"]
    write_files(root, {"go.work": "go 1.24\nuse (\n\t./app\n\t./near\n)\nreplace far => ./far\n"})
    assert missing(root / "app", tmp_path) == []
    write_files(root, {"go.work": "go 1.24\nuse ./near\nreplace far => ./far\n"})
    assert missing(root / "app", tmp_path) == ["far", "near"]


def test_where_the_modules_are(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert gomod.cache_of(home) == f"{tmp_path}/go/pkg/mod"
    write_files(tmp_path, {".config/go/env": "GOPATH=/one:/two\n"})
    assert gomod.cache_of(home) == "/one/pkg/mod"
    assert gomod.cache_of(home | {"GOPATH": "/three"}) == "/three/pkg/mod"
    assert gomod.cache_of(home | {"GOMODCACHE": "/four"}) == "/four"
