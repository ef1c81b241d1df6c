"""Standard input and output, taken for a protocol."""

import os

__all__ = ["claim_standard_streams"]


def claim_standard_streams() -> tuple[int, int]:
    """Takes standard input and output for the protocol; stray prints go to standard error."""
    read_fd, write_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return read_fd, write_fd
