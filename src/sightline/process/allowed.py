"""What a child may do and take, as far as the kernel can hold it to that.

``None`` is anything. What may be run or changed may also be read.
"""

from typing import NamedTuple

__all__ = ["Allowed"]


class Allowed(NamedTuple):
    #: Files, and folders with all that is below them.
    reads: tuple[str, ...] | None = None
    runs: tuple[str, ...] | None = None
    writes: tuple[str, ...] | None = None
    #: How many bytes of its own each of its processes may have; 0 is any number.
    memory: int = 0

    def rules(self) -> list[str]:
        """As keeper.py and landlock.py read them; none where anything is allowed."""
        return [*self._walls(), *([f"m{self.memory}"] if self.memory else [])]

    def _walls(self) -> list[str]:
        kinds = (("r", self.reads), ("x", self.runs), ("w", self.writes))
        if all(places is None for _, places in kinds):
            return []
        return [
            kind + place
            for kind, places in kinds
            for place in (("/",) if places is None else places)
        ]
