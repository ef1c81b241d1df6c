"""What many locations cost between the pipe and the first page.

    python -m bench.lsp_many      prints one JSON object

A scripted server answers; its own time is not counted, nor is that of the files it names.
"""

import asyncio
import json
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.support.engine import engine, fake_registry

_LOCATIONS = 19_990
_FILES = 800
_ROUNDS = 15


async def measure(folder: Path) -> dict[str, Any]:
    """Decode, gate, order, deduplicate, retain, and cut the first page."""
    root = folder / "ws"
    chooser = random.Random(1)
    files = [root / f"pkg{number % 40}" / f"module_{number}.py" for number in range(_FILES)]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("x = 1\n")
    locations = [
        {"uri": chooser.choice(files).as_uri(), "range": _range(chooser)} for _ in range(_LOCATIONS)
    ]
    (root / "asked.py").write_text("x = 1\n" * 20)
    registry = fake_registry(folder / "fake", {"textDocument/references": [{"result": locations}]})
    cpu: list[float] = []
    async with engine(root, cache=folder, registry=registry) as running:
        for line in range(_ROUNDS):
            before = time.process_time()
            content = await running.call(
                "vscode.lsp.references",
                uri=running.uri("asked.py"),
                position={"line": line, "character": 0},
            )
            cpu.append(time.process_time() - before)
            assert content["nextCursor"]
    return {
        "locations": _LOCATIONS,
        "rounds": len(cpu),
        "cpu_ms": statistics.median(cpu) * 1000,
        "worst_cpu_ms": max(cpu) * 1000,
    }


def _range(chooser: random.Random) -> dict[str, Any]:
    line, character = chooser.randrange(5000), chooser.randrange(80)
    start = {"line": line, "character": character}
    return {"start": start, "end": {"line": line, "character": character + 9}}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        print(json.dumps(asyncio.run(measure(Path(scratch)))))
