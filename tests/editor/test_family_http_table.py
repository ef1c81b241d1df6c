"""The transport table, with the editor source behind it."""

from tests.editor.families import adopt

globals().update(adopt("tests.server.test_http_table"))
