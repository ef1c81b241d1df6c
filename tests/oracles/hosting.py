"""A client that starts ``sightline stdio``, has one question answered, and then does nothing.

    python -m tests.oracles.hosting HOME ROOT

It says ``ready`` on standard output and then waits for its own death.
"""

import signal
import sys
from pathlib import Path

from tests.oracles.visits import place
from tests.support.stdio import StdioServer

if __name__ == "__main__":
    home, root = map(Path, sys.argv[1:])
    server = StdioServer.start([str(root)], home)
    server.initialize()
    assert "result" in server.call("vscode.lsp.definition", place(root))
    if sys.stdin.readline() == "busy\n":
        arguments = {"uri": (root / "other.py").as_uri()}
        params = {"name": "vscode.lsp.documentSymbols", "arguments": arguments}
        server.send({"jsonrpc": "2.0", "id": "last", "method": "tools/call", "params": params})
    print("ready", flush=True)
    signal.pause()
