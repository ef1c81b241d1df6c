"""The documents are run: every command in them, and every output."""
