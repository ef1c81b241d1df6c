"""Made files for tests."""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["write_files"]


def write_files(root: Path, files: Mapping[str, str]) -> Path:
    """Writes texts by their paths below ``root``, with the folders they need; ``root``."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root
