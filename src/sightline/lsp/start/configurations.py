"""The user's configuration of a server, with what complete and repeatable answers need besides.

The file stays as it is: the server is shown a folder of configurations in the cache, with a copy
that says more. A file that lies in a workspace is nobody's configuration.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from sightline.lsp.files.reading import read_text
from sightline.lsp.registry import ServerSpec
from sightline.process.environment import lies_in

__all__ = ["user_file", "write"]

_MAX_BYTES = 1 << 20
#: What parts the documents of a YAML file; a later one counts.
_NEXT = "\n---\n"


def user_file(spec: ServerSpec, environment: Mapping[str, str], roots: Sequence[str]) -> str | None:
    """Where the user's file is, if it is anywhere."""
    home = environment.get("HOME", "")
    base = environment.get("XDG_CONFIG_HOME") or (f"{home}/.config" if home else "")
    path = os.path.join(base, spec.configuration_file)
    return path if os.path.isabs(path) and not lies_in(path, roots) else None


def write(spec: ServerSpec, user: str | None, folder: str) -> str:
    """Writes what the server is to read below a folder of its own, which is returned."""
    known = read_text(user, _MAX_BYTES) if user is not None else None
    base = Path(folder, "configurations")
    target = base / spec.configuration_file
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    text = _NEXT.join(filter(None, [known, spec.configuration_adds]))
    if read_text(str(target)) != text:  # another server of the project may be reading it
        target.write_text(text, encoding="utf-8")
    return str(base)
