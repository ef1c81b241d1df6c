"""Generated files: written anew, or with ``--check`` only compared with what they should be."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["settle", "write"]

_ROOT = Path(__file__).parent.parent


def write(files: Mapping[Path, str], about: str | None) -> int:
    """What a command that makes these files exits with; it reads its own arguments."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--check", action="store_true", help="only tell whether all is up to date")
    return settle(files, check=parser.parse_args().check)


def settle(files: Mapping[Path, str], *, check: bool) -> int:
    """Writes what differs, or says so; what a command exits with."""
    old = [file for file, text in files.items() if not _holds(file, text)]
    if check and old:
        names = ", ".join(str(file.relative_to(_ROOT)) for file in old)
        print(f"out of date: {names}; run make docs", file=sys.stderr)
        return 1
    for file in old:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(files[file], encoding="utf-8")
    return 0


def _holds(file: Path, text: str) -> bool:
    return file.exists() and file.read_text(encoding="utf-8") == text
