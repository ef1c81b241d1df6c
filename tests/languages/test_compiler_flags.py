"""What a project says about its compilation runs and writes nothing before it is trusted."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.languages.everything import ask_everything
from tests.languages.samples import only
from tests.languages.test_untouched import snapshot
from tests.support.engine import Engine, engine
from tests.support.files import write_files

MAIN = "int area(void) { return 1; }\nint main(void) { return area(); }\n"
GPU = ["--target=amdgcn-amd-amdhsa", "-mcpu=native", "-nogpulib"]
TOOL = [*GPU, "--amdgpu-arch-tool=./evil.sh"]
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
    "a response file": commands(arguments=["cc", "@more", "main.c"]) | {"more": "\n".join(TOOL)},
    "a configuration of the driver": flags("--config=./more") | {"more": "\n".join(TOOL)},
    "a folder of programs": flags(*GPU, "-B."),
    "a target in a compiler's name": commands(
        arguments=["amdgcn-amd-amdhsa-clang", *TOOL[1:], "main.c"]
    ),
    "hip": commands(arguments=["clang++", *HIP, "--amdgpu-arch-tool=./evil.sh", "main.c"]),
    "hip, any card": commands(
        arguments=["clang++", *HIP, "--offload-arch-tool=./evil.sh", "main.c"]
    ),
    "cuda": commands(arguments=["clang++", *CUDA, "--nvptx-arch-tool=./evil.sh", "main.c"]),
    "cuda, any card": commands(
        arguments=["clang++", *CUDA, "--offload-arch-tool=./evil.sh", "main.c"]
    ),
    "openmp": flags(*OPENMP, "--offload-arch=native", "--amdgpu-arch-tool=./evil.sh"),
}
#: And to write a file.
WRITES = {
    "a database": flags("-MJ", "{ws}/written.json"),
    "a database outside": flags("-MJ", "{outside}/written.json"),
    "a log": flags("-Xclang", "-diagnostic-log-file", "-Xclang", "{ws}/written.log"),
    "modules": flags("-fmodules", "-fmodules-cache-path=./written")
    | {
        "module.modulemap": 'module M { header "m.h" }\n',
        "m.h": "int m;\n",
        "main.c": f'#include "m.h"\n{MAIN}',
    },
}


class Scene:
    """A project with a payload, and a folder beside it where programs leave their marks."""

    def __init__(self, folder: Path, payload: dict[str, str]) -> None:
        self.root, self.outside, self.cache = folder / "in/ws", folder / "out", folder / "cache"
        for each in (self.root, self.outside, self.cache):
            each.mkdir(parents=True)
        filled = {
            name: text.replace("{ws}", str(self.root)).replace("{outside}", str(self.outside))
            for name, text in payload.items()
        }
        write_files(self.root, {"main.c": MAIN} | filled)
        script = f"#!/bin/sh\n: > '{self.outside}/sprung'\necho gfx906\n"
        for name in ("evil.sh", "amdgpu-arch", "nvptx-arch", "offload-arch"):
            program = self.root / name
            program.write_text(script)
            program.chmod(0o755)
        self.before = self.state()

    def state(self) -> object:
        return snapshot(self.root.parent), snapshot(self.outside)

    async def ask(self, *, trusted: bool = False) -> None:
        async with engine(
            self.root,
            cache=self.cache,
            registry=only("clangd"),
            trusted=lambda root: trusted,
        ) as running:
            outcomes = await ask_everything(running, self.root, depth=1)
        assert outcomes["answered"] > 3


@pytest.mark.parametrize("payload", RUNS.values(), ids=RUNS.keys())
async def test_the_traps_work(payload: dict[str, str], tmp_path: Path) -> None:
    """A check that cannot fail proves nothing. It is also what trust is for."""
    scene = Scene(tmp_path, payload)
    await scene.ask(trusted=True)
    assert (scene.outside / "sprung").exists()


@pytest.mark.parametrize("payload", RUNS.values(), ids=RUNS.keys())
async def test_no_flag_runs_a_program(payload: dict[str, str], tmp_path: Path) -> None:
    scene = Scene(tmp_path, payload)
    await scene.ask()
    assert scene.state() == scene.before


@pytest.mark.parametrize("payload", WRITES.values(), ids=WRITES.keys())
async def test_no_flag_writes_a_file(payload: dict[str, str], tmp_path: Path) -> None:
    scene = Scene(tmp_path, payload)
    await scene.ask()
    assert scene.state() == scene.before


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
    assert not (scene.outside / "sprung").exists()


async def uses(running: Engine) -> Any:
    position = {"line": 0, "character": 4}
    return await running.call(
        "vscode.lsp.references",
        uri=running.uri("main.c"),
        position=position,
        includeDeclaration=True,
    )
