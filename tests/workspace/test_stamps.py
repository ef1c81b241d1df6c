"""What is known of a file without reading it fits where it is kept, and differs where files do."""

import os

from sightline.workspace.tree import stamp_from


def status(inode: int) -> os.stat_result:
    whole = (0o100644, inode, 1, 1, 0, 0, 3, 0, 1, 2)
    return os.stat_result((*whole, 0.0, 1.5, 2.5, 0, 1_500_000_000, 2_500_000_000))


def test_numbers_that_need_all_bits() -> None:
    """As CIFS and some FUSE file systems number their files."""
    assert stamp_from(status(7)) == (3, 1_500_000_000, 2_500_000_000, 7)
    inodes = [(1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    stamps = [stamp_from(status(inode)) for inode in inodes]
    assert len(set(stamps)) == len(inodes)
    assert all(-(1 << 63) <= number < 1 << 63 for stamp in stamps for number in stamp)
