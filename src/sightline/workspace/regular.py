"""Opening files of a workspace that anybody may have put there.

Only regular files are opened. A folder, a pipe, a socket or a device in the place of one costs
nothing: nobody waits for it, nothing of it is read, and no descriptor stays behind. Folders are
opened to be listed, and a link in the place of one is none.
"""

import os
import stat
from io import BufferedReader

__all__ = ["open_folder", "open_regular"]

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0) | _NO_LINKS


def open_regular(path: str, *, links: bool) -> BufferedReader | None:
    """A regular file to be read, or ``None``. ``links``: whether a link to one will do."""
    try:
        descriptor = os.open(path, _FLAGS if links else _FLAGS | _NO_LINKS)
    except (OSError, ValueError):
        return None
    # Python does not close a descriptor that it cannot make a file of, such as that of a folder.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return open(descriptor, "rb")


def open_folder(path: str) -> int:
    """A descriptor of a folder. ``OSError``: there is none, or it cannot be opened."""
    return os.open(path, _FOLDER)
