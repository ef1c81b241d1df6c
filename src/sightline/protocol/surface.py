"""What the protocol tells a client about this server, made once at start-up.

The protocol knows no tool. It is handed the finished bytes of every answer that does not depend on
a call, one set per way of naming tools.
"""

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from sightline.contract.limits import MAX_RESPONSE_BYTES
from sightline.contract.settings import Content, ProtocolHeader, ToolNames
from sightline.protocol.revisions import Revision

__all__ = ["ClientOptions", "Surface"]


class ClientOptions(NamedTuple):
    """What can be set per client. Fixed in the session at ``initialize``."""

    tool_names: ToolNames = "dotted"
    content: Content = "empty"
    protocol_header: ProtocolHeader = "required"
    answer_bytes: int = MAX_RESPONSE_BYTES


class Surface(NamedTuple):
    """The static face of the server."""

    name: str
    version: str
    instructions: str
    #: The ``tools/list`` result, for a client's options and a revision.
    tools: Callable[[ToolNames, Content, Revision], msgspec.Raw]
    #: The names in that list, for ``initialize``.
    tool_names: Callable[[ToolNames], tuple[str, ...]]
    #: The options of a client, by its ``clientInfo.name``.
    options_for: Callable[[str], ClientOptions]
