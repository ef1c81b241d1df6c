"""What stands in the way of uses is said, also where others use a thing by another name."""

from pathlib import Path
from typing import Any

import pytest

from tests.languages.samples import only
from tests.support.engine import engine
from tests.support.files import write_files

TYPESCRIPT = {
    "tsconfig.json": '{"compilerOptions": {"module": "esnext", "moduleResolution": "bundler"}}',
    "src/cart.ts": "function total() {}\nexport { total as sum }\n",
    "src/main.ts": 'import { sum } from "@/cart"\nsum()\n',
}
PYTHON = {
    "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n',
    "lib/core/__init__.py": "from core.m import total as sum_\n",
    "lib/core/m.py": "def total(): ...\n",
    "tests/test_it.py": "from core import sum_\n\nsum_()\n",
}


async def uses(root: Path, cache: Path, server: str, name: str, character: int) -> Any:
    async with engine(root, cache=cache, registry=only(server)) as running:
        position = {"line": 0, "character": character}
        return await running.call("vscode.lsp.references", uri=running.uri(name), position=position)


@pytest.mark.parametrize("server", ["tsgo", "vtsls"])
async def test_in_typescript(tmp_path: Path, server: str) -> None:
    root = write_files(tmp_path / "ws", TYPESCRIPT)
    answer = await uses(root, tmp_path, server, "src/cart.ts", 9)
    assert "@/* are not resolved in 1 file" in answer["summary"]


@pytest.mark.parametrize("server", ["ty", "pyright"])
async def test_in_python(tmp_path: Path, server: str) -> None:
    root = write_files(tmp_path / "ws", PYTHON)
    answer = await uses(root, tmp_path, server, "lib/core/m.py", 4)
    assert "not resolved" in answer["summary"]
