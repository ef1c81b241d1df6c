"""What asks a server to end in order, besides the end of its input."""

import signal

__all__ = ["ending_signals"]


def ending_signals() -> list[signal.Signals]:
    """Ctrl-C, TERM, and a terminal that is closed, unless ``nohup`` said to outlive it."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        numbers.append(hangup)
    return numbers
