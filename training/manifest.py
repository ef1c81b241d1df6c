"""The manifest: every repository that was used, at which commit, under which licences, how deep.

A line is enough to mine the same again: ``training.mine --manifest FILE`` takes each repository at
its commit and depth, whatever its newest commit has become.

    repository  commit  licences  depth  mined
    acme/alpha  3e21…   MIT       files=5000 commits=1500 merges=400  files=308 d=181 …

Where the snapshot that was mined lacked a large file, ``until=`` names it: history is read until a
change of it, also from a clone that holds the file.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Depth", "Line", "read_manifest", "write_manifest"]


class Depth(NamedTuple):
    """How much of a repository is mined: files spread over it, and its newest commits and merges."""

    files: int = 5_000
    commits: int = 1_500
    merges: int = 400
    #: Blobs at whose change the reading of history ends.
    until: tuple[str, ...] = ()

    def __str__(self) -> str:
        texts = [f"files={self.files}", f"commits={self.commits}", f"merges={self.merges}"]
        return " ".join([*texts, *([f"until={','.join(self.until)}"] if self.until else [])])

    @classmethod
    def parse(cls, text: str) -> "Depth":
        said = dict(part.split("=") for part in text.split())
        until = tuple(said.pop("until", "").split(",")) if "until" in said else ()
        return cls(**{name: int(value) for name, value in said.items()}, until=until)


class Line(NamedTuple):
    """What was done with one repository."""

    repository: str
    commit: str
    licences: str
    depth: str
    mined: str


def read_manifest(path: Path) -> list[Line]:
    return [Line(*text.split("\t")) for text in path.read_text("utf-8").splitlines()[1:]]


def write_manifest(lines: Iterable[Line], path: Path) -> None:
    rows = ["\t".join(Line._fields), *sorted("\t".join(line) for line in lines)]
    path.write_text("".join(f"{row}\n" for row in rows), "utf-8")
