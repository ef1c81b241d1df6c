"""Names that are spelled nearly like one that is not there."""

from sightline.index.searching.nearby import closest
from sightline.symbols.sources import Sources

__all__ = ["near"]

_MOST_LONGER = 3


def near(sources: Sources, name: str) -> tuple[str, ...]:
    """The words of the project's texts most like a name, whatever their case, in a thread."""
    alike = (word for word in sources.words() if abs(len(word) - len(name)) <= _MOST_LONGER)
    return tuple(word for word in closest(name, alike) if word != name)
