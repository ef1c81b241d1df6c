"""What a project says about its compilation runs and writes nothing before it is trusted."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sightline.lsp.registry import Registry
from sightline.process import landlock
from tests.languages.everything import ask_everything
from tests.languages.samples import only
from tests.languages.test_untouched import snapshot
from tests.support.engine import INSTALLED, Engine, engine
from tests.support.files import write_files

MAIN = "int area(void) { return 1; }\nint main(void) { return area(); }\n"
GPU = ["--target=amdgcn-amd-amdhsa", "-mcpu=native", "-nogpulib"]
TOOL = [*GPU, "--amdgpu-arch-tool={ws}/evil.sh"]
HIP = ["-x", "hip", "-nogpuinc", "-nogpulib", "--offload-arch=native"]
CUDA = ["-x", "cuda", "-nogpuinc", "-nogpulib", "--offload-arch=native"]
OPENMP = ["-fopenmp", "-fopenmp-targets=amdgcn-amd-amdhsa", "-nogpulib"]


def flags(*words: str) -> dict[str, str]:
    return {"compile_flags.txt": "".join(f"{word}\n" for word in words)}


def commands(**members: object) -> dict[str, str]:
    entry = {"directory": ".", "file": "main.c"} | members
    return {"compile_commands.json": json.dumps([entry])}


def configured(*words: str) -> str:
    return f"CompileFlags:\n  Add: {json.dumps(words)}\n"


#: Every way in which a driver was seen to run a program that the project chose.
RUNS = {
    "a tool in flags": flags(*TOOL),
    "a tool in arguments": commands(arguments=["cc", *TOOL, "main.c"]),
    "a tool in a command": commands(command=f"cc {' '.join(TOOL)} main.c"),
    "a tool in a configuration": {".clangd": configured(*TOOL)},
    "a tool in a configuration above": {"../.clangd": configured(*TOOL)},
    "a response file": commands(arguments=["cc", "@{ws}/more", "main.c"])
    | {"more": "\n".join(TOOL)},
    "a configuration of the driver": flags("--config={ws}/more") | {"more": "\n".join(TOOL)},
    "a folder of programs": flags(*GPU, "-B{ws}"),
    "a tool by a path that is not absolute": flags(*GPU, "--amdgpu-arch-tool=./evil.sh"),
    "a target in a compiler's name": commands(
        arguments=["amdgcn-amd-amdhsa-clang", *TOOL[1:], "main.c"]
    ),
    "hip": commands(arguments=["clang++", *HIP, "--amdgpu-arch-tool={ws}/evil.sh", "main.c"]),
    "hip, any card": commands(
        arguments=["clang++", *HIP, "--offload-arch-tool={ws}/evil.sh", "main.c"]
    ),
    "cuda": commands(arguments=["clang++", *CUDA, "--nvptx-arch-tool={ws}/evil.sh", "main.c"]),
    "cuda, any card": commands(
        arguments=["clang++", *CUDA, "--offload-arch-tool={ws}/evil.sh", "main.c"]
    ),
    "openmp": flags(*OPENMP, "--offload-arch=native", "--amdgpu-arch-tool={ws}/evil.sh"),
}
#: And to write a file.
WRITES = {
    "a database": flags("-MJ", "{ws}/written.json"),
    "a database outside": flags("-MJ", "{outside}/written.json"),
    "a log": flags("-Xclang", "-diagnostic-log-file", "-Xclang", "{ws}/written.log"),
    "modules": flags("-fmodules", "-fmodules-cache-path={ws}/written")
    | {
        "module.modulemap": 'module M { header "m.h" }\n',
        "m.h": "int m;\n",
        "main.c": f'#include "m.h"\n{MAIN}',
    },
}


class Scene:
    """A project with a payload, and folders beside it where programs can leave their marks."""

    def __init__(self, folder: Path, payload: dict[str, str]) -> None:
        self.root, self.outside, self.cache = folder / "in/ws", folder / "out", folder / "cache"
        for each in (self.root, self.outside, self.cache):
            each.mkdir(parents=True)
        filled = {
            name: text.replace("{ws}", str(self.root)).replace("{outside}", str(self.outside))
            for name, text in payload.items()
        }
        write_files(self.root, {"main.c": MAIN} | filled)
        # Where servers have walls, only the cache can be written to.
        script = f"#!/bin/sh\necho gfx906\n: > '{self.outside}/sprung' || : > $TMPDIR/sprung\n"
        for name in ("evil.sh", "amdgpu-arch", "nvptx-arch", "offload-arch"):
            program = self.root / name
            program.write_text(script)
            program.chmod(0o755)
        self._before = self._state()

    @property
    def is_untouched(self) -> bool:
        return self._state() == self._before and not list(self.cache.rglob("sprung"))

    def _state(self) -> object:
        return snapshot(self.root.parent), snapshot(self.outside)

    async def ask(self, registry: Registry, *, trusted: bool = False) -> None:
        async with engine(
            self.root, cache=self.cache, registry=registry, trusted=lambda root: trusted
        ) as running:
            outcomes = await ask_everything(running, self.root, depth=1)
        assert outcomes["answered"] > 3


def without_walls() -> Registry:
    """A clangd that the kernel does not hold, in the project's folder: one of the user's own."""
    known = only("clangd")
    spec = known.servers["clangd"]
    [program] = (INSTALLED / "clangd").glob("*/clangd/data/bin/clangd")
    own = {"command": (str(program), *spec.command[1:]), "found": "path", "runs_in": "project"}
    servers = {"clangd": msgspec.structs.replace(spec, **own)}
    return Registry(known.languages, servers, known.packages)


WALLS = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")
PAYLOADS = RUNS | WRITES
ACTS = pytest.mark.parametrize("payload", PAYLOADS.values(), ids=PAYLOADS.keys())


@ACTS
async def test_the_traps_work(payload: dict[str, str], tmp_path: Path) -> None:
    """A check that cannot fail proves nothing. Running is also what trust is for."""
    scene = Scene(tmp_path, payload)
    await scene.ask(without_walls(), trusted=True)
    assert not scene.is_untouched


@ACTS
async def test_no_flag_runs_or_writes_anything(payload: dict[str, str], tmp_path: Path) -> None:
    scene = Scene(tmp_path, payload)
    await scene.ask(without_walls())
    assert scene.is_untouched


@ACTS
async def test_nor_as_it_is_installed(payload: dict[str, str], tmp_path: Path) -> None:
    scene = Scene(tmp_path, payload)
    await scene.ask(only("clangd"))
    assert scene.is_untouched


@WALLS
@ACTS
async def test_the_kernel_alone_prevents_it(
    payload: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if somebody had found a flag that is listed and does harm."""

    def believed(project: object, lines: object, entries: object, flags: object) -> object:
        return lines, entries, set()

    monkeypatch.setattr("sightline.lsp.c.compile_database._harmless", believed)
    monkeypatch.setattr("sightline.lsp.c.clangd_configuration.is_plain", lambda *given: True)
    scene = Scene(tmp_path, payload)
    await scene.ask(only("clangd"))
    assert scene.is_untouched


