"""Draws the extension's icon: an eye, its line of sight, and what lies at the end of it.

python -m tools.icon     write editors/vscode/icon.png
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

__all__ = ["draw"]

_SIZE = 128
_SAMPLES = 4
_FILE = Path(__file__).parent.parent / "editors/vscode/icon.png"

Colour = tuple[float, float, float]
_NIGHT: Colour = (16, 34, 58)
_DUSK: Colour = (28, 72, 104)
_PAPER: Colour = (238, 243, 246)
_AMBER: Colour = (255, 183, 64)


def draw() -> bytes:
    """The PNG."""
    rows = b"".join(b"\0" + bytes(row) for row in _rows())
    header = struct.pack(">IIBBBBB", _SIZE, _SIZE, 8, 6, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = struct.pack(">I", zlib.crc32(kind + data))
    return struct.pack(">I", len(data)) + kind + data + check


def _rows() -> Iterator[list[int]]:
    for y in range(_SIZE):
        row: list[int] = []
        for x in range(_SIZE):
            row += _pixel(x, y)
        yield row


def _pixel(x: int, y: int) -> list[int]:
    """The mean of a few points, so that edges are smooth."""
    total = [0.0, 0.0, 0.0, 0.0]
    for i in range(_SAMPLES * _SAMPLES):
        u = (x + (i % _SAMPLES + 0.5) / _SAMPLES) / _SIZE
        v = (y + (i // _SAMPLES + 0.5) / _SAMPLES) / _SIZE
        colour = _point(u, v)
        if colour is not None:
            total = [t + c for t, c in zip(total, (*colour, 255.0), strict=True)]
    count, alpha = _SAMPLES * _SAMPLES, total[3]
    shown = [round(255 * t / alpha) if alpha else 0 for t in total[:3]]
    return [*shown, round(alpha / count)]


def _point(u: float, v: float) -> Colour | None:
    """The colour at a point of the unit square, or none outside the rounded tile."""
    corner = 0.2
    dx, dy = max(corner - u, u - 1 + corner, 0), max(corner - v, v - 1 + corner, 0)
    if dx * dx + dy * dy > corner * corner:
        return None
    target = (u - 0.8) ** 2 + (v - 0.5) ** 2
    eye = (u - 0.34) ** 2 + (v - 0.5) ** 2
    if target < 0.065**2 or (abs(v - 0.5) < 0.014 and 0.34 < u < 0.8):
        return _AMBER
    if eye < 0.085**2:
        return _NIGHT
    if _in_lids(u - 0.34, v - 0.5):
        return _PAPER
    return (
        _NIGHT[0] + (_DUSK[0] - _NIGHT[0]) * v,
        _NIGHT[1] + (_DUSK[1] - _NIGHT[1]) * v,
        _NIGHT[2] + (_DUSK[2] - _NIGHT[2]) * v,
    )


def _in_lids(x: float, y: float) -> bool:
    """Two circles that overlap make the shape of an eye."""
    far, radius = 0.17, 0.29
    return x * x + (y - far) ** 2 < radius**2 and x * x + (y + far) ** 2 < radius**2


if __name__ == "__main__":
    _FILE.write_bytes(draw())
