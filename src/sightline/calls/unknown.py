"""What is said of a call to a tool that is not served: the name that was probably meant.

The name itself is never repeated: it is the client's text, and may hold anything.

>>> nearest("find_references", ["vscode.lsp.references", "search"])
'vscode.lsp.references'
>>> nearest("rename", ["vscode.lsp.references", "search"]) is None
True
"""

import re
from collections.abc import Sequence

from sightline.contract.failures import UnknownTool

__all__ = ["nearest", "unknown_tool"]

#: A shorter part of a name is in too many others to mean one of them.
_MIN_PART = 4
_CLOSE = 0.7


def unknown_tool(name: str, served: Sequence[str]) -> UnknownTool:
    """The failure of a call to ``name``, which is none of those that are served."""
    meant = nearest(name, served)
    if meant is None:
        return UnknownTool()
    return UnknownTool(f"there is no such tool; did you mean {meant}? tools/list names them all")


def nearest(name: str, served: Sequence[str]) -> str | None:
    """The served tool that a name is most like, or ``None`` if it is like none of them."""
    bare = _bare(name)
    by_bare = {_bare(each): each for each in served}
    if bare in by_bare:
        return by_bare[bare]
    if len(bare) >= _MIN_PART:
        parts = [own for own in by_bare if bare in own or (len(own) >= _MIN_PART and own in bare)]
        if parts:
            return by_bare[max(parts, key=len)]
    import difflib  # which takes a moment, and only mistakes need

    close = difflib.get_close_matches(bare, list(by_bare), n=1, cutoff=_CLOSE)
    return by_bare[close[0]] if close else None


def _bare(name: str) -> str:
    """What tells tools apart: letters and digits, without the words that many names begin with.

    >>> _bare("mcp__sightline__vscode_lsp_documentSymbols")
    'documentsymbols'
    """
    words = re.split(r"[^a-z0-9]+", name.lower())
    return "".join(word for word in words if word not in ("mcp", "sightline", "vscode", "lsp"))
