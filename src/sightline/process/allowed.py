"""What a child may do outside of itself, as far as the kernel can hold it to that.

``None`` is anything. What may be run or changed may also be read.
"""

from typing import NamedTuple

__all__ = ["Allowed"]


class Allowed(NamedTuple):
    #: Files, and folders with all that is below them.
    reads: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None

    def rules(self) -> list[str]:
        """As landlock.py reads them; none where anything is allowed."""
        kinds = (("r", self.reads), ("x", self.runs), ("w", self.writes))
        if all(places is None for _, places in kinds):
            return []
        return [
            kind + place
            for kind, places in kinds
            for place in (("/",) if places is None else places)
        ]
