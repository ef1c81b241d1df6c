"""How a workspace is written or reached makes no difference: line ends, links."""

from pathlib import Path

import pytest

from tests.markers.archive import SECTION
from tests.support.engine import engine
from tests.uses.test_uses import HERE, unmarked, uses

ARCHIVES = ["python/modules", "python/unknown_type", "python/stubs", "typescript/unknown_type"]


async def answers(
    archive: str, root: Path, opened: Path, cache: Path, ends: str
) -> tuple[dict[str, str], dict[str, str]]:
    """What an archive expects, and what is said where its lines end in another way."""
    _, *sections = SECTION.split((HERE / f"{archive}.txt").read_text(encoding="utf-8"))
    marks: dict[str, tuple[str, int, int]] = {}
    expected: dict[str, str] = {}
    for name, body in zip(sections[::2], sections[1::2], strict=True):
        if name.startswith("references "):
            expected[name.removeprefix("references ")] = body.strip("\n")
            continue
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        text = unmarked(name, body.removeprefix("\n"), marks).replace("\n", ends)
        target.write_text(text, encoding="utf-8", newline="")
    async with engine(opened, cache=cache) as running:
        return expected, {
            mark: await uses(running, marks[mark], declaration=False) for mark in expected
        }


@pytest.mark.parametrize("archive", ARCHIVES)
async def test_lines_may_end_as_on_windows(tmp_path: Path, archive: str) -> None:
    root = tmp_path / "ws"
    expected, said = await answers(archive, root, root, tmp_path / "cache", "\r\n")
    assert said == expected


@pytest.mark.parametrize("archive", ["python/modules", "typescript/unknown_type"])
async def test_a_root_may_be_a_link(tmp_path: Path, archive: str) -> None:
    root, link = tmp_path / "real", tmp_path / "link"
    root.mkdir()
    link.symlink_to(root)
    expected, said = await answers(archive, root, link, tmp_path / "cache", "\n")
    assert said == expected
