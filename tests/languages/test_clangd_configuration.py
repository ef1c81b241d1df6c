"""What people and projects tell clangd is believed, except where answers would be incomplete."""

import os
from pathlib import Path

from tests.languages.samples import only
from tests.languages.test_headers import FILES, uses
from tests.support.engine import engine
from tests.support.files import write_files

CONDITIONAL = '#include "shapes/area.h"\n#ifdef TWICE\nint use() { return area(2); }\n#endif\n'
BOTH, ONE = {"src/use.cpp", "tests/check.cpp"}, {"tests/check.cpp"}
TWICE = "CompileFlags:\n  Add: [-DTWICE]\n"


async def test_a_project_that_keeps_files_from_the_index(tmp_path: Path) -> None:
    skips = "Index:\n  Background: Skip\n"
    root = write_files(tmp_path / "ws", FILES | {".clangd": skips})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running))[0] == BOTH


async def test_flags_that_a_project_adds(tmp_path: Path) -> None:
    """Believed at once and in the next process, though the index was made without them."""
    files = FILES | {"src/use.cpp": CONDITIONAL}
    root = write_files(tmp_path / "ws", files)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running))[0] == ONE
        write_files(root, {".clangd": TWICE})
        assert (await uses(running))[0] == BOTH
        (root / ".clangd").unlink()
        assert (await uses(running))[0] == ONE
    write_files(root, {"src/.clangd": TWICE})
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running))[0] == BOTH


async def test_flags_that_a_repository_around_the_root_adds(tmp_path: Path) -> None:
    files = {f"part/{name}": text for name, text in FILES.items()}
    top = write_files(tmp_path / "ws", files | {"part/src/use.cpp": CONDITIONAL})
    (top / ".git").mkdir()
    async with engine(top / "part", cache=tmp_path, registry=only("clangd")) as running:
        assert (await uses(running))[0] == ONE
        write_files(top, {".clangd": TWICE})
        assert (await uses(running))[0] == BOTH


async def test_the_configuration_of_the_user(tmp_path: Path) -> None:
    root = write_files(tmp_path / "ws", FILES | {"src/use.cpp": CONDITIONAL})
    home = tmp_path / "home"
    own = {"PATH": os.environ["PATH"], "HOME": str(home)}
    skips = "Index:\n  Background: Skip\n---\n"
    name = ".config/clangd/config.yaml"
    async with engine(root, cache=tmp_path, registry=only("clangd"), environment=own) as running:
        assert (await uses(running))[0] == ONE
        write_files(home, {name: skips + TWICE})
        assert (await uses(running))[0] == BOTH
        (home / name).unlink()
        assert (await uses(running))[0] == ONE
    assert list(root.rglob("*.yaml")) == []


async def test_a_workspace_is_nobodys_configuration(tmp_path: Path) -> None:
    files = FILES | {"src/use.cpp": CONDITIONAL, "clangd/config.yaml": TWICE}
    root = write_files(tmp_path / "ws", files)
    own = {"PATH": os.environ["PATH"], "XDG_CONFIG_HOME": str(root)}
    async with engine(root, cache=tmp_path, registry=only("clangd"), environment=own) as running:
        assert (await uses(running))[0] == ONE


async def test_the_standard_library_is_not_read(tmp_path: Path) -> None:
    """It is read some seconds after a start, and its names would come and go in answers."""
    root = write_files(tmp_path / "ws", FILES)
    async with engine(root, cache=tmp_path, registry=only("clangd")) as running:
        await uses(running)
        [written] = (tmp_path / "servers/clangd").glob("*/configurations/clangd/config.yaml")
        assert "StandardLibrary: No" in written.read_text(encoding="utf-8")
