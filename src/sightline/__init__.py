"""Sightline: answers about code that an agent can trust, over the Model Context Protocol.

The package exports one name, the version. Programs use the ``sightline`` command or the MCP wire;
the Python modules below are not a public interface.
"""

import os

# Before anything loads numpy: the threads that its arithmetic would start wait for each other by
# spinning. One query then costs five times the processor time, and is no faster beside other work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

__version__ = "0.1.0"
