"""One file in, its chunks out: the way a language is cut, and the way out when that fails."""

from sightline.index.cutting.chunks import Chunk
from sightline.index.cutting.windows import cut_windows
from sightline.index.reading.languages import LANGUAGES

__all__ = ["cut"]


def cut(data: bytes, language: str, *, parse: bool = True) -> list[Chunk]:
    """The chunks of a UTF-8 text. ``parse`` false keeps grammars away from it."""
    shape = LANGUAGES[language].shape
    if shape == "declarations" and parse and not _odd_lines(data):
        from sightline.index.cutting.declarations import cut_declarations

        return cut_declarations(data, language)
    if shape == "headings":
        from sightline.index.cutting.headings import cut_headings

        return cut_headings(data, language)
    if shape == "keys":
        from sightline.index.cutting.keys import cut_keys

        return cut_keys(data, language)
    return cut_windows(data)


def _odd_lines(data: bytes) -> bool:
    """Lone carriage returns end lines for the editor but not for the grammars."""
    return b"\r" in data and data.count(b"\r") != data.count(b"\r\n")
