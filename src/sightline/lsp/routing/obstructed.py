"""Whether a server may meet an obstacle in a root: a named pipe, a device or a huge file.

A server that opens one answers nobody any more, or takes all the memory it may. How a project makes
it open one cannot be told from the outside: by an import, a configuration that extends another, a
macro. So it is not asked how, only whether there is an entry with a name that the server might
open; then the server is not run for that root. It never writes, so what is in the way is for the
user to remove.
"""

import os
import re
import shlex
from collections.abc import Iterable

from sightline.contract.failures import Unavailable
from sightline.contract.limits import MIB
from sightline.contract.texts import PLAIN_PATH
from sightline.contract.uris import is_under
from sightline.lsp.registry import Registry, ServerSpec
from sightline.workspace.obstacles import Kind
from sightline.workspace.roots import Root
from sightline.workspace.tree import HIDDEN, MAX_READ_BYTES, is_tracked

__all__ = ["might_open", "obstruction"]

#: What is read in every folder on the way: of Git, and by whatever starts Rust's tools.
_ANYWHERE = (".gitignore", ".ignore", "rust-toolchain")
#: Endings of names that say what they are. Only what opens files of any name would open these.
_SAYS_SO = (".pipe", ".fifo")
_FIND = {
    Kind.PIPE: "-type p",
    Kind.DEVICE: r"\( -type c -o -type b \)",
    Kind.HUGE: f"-size +{MAX_READ_BYTES // MIB}M",
}


def might_open(spec: ServerSpec, registry: Registry, path: str, kind: Kind) -> bool:
    """Whether a server might open an entry of a project by itself, by the name of the entry."""
    name = os.path.basename(path)
    is_source = registry.language_of(name) in spec.languages
    if is_source or name in spec.root_markers or name in _ANYWHERE:
        return True
    if kind is Kind.HUGE:
        return False  # data, which nobody reads as code
    if spec.opens_any_name or f"/{HIDDEN}/" in path:
        return True
    return "." in name and is_tracked(name) and not name.endswith(_SAYS_SO)


def obstruction(
    name: str,
    spec: ServerSpec,
    registry: Registry,
    root: Root,
    obstacles: Iterable[tuple[str, Kind]],
) -> Unavailable | None:
    """Why a server is not run for a root, if it is not."""
    for path, kind in obstacles:
        if might_open(spec, registry, path, kind):
            return Unavailable(_sentence(name, root, path, kind))
    return None


def _sentence(name: str, root: Root, path: str, kind: Kind) -> str:
    shown, remove = _shown(root, path, kind)
    what = f"a link to {kind.value}" if os.path.islink(path) else kind.value
    meets = {
        Kind.PIPE: f"which {name} would wait for without end",
        Kind.DEVICE: f"which {name} would read without end",
        Kind.HUGE: f"more than the {MAX_READ_BYTES // MIB} MiB that {name} is given",
    }
    return f"{shown} is {what}, {meets[kind]}; {remove}"


def _shown(root: Root, path: str, kind: Kind) -> tuple[str, str]:
    """How an entry is called, and the command that removes or finds it. What lies outside of the
    root, or has a name that may be a sentence, is not named.
    """
    way = os.path.relpath(path, root.real)
    if is_under(path, root.real) and re.fullmatch(PLAIN_PATH, way):
        place = os.path.join(root.given, way)
        return way, f"remove it: rm {shlex.quote(place)}"
    outer = os.path.relpath(root.outermost, root.real)
    where = "a file" if is_under(path, root.real) else "a file in the repository around it"
    folder = root.given if is_under(path, root.real) else os.path.join(root.given, outer)
    return where, f"find it and remove it: find -L {shlex.quote(folder)} {_FIND[kind]}"
