"""The Language Server Protocol: framing, messages, one connection. It knows no readiness."""
