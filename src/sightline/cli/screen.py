"""A page of text that is drawn anew on a terminal until its reader has seen enough.

On a terminal it has a screen of its own and leaves the old one as it was, whichever way it ends;
``q`` and Ctrl-C end it. Elsewhere the pages follow one another as plain text.
"""

import contextlib
import os
import select
import shutil
import sys
import time
from collections.abc import Callable, Iterator

__all__ = ["fitted", "watch"]

_ENTER, _LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_HOME, _REST_OF_LINE, _REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"


def watch(draw: Callable[[int, int], str], every_s: float) -> None:
    """Shows ``draw(columns, lines)``, as many as there are, again and again."""
    if not sys.stdout.isatty():
        while True:
            print(draw(0, 0), flush=True)
            time.sleep(every_s)
    with _own_screen():
        while True:
            width, height = shutil.get_terminal_size()
            lines = fitted(draw(width, height).splitlines(), width, height - 1)
            shown = "\r\n".join(line + _REST_OF_LINE for line in lines)
            sys.stdout.write(_HOME + shown + _REST_OF_SCREEN)
            sys.stdout.flush()
            if _key_within(every_s) in ("q", "Q"):
                return


def fitted(lines: list[str], width: int, height: int) -> list[str]:
    """What there is room for; what was left out is told, not dropped."""
    if len(lines) > height:
        left = len(lines) - height + 1
        lines = [*lines[: height - 1], f"... {left} more lines: make the window taller"]
    return [line if len(line) <= width else line[: width - 1] + "…" for line in lines]


@contextlib.contextmanager
def _own_screen() -> Iterator[None]:
    sys.stdout.write(_ENTER)
    sys.stdout.flush()
    try:
        with _keys_at_once():
            yield
    finally:
        sys.stdout.write(_LEAVE)
        sys.stdout.flush()


@contextlib.contextmanager
def _keys_at_once() -> Iterator[None]:
    """Keys arrive without Enter and are not echoed, where the system can do that."""
    try:
        import termios
        import tty
    except ImportError:  # Windows: Ctrl-C ends it there
        yield
        return
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setcbreak(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _key_within(seconds: float) -> str:
    """The key that was pressed meanwhile, or nothing."""
    if not sys.stdin.isatty():
        time.sleep(seconds)
        return ""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return os.read(sys.stdin.fileno(), 1).decode("latin-1") if ready else ""
