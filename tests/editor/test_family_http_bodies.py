"""Bodies and connections, with the editor source behind them."""

from tests.editor.families import adopt

globals().update(adopt("tests.server.test_http_bodies"))
