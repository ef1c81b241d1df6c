"""Globs over paths relative to a root, as callers pass them to say which files they mean.

Several globs are alternatives; one that begins with ``!`` takes away. A folder's name stands for
everything in it, and a glob without a slash fits at any depth.

>>> globs = PathGlobs(["shop", "!*_test.py"])
>>> [globs.fit(path) for path in ("shop/cart.py", "shop/cart_test.py", "tests/all.py")]
[True, False, False]
"""

from collections.abc import Sequence

from sightline.contract.failures import InvalidArguments
from sightline.workspace.ignore import glob_expression
from sightline.workspace.linear import BadPattern, Expression, compile_expression

__all__ = ["PathGlobs"]


class PathGlobs:
    def __init__(self, globs: Sequence[str], argument: str = "path") -> None:
        """``argument`` is what the caller knows the globs as."""
        self._wanted = [_compile(glob, argument) for glob in globs if not glob.startswith("!")]
        self._unwanted = [_compile(glob[1:], argument) for glob in globs if glob.startswith("!")]

    def fit(self, path: str) -> bool:
        raw = path.encode("utf-8", "surrogateescape")
        inside = not self._wanted or any(glob.fills(raw) for glob in self._wanted)
        return inside and not any(glob.fills(raw) for glob in self._unwanted)


def _compile(glob: str, argument: str) -> Expression:
    """A glob over whole paths."""
    if glob.strip().rstrip("/") == ".":
        return compile_expression(".*", utf8=False)
    bare = glob.strip().removeprefix("./").rstrip("/")
    anchored = "/" in bare
    expression = glob_expression(bare.removeprefix("/"))
    if not anchored:
        expression = f"(?:.*/)?{expression}"
    try:
        return compile_expression(f"{expression}(?:/.*)?", utf8=False)
    except BadPattern:
        raise InvalidArguments(f"{argument} holds a glob that cannot be read") from None
