"""Values to compare with, made elsewhere. ``load`` reads one file of them."""

import json
from pathlib import Path
from typing import Any

__all__ = ["load"]


def load(name: str) -> Any:
    return json.loads(Path(__file__).with_name(f"{name}.json").read_text(encoding="utf-8"))
