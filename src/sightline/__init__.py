"""Sightline: answers about code that an agent can trust, over the Model Context Protocol.

The package has no import-time side effects and exports one name, the version. Programs use the
``sightline`` command or the MCP wire; the Python modules below are not a public interface.
"""

__version__ = "0.1.0"
