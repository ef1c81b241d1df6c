"""The plot of recall over budgets, drawn by matplotlib in an environment of its own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["draw"]

_FOLDER = Path(__file__).parent.parent / ".cache" / "plots"
_PINNED = "matplotlib==3.10.7"
_SCRIPT = """
import json, sys
import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt
recall, target = json.load(sys.stdin)
figure, axes = plt.subplots(figsize=(8, 5), dpi=110)
for rival, kinds in recall.items():
    if rival.endswith("same questions"):
        continue
    points = sorted((int(budget), means[0]) for budget, means in kinds["all"].items())
    axes.plot(*zip(*points), marker="o", label=rival, linewidth=3 if rival == "Sightline" else 1.5)
axes.set_xscale("log", base=2)
axes.set_xticks([500 * 2**n for n in range(7)], [f"{500 * 2**n:,}" for n in range(7)])
axes.set_xlabel("budget in tokens (4 bytes each)")
axes.set_ylabel("recall of the needed definitions")
axes.set_ylim(0, 1)
axes.grid(alpha=0.3)
axes.legend()
figure.tight_layout()
figure.savefig(target, metadata={"Software": None})
"""


def draw(recall: dict[str, Any], target: Path) -> None:
    python = _FOLDER / "bin" / "python"
    if not (_FOLDER / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", str(_FOLDER)], check=True)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", _PINNED],
            check=True,
            stderr=subprocess.DEVNULL,
        )
        (_FOLDER / "installed").touch()
    subprocess.run(
        [str(python), "-c", _SCRIPT],
        input=json.dumps([recall, str(target)]),
        text=True,
        check=True,
        stderr=subprocess.DEVNULL,
    )