@WALLS
@pytest.mark.parametrize("payload", WRITES.values(), ids=WRITES.keys())
async def test_nothing_is_written_even_where_flags_are_used(
    payload: dict[str, str], tmp_path: Path
) -> None:
    scene = Scene(tmp_path, payload)
    await scene.ask(only("clangd"), trusted=True)
    assert scene.is_untouched


TWICE = {"main.c": "int area(void);\n#ifdef TWICE\nint main(void) { return area(); }\n#endif\n"}


async def test_what_is_not_used_is_said_once_and_trust_ends_it(tmp_path: Path) -> None:
    """The other flags count."""
    scene = Scene(tmp_path, TWICE | flags("-DTWICE", "-B.", "@more", "-g", "-o", "x", "-Wall"))
    async with engine(scene.root, cache=scene.cache, registry=only("clangd")) as running:
        found = await uses(running)
    assert (len(found["items"]), found["summary"].count("trust")) == (2, 2), found
    assert "2 compiler flags are not used before this folder is trusted" in found["summary"]
    async with engine(
        scene.root, cache=scene.cache, registry=only("clangd"), trusted=lambda root: True
    ) as running:
        assert "trust" not in (await uses(running))["summary"]


async def test_a_configuration_that_appears_while_it_runs(tmp_path: Path) -> None:
    """A plain one is used; one that is not plain ends the reading of all of them."""
    scene = Scene(tmp_path, TWICE)
    async with engine(scene.root, cache=scene.cache, registry=only("clangd")) as running:
        assert len((await uses(running))["items"]) == 1
        write_files(scene.root, {".clangd": configured("-DTWICE")})
        assert len((await uses(running))["items"]) == 2
        write_files(scene.root.parent, {".clangd": configured(*TOOL)})
        found = await uses(running)
    assert len(found["items"]) == 1
    assert ".clangd is not used before this folder is trusted" in found["summary"]
    assert not list(tmp_path.rglob("sprung"))


async def uses(running: Engine) -> Any:
    position = {"line": 0, "character": 4}
    return await running.call(
        "vscode.lsp.references",
        uri=running.uri("main.c"),
        position=position,
        includeDeclaration=True,
    )
